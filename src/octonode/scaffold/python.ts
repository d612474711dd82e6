// A node in Python with the standard library alone, and its test.

export const PYTHON_NODE = `#!/usr/bin/env python3
"""Octonode node NODE_ID: one JSON request a line on stdin, one JSON answer a line on stdout. Logs go to stderr."""
import json
import sys

MANIFEST = {
    "id": "NODE_ID",
    "language": "python",
    "label": "NODE_ID",
    "description": "Greets somebody by name",
    "inputs": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    "outputs": {"type": "object", "properties": {"greeting": {"type": "string"}}, "required": ["greeting"]},
}


class NodeError(Exception):
    def __init__(self, code, message, retryable=False):
        super().__init__(message)
        self.error = {"code": code, "message": message, "retryable": retryable}


def run(inputs, context):
    name = inputs.get("name") if isinstance(inputs, dict) else None
    if not isinstance(name, str):
        raise NodeError("VALIDATION_ERROR", 'Input "name" is not a string')
    return {"greeting": f"Hello, {name}"}


def answer(line):
    envelope = {"octonode": "1", "type": "result", "invocationId": "unknown"}
    try:
        request = json.loads(line)
        envelope["invocationId"] = request["invocationId"]
        if request["type"] == "describe":
            return {**envelope, "type": "manifest", "status": "ok", "manifest": MANIFEST}
        return {**envelope, "status": "ok", "outputs": run(request["inputs"], request.get("context", {}))}
    except NodeError as error:
        return {**envelope, "status": "error", "error": error.error}
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        return {**envelope, "status": "error", "error": {"code": "RUNTIME_ERROR", "message": message, "retryable": False}}


def main():
    # Line by line until the end of input: the same loop serves one call and a long-lived worker.
    # Answers are UTF-8 and never hold NaN, which JSON does not have.
    for line in sys.stdin.buffer:
        if line.strip():
            text = json.dumps(answer(line), ensure_ascii=False, allow_nan=False)
            sys.stdout.buffer.write(text.encode("utf-8") + b"\\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
`;

export const PYTHON_TEST = `#!/usr/bin/env python3
"""Tests NODE_ID.py as the engine runs it: python3 test_NODE_ID.py"""
import json
import pathlib
import subprocess
import sys
import unittest

NODE = pathlib.Path(__file__).with_name("NODE_ID.py")


def ask(*requests):
    lines = "".join(json.dumps({"octonode": "1", **request}) + "\\n" for request in requests)
    done = subprocess.run([sys.executable, str(NODE)], input=lines, capture_output=True, text=True, check=True, timeout=30)
    return [json.loads(line) for line in done.stdout.splitlines()]


class NodeTest(unittest.TestCase):
    def test_greets_by_name(self):
        [answer] = ask({"type": "invoke", "invocationId": "1", "inputs": {"name": "Ada"}})
        self.assertEqual(answer["outputs"], {"greeting": "Hello, Ada"})

    def test_refuses_a_name_that_is_no_string(self):
        [answer] = ask({"type": "invoke", "invocationId": "1", "inputs": {"name": 1}})
        self.assertEqual(answer["error"]["code"], "VALIDATION_ERROR")

    def test_answers_many_requests_and_describes_itself(self):
        answers = ask({"type": "describe", "invocationId": "1"}, {"type": "invoke", "invocationId": "2", "inputs": {"name": "B"}})
        self.assertEqual([answer["invocationId"] for answer in answers], ["1", "2"])
        self.assertEqual(answers[0]["manifest"]["id"], "NODE_ID")


if __name__ == "__main__":
    unittest.main()
`;

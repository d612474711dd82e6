// A node in POSIX shell, with jq for the JSON, and its test.

export const SHELL_NODE = `#!/bin/sh
# Octonode node NODE_ID: one JSON request a line on stdin, one JSON answer a line on stdout. Logs go to stderr. Needs jq.
command -v jq >/dev/null || { echo 'NODE_ID needs jq' >&2; exit 1; }

# jq reads line by line until the end of input: the same program serves one call and a long-lived worker.
exec jq --unbuffered --raw-input --compact-output '
  def manifest: {
    id: "NODE_ID", language: "sh", label: "NODE_ID", description: "Greets somebody by name",
    inputs: {type: "object", properties: {name: {type: "string"}}, required: ["name"]},
    outputs: {type: "object", properties: {greeting: {type: "string"}}, required: ["greeting"]}
  };
  def fail($code; $message): {type: "result", status: "error", error: {code: $code, message: $message, retryable: false}};
  def run: if (.inputs | type) == "object" and (.inputs.name | type) == "string"
    then {type: "result", status: "ok", outputs: {greeting: "Hello, \\(.inputs.name)"}}
    else fail("VALIDATION_ERROR"; "Input \\"name\\" is not a string") end;
  select(test("\\\\S"))
  | (try fromjson catch {}) as $request
  | {octonode: "1", invocationId: ($request.invocationId? // "unknown")}
    + (if $request.type? == "describe" then {type: "manifest", status: "ok", manifest: manifest}
       elif $request.type? == "invoke" then ($request | run)
       else fail("VALIDATION_ERROR"; "Request is not valid") end)
'
`;

export const SHELL_TEST = `#!/bin/sh
# Tests NODE_ID.sh: sh NODE_ID.test.sh
cd "$(dirname "$0")" || exit 1
failed=0

check() {
  if [ "$2" = "$3" ]; then echo "ok   $1"; else echo "FAIL $1: got $2, wanted $3"; failed=1; fi
}

ask() {
  printf '%s\\n' "$1" | sh NODE_ID.sh
}

check 'greets by name' \\
  "$(ask '{"octonode":"1","type":"invoke","invocationId":"1","inputs":{"name":"Ada"}}' | jq -c .outputs)" \\
  '{"greeting":"Hello, Ada"}'
check 'refuses a name that is no string' \\
  "$(ask '{"octonode":"1","type":"invoke","invocationId":"1","inputs":{}}' | jq -r .error.code)" VALIDATION_ERROR
check 'describes itself' "$(ask '{"octonode":"1","type":"describe","invocationId":"1"}' | jq -r .manifest.id)" NODE_ID
exit "$failed"
`;

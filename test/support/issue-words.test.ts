import { describe, expect, it } from 'vitest';
import { parseAnswer, parseRequest } from '../../src/octonode/envelopes.ts';
import { parseProject } from '../../src/octonode/project/project.ts';

const head = { octonode: '1', invocationId: 'i' };

function manifestReason(manifest: unknown): unknown {
  return parseAnswer({ ...head, type: 'manifest', status: 'ok', manifest }, 'describe');
}

describe('issueWords()', () => {
  it.each([
    [{ id: '', language: 'sh' }, 'field "manifest.id": May not be empty'],
    [{ id: 5, language: 'sh' }, 'field "manifest.id": Expected a text, not a number'],
    [{ id: 'a' }, 'field "manifest.language": Is missing'],
    [null, 'field "manifest": Expected an object, not null'],
    [
      { id: 'a', language: 'sh', symbol: 'x'.repeat(17) },
      'field "manifest.symbol": Has more than 16 characters',
    ],
    [
      { id: 'a', language: 'sh', kind: 'other' },
      'field "manifest.kind": Expected "function", "class", "service" or "const"',
    ],
    [
      { id: 'a', language: 'sh', service: { lifecycle: 'worker', methods: {} } },
      'field "manifest.service.methods": Expected a list, not an object',
    ],
    [
      { id: 'a', language: 'sh', inputs: 3 },
      'field "manifest.inputs": Expected a JSON Schema (an object or a boolean)',
    ],
  ])('words what is wrong with the manifest %j', (manifest, reason) => {
    expect(manifestReason(manifest)).toEqual({ status: 'invalid', reason });
  });

  it.each([
    [{}, 'field "status": Is missing'],
    [{ status: 'fine' }, 'field "status": Expected "ok" or "error"'],
    [{ status: 'ok', octonode: '2', outputs: 1 }, 'field "octonode": Expected "1"'],
    [
      { status: 'error', error: { code: 'X' } },
      'field "error.code": Expected "VALIDATION_ERROR", "RUNTIME_ERROR", "TIMEOUT" or "NON_RETRYABLE"',
    ],
    [
      { status: 'error', error: { code: 'TIMEOUT', message: '', retryable: 'no' } },
      'field "error.retryable": Expected true or false, not a text',
    ],
  ])('words what is wrong with the result %j', (fields, reason) => {
    expect(parseAnswer({ ...head, type: 'result', ...fields }, 'invoke')).toEqual({
      status: 'invalid',
      reason,
    });
  });

  it.each([
    [5, 'Expected an object, not a number'],
    [{ ...head, type: 'x' }, 'field "type": Expected "invoke" or "describe"'],
    [{ ...head, type: 'invoke' }, 'field "inputs": Is missing'],
  ])('words what is wrong with the request %j', (request, reason) => {
    expect(parseRequest(request)).toEqual({ status: 'invalid', reason });
  });

  it('leaves no words of the schema library in the problems of a project', async () => {
    const text = `apiVersion: octonode.dev/v1
sources: [[], "", 5]
environments: {a: 5, b: {vars: [1], secrets: 5, inherits: 5}}
metadata: {name: [1], version: []}
types: 5
nodes:
- id: ''
  runtime: {timeout_ms: 0, retries: 1.5, retry_backoff_ms: x, concurrency: 99999, mode: w}
  signature: {command: [], cwd: 5}
  disabled: perhaps
- 5
workflows:
- {id: a, nodes: {}, edges: [{from: a, to: {}}, {}], on_error: {policy: x}, bindings: {a: 5}, entry: 5}
`;
    const reading = await parseProject(text);

    const messages = reading.status === 'ok' ? [] : reading.problems.map(({ message }) => message);
    expect(messages).toContain('"nodes.0.runtime.timeout_ms": Expected at least 1');
    expect(messages).toContain('"nodes.0.runtime.concurrency": Expected at most 1000');
    expect(messages).toContain('"sources.0": May not be empty');
    expect(messages.length).toBeGreaterThan(15);
    expect(messages.join('\n')).not.toMatch(/Invalid|received|Object|Array|undefined|Is not valid/);
  });
});

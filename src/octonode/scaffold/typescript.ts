// A node in TypeScript, run by burrow itself, and its test in plain shell: nothing else needs to be installed.

export const TYPESCRIPT_NODE = `import { defineNode, NodeError } from 'burrow/node';

interface Inputs {
  name: string;
}

export default defineNode({
  id: 'NODE_ID',
  label: 'NODE_ID',
  description: 'Greets somebody by name',
  defaults: { name: 'world' },
  inputs: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  outputs: { type: 'object', properties: { greeting: { type: 'string' } }, required: ['greeting'] },
  run({ name }: Inputs) {
    // Say what cannot be mended by another attempt; any other throw is a RUNTIME_ERROR.
    if (name === '') throw new NodeError('Input "name" is empty');
    return { greeting: \`Hello, \${name}\` };
  },
});
`;

export const TYPESCRIPT_TEST = `#!/bin/sh
# Tests NODE_ID.ts: sh NODE_ID.test.sh (BURROW names another burrow).
cd "$(dirname "$0")" || exit 1
burrow="\${BURROW:-burrow}"
failed=0

check() {
  if [ "$2" = "$3" ]; then echo "ok   $1"; else echo "FAIL $1: got $2, wanted $3"; failed=1; fi
}

check 'greets by name' "$("$burrow" node run NODE_ID.ts --inputs '{"name":"Ada"}')" '{"greeting":"Hello, Ada"}'
check 'has a default' "$("$burrow" node run NODE_ID.ts)" '{"greeting":"Hello, world"}'
"$burrow" node run NODE_ID.ts --inputs '{"name":""}' 2>/dev/null
check 'refuses an empty name' "$?" 1
exit "$failed"
`;

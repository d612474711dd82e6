#!/bin/sh
# What `npm start` shows after the build: a real command through the gateway, its evidence in short, and the protocol.
set -eu
cd "$(dirname "$0")/.."

say() { printf '\n$ %s\n' "$*"; }

say "burrow exec --evidence -c 'echo \"Hello from \$(uname -sr)\"; df -h / | tail -n 1'"
dist/burrow exec --evidence -c 'echo "Hello from $(uname -sr)"; df -h / | tail -n 1'

say "printf '%s\\n' '{\"id\":\"1\",\"method\":\"hello\"}' | burrow daemon"
printf '%s\n' '{"id":"1","method":"hello"}' | dist/burrow daemon

printf '\nThe binary is dist/burrow: one file, nothing else needed. Next: dist/burrow --help\n'

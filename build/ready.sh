#!/bin/sh
# Makes a clone ready to work: installs what the lock file names when that has not been done yet.
# Needs git, npm and any Node.js >= 20; everything else, Node.js 24 included, comes with the install.
set -eu
cd "$(dirname "$0")/.."

if [ ! -x node_modules/.bin/node ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
  echo 'Installing dependencies (npm ci)...' >&2
  npm ci --no-audit --no-fund --loglevel=error >&2
  touch node_modules/.package-lock.json
fi
if [ ! -x node_modules/.bin/node ]; then
  echo "No Node.js 24 for $(uname -s) $(uname -m): burrow builds on Linux x64 and arm64" >&2
  exit 1
fi

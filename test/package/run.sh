#!/bin/bash
# The package on a booted system: install, run, crash, stop, upgrade, remove, all without a network, on a throw-away Debian whose
# pid 1 is systemd. Needs root, and the network once for its tools and that Debian. Under 15 minutes on two cores, most of it
# compression.
#
#   test/package/run.sh                all checks
#   test/package/run.sh upgrade purge  only those whose file name holds one of the words (install always runs)
#
# PACKAGE_TEST_REUSE names a directory that keeps the built packages as well, for work on the checks.
# PACKAGE_TEST_CACHE keeps the unpacked Debian between runs (default: /var/cache/burrow-package-test).
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 1
HERE=test/package
CACHE=${PACKAGE_TEST_CACHE:-/var/cache/burrow-package-test}
WORK=$(mktemp -d "${TMPDIR:-/tmp}/burrow-package-test.XXXXXX")
# shellcheck source=test/package/machine.sh
. $HERE/machine.sh
# shellcheck source=test/package/assertions.sh
. $HERE/assertions.sh

clean_up() {
  machine_halt
  rm -rf --one-file-system "$WORK"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

[ "$(id -u)" = 0 ] || { echo 'The package test needs root: it boots a system' >&2; exit 1; }

install_tools() {
  local missing=() pair
  for pair in systemd-nspawn:systemd-container mmdebstrap:mmdebstrap dh:debhelper lintian:lintian dpkg-buildpackage:dpkg-dev \
    qemu-aarch64:qemu-user strip:binutils aarch64-linux-gnu-strip:binutils-aarch64-linux-gnu openssl:openssl; do
    command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
  done
  # The libraries that an arm64 program needs, for qemu.
  [ -e /usr/aarch64-linux-gnu/lib/libstdc++.so.6 ] || missing+=(libstdc++6-arm64-cross)
  [ ${#missing[@]} -eq 0 ] && return 0
  echo "Installing ${missing[*]}" >&2
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

VERSION=$(node -p 'require("./package.json").version')
NEXT=$VERSION+next
NAME=burrow-host-gateway
SOCKET=/run/burrow-host-gateway/gateway.sock

build_packages() {
  if [ -n "${PACKAGE_TEST_REUSE:-}" ] && [ -d "$PACKAGE_TEST_REUSE/next" ]; then
    cp -r "$PACKAGE_TEST_REUSE/first" "$PACKAGE_TEST_REUSE/next" "$PACKAGE_TEST_REUSE/packages" "$WORK/"
    return
  fi
  node build/deb.ts --fast --arch amd64 --out "$WORK/first" &&
    node build/deb.ts --fast --arch amd64 --version "$NEXT" --out "$WORK/next" &&
    mkdir -p "$WORK/packages" && cp "$WORK/first/"*.deb "$WORK/next/"*.deb "$WORK/packages/" || return 1
  [ -z "${PACKAGE_TEST_REUSE:-}" ] || cp -r "$WORK/first" "$WORK/next" "$WORK/packages" "$PACKAGE_TEST_REUSE/"
}

wanted() {
  [ ${#SELECTED[@]} -eq 0 ] && return 0
  local word
  for word in "${SELECTED[@]}"; do case $1 in *"$word"* | *install*) return 0 ;; esac; done
  return 1
}

SELECTED=("$@")
install_tools || exit 1
step 'packages are built' build_packages || exit 1
step 'a machine boots' machine_prepare && step 'its systemd runs' machine_boot || exit 1
for file in "$HERE"/checks/*.sh; do
  wanted "$(basename "$file")" || continue
  printf '\n%s\n' "$(sed -n '2s/^# //p' "$file")"
  # shellcheck source=/dev/null
  . "$file"
done
summary

# shellcheck shell=bash
# The packages themselves
package=${NAME}_${VERSION}_amd64.deb
step 'lintian has no errors and no warnings' lintian --allow-root --fail-on error,warning "$WORK/first/$package"
# What a clone made at another time would have.
touch README.md packaging/gateway.env
step 'built a second time' node build/deb.ts --fast --arch amd64 --out "$WORK/second"
step 'it has the same bytes' cmp "$WORK/first/$package" "$WORK/second/$package"
step 'the arm64 package' node build/deb.ts --fast --arch arm64 --out "$WORK/arm64"
step 'lintian has nothing against it' lintian --allow-root --fail-on error,warning "$WORK/arm64/${NAME}_${VERSION}_arm64.deb"
ARM=$WORK/arm
mkdir "$ARM"
dpkg-deb --fsys-tarfile "$WORK/arm64/${NAME}_${VERSION}_arm64.deb" | tar -x -C "$ARM" ./usr/bin/burrow
holds 'the arm64 binary answers hello under qemu' '"name":"burrow-host-gateway"' \
  "$(printf '{"id":"1","method":"hello"}\n' | timeout 120 qemu-aarch64 -L /usr/aarch64-linux-gnu "$ARM/usr/bin/burrow" daemon 2>&1)"

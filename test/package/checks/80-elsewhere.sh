# shellcheck shell=bash
# Other hosts
machine_halt
OTHER=$WORK/other
mkdir "$OTHER" && tar -C "$OTHER" -xf "$(machine_root_archive)"
cp "$WORK/packages/${NAME}_${VERSION}_amd64.deb" "$OTHER/burrow.deb"
in_other() { unshare --mount --pid --fork --net --kill-child chroot "$OTHER" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
step 'a host that loses systemd' in_other dpkg --force-all --purge systemd systemd-sysv libnss-systemd libpam-systemd
in_other groupadd --system --gid 4226 taken
installed=$(in_other dpkg --install /burrow.deb 2>&1)
equal 'takes the package' 'install ok installed' "$(in_other dpkg-query -W -f '${Status}' $NAME)"
holds 'and says how to start the gateway' 'burrow host run' "$installed"
equal 'a number that is taken is left alone' '4226 yes' "$(in_other id -u burrow) $([ "$(in_other id -g burrow)" != 4226 ] && echo yes)"
by_hand=$(in_other sh -c '
  install -d -m 0750 -o burrow -g burrow /run/burrow-host-gateway
  setpriv --reuid burrow --regid burrow --init-groups burrow host run 2>/dev/null &
  for try in $(seq 100); do [ -S /run/burrow-host-gateway/gateway.sock ] && break; sleep 0.1; done
  burrow exec --socket /run/burrow-host-gateway/gateway.sock -- id -un')
equal 'which works as it says' burrow "$by_hand"
step 'purge' in_other dpkg --purge $NAME

EMPTY=$WORK/empty
mkdir -p "$EMPTY/lib/x86_64-linux-gnu" "$EMPTY/lib64" "$EMPTY/dev"
cp "$OTHER"/lib/x86_64-linux-gnu/lib{c,dl,m,pthread,gcc_s,stdc++}.so.[0-9] "$EMPTY/lib/x86_64-linux-gnu/" 2>/dev/null
cp "$OTHER"/usr/lib/x86_64-linux-gnu/libstdc++.so.6 "$EMPTY/lib/x86_64-linux-gnu/"
cp "$OTHER"/lib64/ld-linux-x86-64.so.2 "$EMPTY/lib64/"
dpkg-deb --fsys-tarfile "$WORK/packages/${NAME}_${VERSION}_amd64.deb" | tar -x -C "$EMPTY" ./usr/bin/burrow
holds 'the binary alone answers in an empty directory tree' '"ok":true' \
  "$(printf '{"id":"1","method":"hello"}\n' | chroot "$EMPTY" /usr/bin/burrow daemon 2>&1)"

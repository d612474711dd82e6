# shellcheck shell=bash
# Upgrade through burrow itself
runs() { [ "$(running_version)" = "$1" ]; }
step 'commands may run as root' inside burrow host configure --run-as root
inside burrow host connect --timeout 5s >/dev/null 2>&1
step 'and do' eventually 10 test root = "$(over_socket -- id -un)"
# through_itself ID VERSION COMMAND
through_itself() {
  over_socket --timeout 2m --operation-id "$1" --env DEBIAN_FRONTEND=noninteractive -c "$3" >"$WORK/upgrade" 2>&1
  equal "$1: apt ends well" 0 $?
  equal "$1: nothing is half configured" 'install ok installed' "$(inside dpkg-query -W -f '${Status}' $NAME)$(inside dpkg --audit)"
  step "$1: the new version runs soon after" eventually 15 runs "$2"
}
package=/packages/${NAME}_${NEXT}_amd64.deb
through_itself upgrade "$NEXT" "apt-get install -y $package; status=\$?; sleep 1; echo after; exit \$status"
holds 'the operation went on to its own end' after "$(cat "$WORK/upgrade")"
replayed=$(inside burrow exec --socket $SOCKET --json --timeout 2m --operation-id upgrade --env DEBIAN_FRONTEND=noninteractive \
  -c "apt-get install -y $package; status=\$?; sleep 1; echo after; exit \$status")
holds 'and its outcome is replayed by the new version' '"exitCode":0' "$replayed"
back=/packages/${NAME}_${VERSION}_amd64.deb
through_itself 'in a session of its own' "$VERSION" "setsid -w apt-get install -y --allow-downgrades $back"
equal 'nothing waits any more' '' "$(inside systemctl list-units --plain --no-legend 'run-*.service' | grep -i 'Wait for' || true)"
over_socket --timeout 2m -c "apt-get remove -y $NAME && sleep 1 && echo after" >"$WORK/removal" 2>&1
equal 'a removal through burrow ends well' '0 after' "$? $(tail -n 1 "$WORK/removal")"
is_gone() { [ "$(unit ActiveState)" = inactive ]; }
step 'and the service soon after' eventually 15 is_gone
step 'installed again' install_version "$VERSION"
step 'back to user burrow' inside burrow host configure --run-as burrow
inside burrow host connect --timeout 5s >/dev/null 2>&1
equal 'commands are its own again' burrow "$(over_socket -- id -un)"

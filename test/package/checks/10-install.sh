# shellcheck shell=bash
# Install
unit() { inside systemctl show "$NAME" -p "$1" --value; }
over_socket() { inside burrow exec --socket "$SOCKET" "$@"; }
answers() { inside burrow client hello --socket "$SOCKET" --json; }
running_version() { answers | sed 's/.*"version":"\([^"]*\)".*/\1/'; }
mode_of() { inside stat -c '%U:%G %a' "$1"; }
# The answer to a request that was sent before says so.
ask_raw() { printf '%s\n' "$1" | inside burrow client raw --socket "$SOCKET"; }
install_version() { job apt-get install -y --allow-downgrades -o Dpkg::Options::=--force-confold "/packages/${NAME}_$1_amd64.deb"; }

step 'apt installs it without a network' install_version "$VERSION"
step 'the service answers' eventually 10 answers
equal 'the service is active' active "$(unit ActiveState)"
equal 'it starts with the host' enabled "$(inside systemctl is-enabled $NAME)"
equal 'it was not restarted' 0 "$(unit NRestarts)"
equal 'the controller is neither started nor enabled' 'inactive disabled' \
  "$(inside systemctl is-active burrow-controller) $(inside systemctl is-enabled burrow-controller)"
equal 'user and group burrow have number 4226' '4226 4226' "$(inside id -u burrow) $(inside id -g burrow)"
equal 'the env file is for root and the service' 'root:burrow 640' "$(mode_of /etc/burrow-host-gateway/gateway.env)"
equal 'the state is for the service alone' 'burrow:burrow 700' "$(mode_of /var/lib/burrow-host-gateway)"
equal 'the socket is for the group' 'burrow:burrow 660' "$(mode_of $SOCKET)"
equal 'its directory as well' 'burrow:burrow 750' "$(mode_of /run/burrow-host-gateway)"
equal 'an operation runs as user burrow' burrow "$(over_socket -- id -un)"
equal 'a member of group burrow may use the socket' hi \
  "$(inside setpriv --reuid nobody --regid burrow --clear-groups burrow exec --socket $SOCKET -- echo hi)"
refuses 'others may not' inside setpriv --reuid nobody --regid nogroup --clear-groups burrow exec --socket $SOCKET -- true
step 'status says so' inside burrow host status
step 'doctor finds no fault' inside burrow host doctor
holds 'the manual pages are there' burrow-host-doctor.1.gz "$(dpkg-deb -c "$WORK/packages/${NAME}_${VERSION}_amd64.deb")"
equal 'dpkg has nothing to complain about' '' "$(inside dpkg --audit)$(inside dpkg --verify $NAME | grep -v ' /usr/share/\(man\|doc\|locale\)')"
step 'systemd accepts the units' inside systemd-analyze verify --man=no $NAME.service burrow-controller.service
taken=$(inside sh -c 'mkdir -p /tmp/taken/etc && echo "other:x:4226:4226::/:/bin/false" >/tmp/taken/etc/passwd &&
  echo "other:x:4226:" >/tmp/taken/etc/group && systemd-sysusers --root=/tmp/taken /usr/lib/sysusers.d/burrow-host-gateway.conf 2>/dev/null
  cut -d: -f1,3 /tmp/taken/etc/passwd; rm -r /tmp/taken')
holds 'a number that is taken is left to its owner' other:4226 "$taken"
equal 'and the user gets another' 1 "$(grep '^burrow:' <<<"$taken" | grep -vc ':4226$')"

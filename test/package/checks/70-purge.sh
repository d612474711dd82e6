# shellcheck shell=bash
# Remove and purge
exists() { inside sh -c 'for path; do [ ! -e "$path" ] || echo "$path"; done' sh "$@"; }
step 'remove' job apt-get remove -y $NAME
equal 'no process is left' '' "$(inside sh -c 'ls -l /proc/[0-9]*/exe 2>/dev/null | grep /usr/bin/burro[w]')"
equal 'configuration and state are kept' '/etc/burrow-host-gateway/gateway.env /var/lib/burrow-host-gateway/operations.json' \
  "$(exists /usr/bin/burrow /etc/burrow-host-gateway/gateway.env /var/lib/burrow-host-gateway/operations.json | paste -sd ' ')"
step 'installed again' install_version "$VERSION"
step 'it runs again' eventually 10 answers
[ -z "${IDENTITY:-}" ] || equal 'as the same host' "$IDENTITY" "$(inside sha256sum /var/lib/burrow-host-gateway/node-identity.json)"
step 'purge' job apt-get purge -y $NAME
equal 'nothing is left' '' "$(exists /usr/bin/burrow /etc/burrow-host-gateway /var/lib/burrow-host-gateway \
  /var/lib/burrow-controller /run/burrow-host-gateway /etc/systemd/system/$NAME.service.d \
  /etc/systemd/system/multi-user.target.wants/$NAME.service)"
equal 'systemd knows no unit of it' not-found "$(unit LoadState)"
step 'a new installation' install_version "$VERSION"
step 'runs' eventually 10 answers
equal 'and starts with the host' enabled "$(inside systemctl is-enabled $NAME)"

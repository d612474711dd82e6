# shellcheck shell=bash
# Upgrade
ENV_FILE=/etc/burrow-host-gateway/gateway.env
inside sh -c "printf '# an edit\nEDITED=kept\n' >>$ENV_FILE"
inside systemctl restart $NAME
eventually 10 answers
JOURNALLED='{"id":"j","method":"process.exec","params":{"operationId":"journalled","command":"date +%N"}}'
ask_raw "$JOURNALLED" >/dev/null
before=$(unit MainPID)
step 'upgrade' install_version "$NEXT"
step 'it answers' eventually 10 answers
equal 'the new version runs' "$NEXT" "$(running_version)"
equal 'as another process' different "$([ "$(unit MainPID)" = "$before" ] && echo same || echo different)"
equal 'the edit of the conffile is kept' kept "$(over_socket -- printenv EDITED)"
equal 'its rights as well' 'root:burrow 640' "$(mode_of $ENV_FILE)"
holds 'the journal is kept' '"replay":true' "$(ask_raw "$JOURNALLED")"
if [ -n "${IDENTITY:-}" ]; then
  equal 'the identity is kept' "$IDENTITY" "$(inside sha256sum /var/lib/burrow-host-gateway/node-identity.json)"
  step 'the controller knows it' eventually 15 is_connected
fi
inside systemctl stop $NAME
step 'back to the old version, stopped' install_version "$VERSION"
equal 'a stopped service stays stopped' inactive "$(unit ActiveState)"
inside systemctl disable --quiet $NAME
step 'forward again, disabled' install_version "$NEXT"
equal 'a disabled service stays disabled' 'inactive disabled' "$(unit ActiveState) $(inside systemctl is-enabled $NAME)"
step 'back again' install_version "$VERSION"
inside systemctl enable --quiet --now $NAME
step 'it answers again' eventually 10 answers

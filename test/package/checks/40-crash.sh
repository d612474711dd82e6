# shellcheck shell=bash
# Crash
KEPT='{"id":"k","method":"process.exec","params":{"operationId":"kept","command":"echo kept; date +%N"}}'
first=$(ask_raw "$KEPT" | grep '"type":"response"')
holds 'an operation completes' '"replay":false' "$first"
before=$(unit MainPID)
crashed=$(now_ms)
inside systemctl kill --signal=KILL --kill-who=main $NAME
step 'it is back' eventually 20 answers
at_most 'ms from kill -9 to the next answer' 6000 $(($(now_ms) - crashed))
equal 'as another process' different "$([ "$(unit MainPID)" = "$before" ] && echo same || echo different)"
again=$(ask_raw "$KEPT" | grep '"type":"response"')
holds 'the outcome is replayed' '"replay":true' "$again"
equal 'word for word' "${first#*outcome}" "${again#*outcome}"

(over_socket --operation-id neighbour -- sh -c 'sleep 3; echo unharmed' >"$WORK/neighbour") &
neighbour=$!
before=$(unit MainPID)
step 'the unit goes on when a command is killed for memory' test "$(unit OOMPolicy)" = continue
over_socket -- sh -c 'kill -KILL $$'
equal 'a command that gets SIGKILL ends with 137' 137 $?
over_socket -c 'ulimit -v 60000; exec perl -e "\$x = q(x) x 500_000_000"' >/dev/null 2>&1
equal 'a command without memory fails' failed "$([ $? -ne 0 ] && echo failed || echo succeeded)"
wait $neighbour
equal 'its neighbour is unharmed' unharmed "$(cat "$WORK/neighbour")"
equal 'the service as well' "$before active" "$(unit MainPID) $(unit ActiveState)"

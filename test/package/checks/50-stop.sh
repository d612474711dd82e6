# shellcheck shell=bash
# Stop
marked_count() { inside sh -c 'grep -lsaz "^STUBBORN=" /proc/[0-9]*/environ | wc -l'; }
has_three() { [ "$(marked_count)" -ge 3 ]; }
over_socket --timeout 5m --env STUBBORN=1 -c 'trap "" TERM; while :; do sleep 1; done' >/dev/null 2>&1 &
stubborn=$!
over_socket --env STUBBORN=1 -c 'setsid sh -c "trap \"\" TERM HUP; exec sleep 1000" >/dev/null 2>&1 &' >/dev/null 2>&1
step 'commands that ignore SIGTERM run' eventually 10 has_three
stopped=$(now_ms)
step 'stop' inside systemctl stop $NAME
at_most 'ms to stop' 10000 $(($(now_ms) - stopped))
wait $stubborn
equal 'none of them is left' 0 "$(marked_count)"
equal 'the stop was a clean one' success "$(unit Result)"
equal 'and stays one' inactive "$(unit ActiveState)"
step 'start' inside systemctl start $NAME
step 'it answers' eventually 10 answers
machine_halt
step 'after a boot without a network' machine_boot
step 'it answers' eventually 10 answers
equal 'at its first start' 0 "$(unit NRestarts)"
# It is not enabled.
[ -z "${IDENTITY:-}" ] || step 'the controller is started again' inside systemctl start burrow-controller

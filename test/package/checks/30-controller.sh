# shellcheck shell=bash
# A controller on the same machine
OPERATOR=/run/burrow-controller/operator.sock
step 'the controller starts' inside systemctl start burrow-controller
step 'and listens' eventually 10 inside burrow controller gateways || inside journalctl -q -u burrow-controller -n 12 -o cat
step 'configure' inside burrow host configure --controller tls://127.0.0.1:7443 --gateway-id host-1
connected=$(inside burrow host connect)
holds 'connect prints a pairing code' 'pairing code' "$connected"
equal 'pairing-code prints the same' "${connected##* }" "$(inside burrow host pairing-code)"
holds 'the controller shows it' "${connected##* }" "$(inside burrow controller pairings)"
refuses 'before approval nothing runs' inside burrow exec --controller $OPERATOR --target host-1 -- true
step 'approve' inside burrow controller approve host-1
is_connected() { inside burrow host status | grep -q 'controller  connected'; }
step 'the host is connected' eventually 15 is_connected
equal 'an operation runs through the controller' paired \
  "$(inside burrow exec --controller $OPERATOR --target host-1 -- echo paired)"
refuses 'no code is left' inside burrow host pairing-code
step 'doctor finds no fault' inside burrow host doctor
step 'unpair' inside burrow host unpair
step 'the controller still knows the host' eventually 15 is_connected
step 'and the host keeps its state to itself' inside burrow host doctor
IDENTITY=$(inside sha256sum /var/lib/burrow-host-gateway/node-identity.json)

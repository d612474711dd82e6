# shellcheck shell=bash
# Values of the env file
ENV_FILE=/etc/burrow-host-gateway/gateway.env
inside cp -p $ENV_FILE /root/gateway.env.saved
put_env() { printf "$1" | inside sh -c "cat /root/gateway.env.saved - >$ENV_FILE"; }
value_of() { over_socket -- printenv "$1"; }

put_env 'DOLLAR=a$b ${HOME} $(id)\nQUOTE=a"b'"'"'c\nHASH=a#b #c\nBACKSLASH='"'"'a\\b\\n'"'"'\nBLANKS='"'"'  a b  '"'"'\nDOUBLE="a \\"b\\" \\$c \\\\d"\nEURO=10 €\nRETURN=crlf\r\nLAST=last'
inside systemctl restart $NAME
step 'the service starts with them' eventually 10 answers
equal 'a dollar sign arrives' 'a$b ${HOME} $(id)' "$(value_of DOLLAR)"
equal 'quotes arrive' "a\"b'c" "$(value_of QUOTE)"
equal 'a number sign arrives' 'a#b #c' "$(value_of HASH)"
equal 'a backslash arrives' 'a\b\n' "$(value_of BACKSLASH)"
equal 'blanks at the ends arrive' '  a b  ' "$(value_of BLANKS)"
equal 'double quotes are undone' 'a "b" $c \d' "$(value_of DOUBLE)"
equal 'UTF-8 arrives' '10 €' "$(value_of EURO)"
equal 'a line of another system arrives' crlf "$(value_of RETURN)"
equal 'a last line without a newline arrives' last "$(value_of LAST)"
inside cat "/proc/$(unit MainPID)/environ" 2>/dev/null | tr '\0' '\n' >"$WORK/environ"
equal 'systemd read the same' 'BACKSLASH=a\b\n' "$(grep '^BACKSLASH=' "$WORK/environ")"

# refused NAME LINE MESSAGE
refused() {
  put_env "$2\n"
  inside systemctl restart $NAME 2>/dev/null
  eventually 10 has_failed
  equal "$1: status 78, and no second start" '78 0' "$(unit ExecMainStatus) $(unit NRestarts)"
  holds "$1: the log says why" "$3" "$(inside journalctl -q -u $NAME -n 5 -o cat)"
}
has_failed() { [ "$(unit ActiveState)" = failed ]; }
refused 'a bare backslash is refused' 'TOKEN=a\\b' 'TOKEN (3 characters'
refused 'a blank at the end is refused' 'TOKEN=ab ' 'would be lost'
refused 'a quote that does not end is refused' 'TOKEN="ab' 'single quotes'
refused 'a URL that is not tls is refused' 'BURROW_GATEWAY_CONTROLLER_URL=https://x' 'tls://'
refused 'a controller without a name for the host is refused' 'BURROW_GATEWAY_CONTROLLER_URL=tls://x' BURROW_GATEWAY_ID
holds 'doctor says what to do' 'status 78' "$(inside burrow host doctor)"
inside cp -p /root/gateway.env.saved $ENV_FILE
step 'put right, it starts again' inside systemctl restart $NAME
step 'and answers' eventually 10 answers

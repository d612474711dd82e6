# shellcheck shell=bash
# How the checks say what must hold. Each prints one line; `summary` ends the run with the count. Sourced by run.sh.

passed=0
failed=0
failures=()

result() {
  if [ "$1" = 0 ]; then
    passed=$((passed + 1))
    printf '  ok      %s\n' "$2"
  else
    failed=$((failed + 1))
    failures+=("$2")
    printf '  FAILED  %s\n' "$2"
    [ -z "${3:-}" ] || printf '%s\n' "$3" | tail -n 12 | sed 's/^/            /'
  fi
  return "$1"
}

# step NAME CMD...: the command succeeds.
step() {
  local name=$1 status started=$SECONDS
  shift
  # Not $(...): what the command sets (the pid of the machine) is for the checks after it.
  "$@" >"$WORK/output" 2>&1
  status=$?
  [ $((SECONDS - started)) -lt 5 ] || name="$name ($((SECONDS - started)) s)"
  result $((status != 0)) "$name" "$(cat "$WORK/output")"
}

# refuses NAME CMD...: the command fails.
refuses() {
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then result 1 "$name" "$output"; else result 0 "$name"; fi
}

# equal NAME WANTED GOT
equal() {
  if [ "$2" = "$3" ]; then result 0 "$1"; else result 1 "$1" "wanted: $2
got:    $3"; fi
}

# holds NAME PART TEXT: the text has the part in it.
holds() {
  case $3 in *"$2"*) result 0 "$1" ;; *) result 1 "$1" "wanted: ...$2...
got:    $3" ;; esac
}

# at_most NAME LIMIT NUMBER
at_most() {
  if [ "$3" -le "$2" ]; then result 0 "$1: $3 of at most $2"; else result 1 "$1: $3, at most $2"; fi
}

# eventually SECONDS CMD...: tries until it succeeds.
eventually() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || return 1
    sleep 0.1
  done
}

now_ms() { date +%s%3N; }

summary() {
  printf '\n'
  [ ${#failures[@]} -eq 0 ] || printf 'failed: %s\n' "${failures[@]}"
  printf '%d passed, %d failed in %d s\n' "$passed" "$failed" "$SECONDS"
  [ "$failed" -eq 0 ]
}

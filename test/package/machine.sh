# shellcheck shell=bash
# A throw-away Debian in a directory, booted by systemd-nspawn with systemd as its pid 1 and without a network. Sourced by run.sh,
# which sets WORK (a temporary directory of its own) and CACHE (where the unpacked root is kept between runs). Needs root.
#
#   machine_prepare      unpack a fresh root into $WORK/root
#   machine_boot         start it and wait until its systemd says that it runs
#   inside CMD...        run a command in it, for looking
#   job CMD...           run a command in it as a unit of its own, for apt and dpkg
#   machine_halt         stop it; leaves no process, mount or cgroup

machine_name=burrow-test-$$
machine_pid=
machine_init=

# Everything that the package depends on, as there is no network inside.
machine_root_archive() {
  local archive=$CACHE/bookworm.tar
  if [ ! -s "$archive" ]; then
    mkdir -p "$CACHE"
    mmdebstrap --quiet --variant=minbase --dpkgopt=force-unsafe-io --include=systemd-sysv,dbus,adduser \
      bookworm "$archive.part" >&2 || return 1
    mv "$archive.part" "$archive"
  fi
  echo "$archive"
}

machine_prepare() {
  local archive
  archive=$(machine_root_archive) || return 1
  mkdir -p "$WORK/root"
  tar -C "$WORK/root" -xf "$archive"
}

# systemd inside wants a cgroup that nobody else uses, in every hierarchy that systemd knows.
machine_cgroups() {
  local hierarchy
  for hierarchy in /sys/fs/cgroup/unified /sys/fs/cgroup/systemd /sys/fs/cgroup; do
    if [ -e "$hierarchy/cgroup.procs" ]; then echo "$hierarchy/$machine_name"; fi
  done
}

machine_boot() {
  (
    for group in $(machine_cgroups); do
      mkdir -p "$group" && echo "$BASHPID" >"$group/cgroup.procs"
    done
    export SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1
    # A pid namespace around nspawn: when its first process dies, however it dies, the whole machine is gone.
    exec setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc \
      systemd-nspawn --quiet --boot --register=no --keep-unit --private-network \
      --directory="$WORK/root" --machine="$machine_name" --bind-ro="$WORK/packages:/packages"
  ) >>"$WORK/console" 2>&1 </dev/null &
  machine_pid=$!
  local deadline=$((SECONDS + 60)) state
  while [ $SECONDS -lt $deadline ] && kill -0 "$machine_pid" 2>/dev/null; do
    machine_init=$(first_child "$(first_child "$machine_pid")")
    if [ -n "$machine_init" ]; then
      state=$(inside systemctl is-system-running --wait 2>/dev/null)
      case $state in running | degraded) return 0 ;; esac
    fi
    sleep 0.1
  done
  tail -n 30 "$WORK/console" >&2
  return 1
}

first_child() {
  local children=
  [ -z "$1" ] || read -r children _ 2>/dev/null <"/proc/$1/task/$1/children"
  echo "$children"
}

inside() {
  nsenter --target "$machine_init" --mount --uts --ipc --net --pid -- \
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@"
}

job() {
  inside systemd-run --quiet --wait --pipe --collect -E DEBIAN_FRONTEND=noninteractive -- "$@"
}

machine_halt() {
  [ -n "$machine_pid" ] || return 0
  local nspawn group deadline=$((SECONDS + 30))
  nspawn=$(first_child "$machine_pid")
  [ -z "$nspawn" ] || kill -TERM "$nspawn" 2>/dev/null
  while kill -0 "$machine_pid" 2>/dev/null && [ $SECONDS -lt $deadline ]; do sleep 0.1; done
  kill -KILL "$machine_pid" 2>/dev/null
  wait "$machine_pid" 2>/dev/null
  machine_pid=
  for group in $(machine_cgroups); do
    [ ! -d "$group" ] || find "$group" -depth -type d -exec rmdir {} + 2>/dev/null
  done
}

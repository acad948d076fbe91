# shellcheck shell=sh disable=SC2154 # numbers of processes are set by eval
# Hosts on this machine, for the tests that read this file: network namespaces on one bridge, each
# with a host name, an address, and where asked an ssh server of its own. Everything runs in a
# namespace of processes that ends with the test. Instead of lib.sh, which this reads, a test begins
# with:   . "$(dirname "$0")/hosts.sh"   and then calls make_hosts.

skip() {
  echo "skipped: $1"
  exit 77
}

# need_programs PROGRAM...: skips where one is missing.
need_programs() {
  for program in "$@"; do
    command -v "$program" >/dev/null || skip "there is no $program"
  done
}

PATH=$PATH:/usr/sbin:/sbin
if [ "${CLM_TEST_INSIDE:-}" != yes ]; then
  [ "$(id -u)" -eq 0 ] || skip "network namespaces need root"
  need_programs unshare nsenter ip mpirun ssh ssh-keygen sshd
  unshare -m -n -p -u --fork true 2>/dev/null || skip "namespaces are refused here"
  CLM_TEST_INSIDE=yes exec unshare -m -n -p -u --fork --kill-child --mount-proc sh "$0"
fi

# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
unset CLUSTER_SPEC TF_CONFIG K_MPI_JOB_ROLE AIP_MODEL_DIR SSH_AUTH_SOCK
# Ranks on a machine with few cores yield to each other.
export OMPI_MCA_mpi_yield_when_idle=1
# Ranks that ssh starts do not inherit it, so it is handed to them by name.
export CLEMATIS_CACHE="${CLEMATIS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/clematis}"

# make_hosts COUNT: host1, host2 ... at 10.77.0.1, 2 ...; this shell itself is at 10.77.0.100. The
# number of the process that keeps host N is in $pidN.
make_hosts() {
  host_count=$1
  numbers=$(seq "$host_count")
  ip link set lo up
  ip link add bridge0 type bridge 2>/dev/null || skip "no network bridge can be made here"
  ip address add 10.77.0.100/24 dev bridge0
  ip link set bridge0 up
  mkdir ssh
  ssh-keygen -q -t ed25519 -N '' -f ssh/id_ed25519
  {
    echo "127.0.0.1 localhost"
    echo "10.77.0.100 outside"
    for i in $numbers; do echo "10.77.0.$i host$i pod-$i-cd5sv cluster-$i"; done
  } >hosts
  mount --bind hosts /etc/hosts || skip "/etc/hosts cannot be replaced"
  # ssh asks the list of users, not $HOME.
  login_folder=$(getent passwd "$(id -u)" | cut -d: -f6)
  mkdir -p "$login_folder/.ssh" /run/sshd
  mount --bind ssh "$login_folder/.ssh"
  hostname outside
  for i in $numbers; do
    unshare -n -u -m sh -c "hostname host$i; : >up$i; exec sleep 3600" &
    pid=$!
    eval "pid$i=$pid"
    while [ ! -e "up$i" ]; do sleep 0.05; done
    ip link add "link$i" type veth peer name eth0 netns "$pid"
    ip link set "link$i" master bridge0 up
    nsenter -t "$pid" -n ip link set lo up
    nsenter -t "$pid" -n ip address add "10.77.0.$i/24" dev eth0
    nsenter -t "$pid" -n ip link set eth0 up
  done
}

# exec_on HOST COMMAND...: becomes that command there; with & behind it, $! is the command itself.
exec_on() {
  eval "target=\$pid$1"
  shift
  exec nsenter -t "$target" -n -u -m --wd="$work" -- "$@"
}

# on HOST COMMAND...: runs there.
on() { (exec_on "$@"); }

# run_on HOST ARGUMENT...: the program there, as `run`.
run_on() {
  machine=$1
  shift
  what="on host$machine: clematis $*"
  on "$machine" "$CLM_PROGRAM" "$@" >"$work/out" 2>"$work/err"
  status=$?
}

name_hosts() { # PREFIX SUFFIX
  for i in $numbers; do on "$i" hostname "$1$i$2"; done
}

start_sshd() { # HOST
  exec_on "$1" /usr/sbin/sshd -D -f "$work/sshd$1" &
  eval "sshd$1=$!"
}

# start_sshds: an ssh server on port 2222 of each host, like those of any cluster; each knows the
# others. The number of the process is in $sshdN.
start_sshds() {
  for i in $numbers; do
    ssh-keygen -q -t ed25519 -N '' -f "key$i"
    echo "[host$i]:2222 $(cut -d' ' -f1,2 "key$i.pub")" >>ssh/known_hosts
    printf '%s\n' "Port 2222" "HostKey $work/key$i" "AuthorizedKeysFile $work/ssh/id_ed25519.pub" \
      "PidFile none" "UsePAM no" "StrictModes no" >"sshd$i"
    start_sshd "$i"
  done
}

# end PID: ends a process that this test started, and waits for it.
end() {
  kill "$1" 2>/dev/null
  wait "$1" 2>/dev/null
}

# make_read_only HOST FOLDER: nobody on that host can write there from now on.
make_read_only() {
  on "$1" mount --bind "$work/$2" "$work/$2"
  on "$1" mount -o remount,bind,ro "$work/$2"
}

# Whether a rank or a part of mpirun runs on any of the hosts.
ranks_run() {
  for file in /proc/[0-9]*/cmdline; do
    case $(tr '\0' ' ' 2>/dev/null <"$file") in
      *mpirun\ -* | *orted\ * | "$CLM_PROGRAM train "*) return 0 ;;
    esac
  done
  return 1
}

# expect_no_ranks SECONDS: after so long at most, nothing of a job is left anywhere.
expect_no_ranks() {
  turns=$(($1 * 10))
  while ranks_run && [ $turns -gt 0 ]; do
    turns=$((turns - 1))
    sleep 0.1
  done
  check
  if ranks_run; then
    fail "a part of the job is left running"
    ps ax
  fi
}

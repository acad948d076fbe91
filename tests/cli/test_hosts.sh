#!/bin/sh
# ctest: labels=slow
# Three hosts on this machine: network namespaces with host names and ssh servers of their own. The
# engine `hosts`, the replicas of Vertex AI and the roles of an MPIJob start real ranks with the real
# mpirun over real ssh. Everything runs in a namespace of processes that ends with the test.
# shellcheck disable=SC2154 # numbers of processes are set by eval

skip() {
  echo "skipped: $1"
  exit 77
}

if [ "${CLM_TEST_INSIDE:-}" != yes ]; then
  [ "$(id -u)" -eq 0 ] || skip "network namespaces need root"
  for program in unshare nsenter ip mpirun ssh ssh-keygen; do
    command -v "$program" >/dev/null || skip "there is no $program"
  done
  [ -x /usr/sbin/sshd ] || skip "there is no ssh server"
  unshare -m -n -p -u --fork true 2>/dev/null || skip "namespaces are refused here"
  CLM_TEST_INSIDE=yes exec unshare -m -n -p -u --fork --kill-child --mount-proc sh "$0"
fi

# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
unset CLUSTER_SPEC TF_CONFIG K_MPI_JOB_ROLE AIP_MODEL_DIR SSH_AUTH_SOCK

# The hosts: 10.77.0.1 to 3 on one bridge.
ip link set lo up
ip link add bridge0 type bridge 2>/dev/null || skip "no network bridge can be made here"
ip link set bridge0 up
mkdir ssh run-sshd
ssh-keygen -q -t ed25519 -N '' -f ssh/id_ed25519
{
  echo "127.0.0.1 localhost"
  for i in 1 2 3; do echo "10.77.0.$i host$i pod-$i-cd5sv cluster-$i"; done
} >hosts
mount --bind hosts /etc/hosts || skip "/etc/hosts cannot be replaced"
mkdir -p /root/.ssh /run/sshd
mount --bind ssh /root/.ssh
for i in 1 2 3; do
  unshare -n -u sh -c "hostname host$i; : >up$i; exec sleep 3600" &
  pid=$!
  eval "pid$i=$pid"
  while [ ! -e "up$i" ]; do sleep 0.05; done
  ip link add "link$i" type veth peer name eth0 netns "$pid"
  ip link set "link$i" master bridge0 up
  nsenter -t "$pid" -n ip link set lo up
  nsenter -t "$pid" -n ip address add "10.77.0.$i/24" dev eth0
  nsenter -t "$pid" -n ip link set eth0 up
done

# exec_on HOST COMMAND...: becomes that command there; with & behind it, $! is the command itself.
exec_on() {
  eval "target=\$pid$1"
  shift
  exec nsenter -t "$target" -n -u -- "$@"
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
  for i in 1 2 3; do on "$i" hostname "$1$i$2"; done
}

# What a rank does: says who it is.
# shellcheck disable=SC2016 # the rank's words
who='echo "rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $(hostname) ${COLOUR:-} end"'

# Engine hosts, on ssh servers like those of any cluster.
for i in 1 2 3; do
  ssh-keygen -q -t ed25519 -N '' -f "key$i"
  echo "[host$i]:2222 $(cut -d' ' -f1,2 "key$i.pub")" >>ssh/known_hosts
  printf '%s\n' "Port 2222" "HostKey $work/key$i" "AuthorizedKeysFile $work/ssh/id_ed25519.pub" \
    "PidFile none" "UsePAM no" "StrictModes no" >"sshd$i"
  exec_on "$i" /usr/sbin/sshd -D -f "$work/sshd$i" &
  eval "sshd$i=$!"
done
cat >job.json <<'END'
[{"machine_spec": {"machine_type": "n1-standard-4"}, "container_spec": {"image_uri": "i",
  "command": ["sh", "who.sh"], "env": [{"name": "COLOUR", "value": "red and blue"}]}},
 {"machine_spec": {"machine_type": "n1-standard-4"}, "replica_count": 2, "container_spec":
  {"image_uri": "i", "command": ["sh", "who.sh"], "env": [{"name": "COLOUR", "value":
  "red and blue"}]}}]
END
echo "$who" >who.sh
run_on 1 launch job.json --engine hosts --hosts host1:2,host2,host3:2 --ssh-port 2222 --net eth0
expect_status 0
for line in '0 of 5 on host1' '1 of 5 on host1' '2 of 5 on host2' '3 of 5 on host3' \
  '4 of 5 on host3'; do
  expect out "^rank $line red and blue end\$"
done

# A host that comes late is waited for; one that never comes is named.
kill "$sshd3"
wait "$sshd3" 2>/dev/null
run_on 1 launch job.json --engine hosts --hosts host1,host2,host3 --ssh-port 2222 --start-timeout 10
expect_error 69 'host host3 did not answer ssh within 10 s: .*[Cc]onnection refused'
{
  sleep 3
  exec_on 3 /usr/sbin/sshd -D -f "$work/sshd3"
} &
sshd3=$!
run_on 1 launch job.json --engine hosts --hosts host1,host2,host3 --ssh-port 2222
expect_status 0
expect out '^rank 2 of 3 on host3 '

# The doctor reaches the hosts and sees that they share a folder.
run_on 1 doctor --hosts host2,host3 --ssh-port 2222 --base-output-dir "$work/shared"
expect out '^good  host2: answers ssh, its clock is 0 s off$'
expect out '^good  shared folder: host3 reads what was written here$'

# A rank that is killed ends the job; it is started again.
cat >who.sh <<'END'
[ "$OMPI_COMM_WORLD_RANK" -ne 1 ] || [ -e killed ] || { : >killed; kill -9 $$; }
echo "rank $OMPI_COMM_WORLD_RANK on $(hostname)"
END
run_on 1 launch job.json --engine hosts --hosts host1,host2,host3 --ssh-port 2222
expect_status 0
expect err 'the job ended with status 137; restart 1 of at most 3'
expect out '^rank 1 on host2$'

# Told to stop, all ranks on all hosts get USR2 and end with 75.
cat >who.sh <<'END'
trap 'exit 75' USR2
: >"ready-$OMPI_COMM_WORLD_RANK"
while :; do sleep 0.1; done
END
what="on host1: clematis launch, then SIGINT"
exec_on 1 "$CLM_PROGRAM" launch job.json --engine hosts --hosts host1,host2,host3 --ssh-port 2222 \
  >out 2>err &
launcher=$!
for _ in $(seq 100); do
  [ -e ready-0 ] && [ -e ready-1 ] && [ -e ready-2 ] && break
  sleep 0.1
done
kill -INT "$launcher"
wait "$launcher"
status=$?
expect_status 75
for i in 1 2 3; do eval "kill \$sshd$i"; done

# Replicas of a Vertex AI job: real host names that differ from those in CLUSTER_SPEC, keys exchanged
# through the shared folder.
name_hosts pod- -cd5sv
spec() { # POOL INDEX
  printf '{"cluster": {"workerpool0": ["cluster-1:2223"], "workerpool1": ["cluster-2:2223", '
  printf '"cluster-3:2223"]}, "task": {"type": "workerpool%d", "index": %d}, ' "$1" "$2"
  printf '"environment": "cloud"}'
}
export CLOUD_ML_JOB_ID=123456
exec_replica() { # HOST POOL INDEX ARGUMENT...
  machine=$1
  task=$(spec "$2" "$3")
  shift 3
  exec_on "$machine" env CLUSTER_SPEC="$task" COLOUR="colour of $machine" "$CLM_PROGRAM" entrypoint \
    --base-output-dir "$work/bucket" --start-timeout 20 --max-restarts 0 "$@"
}
start_workers() {
  for i in 2 3; do
    exec_replica "$i" 1 $((i - 2)) --ranks-per-replica $((i - 1)) -- x >"worker$i.out" 2>&1 &
    eval "worker$i=$!"
  done
}
# end_workers: by the signal that the service sends; they end well.
end_workers() {
  for i in 2 3; do
    eval "worker=\$worker$i"
    kill "$worker"
    wait "$worker"
    status=$?
    what="worker $i, told to end"
    expect_status 0
  done
}
start_workers
what="on host1: clematis entrypoint as the chief"
(exec_replica 1 0 0 --own-command --ranks-per-replica 1 -- sh -c "$who") >out 2>err
status=$?
expect_status 0
for line in '0 of 4 on pod-1-cd5sv colour of 1' '1 of 4 on pod-2-cd5sv colour of 2' \
  '2 of 4 on pod-3-cd5sv colour of 3' '3 of 4 on pod-3-cd5sv colour of 3'; do
  expect out "^rank $line end\$"
done
check
if grep -rlq 'PRIVATE KEY' bucket; then fail "a private key is in the shared folder"; fi

# A host whose key is not the one that was published is refused.
sed -i "s|ssh-ed25519 .*|$(cut -d' ' -f1,2 key1.pub)|" bucket/.launch/123456/host.1-0
what="on host1: the chief, with a wrong host key"
(exec_replica 1 0 0 --own-command --ranks-per-replica 1 --start-timeout 15 -- sh -c "$who") \
  >out 2>err
status=$?
expect_error 69 'host cluster-2 did not answer ssh within 15 s: .*verification failed'
expect_none out 'rank'
end_workers

# The two roles of an MPIJob, with the operator's key and host file.
mkdir secret
ssh-keygen -q -t rsa -b 2048 -N '' -f secret/id_rsa
printf '%s\n' 'pod-1-cd5sv.job.ns.svc slots=1' 'host2 slots=1' 'host3 slots=1' >hostfile
for i in 2 3; do
  exec_on "$i" env K_MPI_JOB_ROLE=worker "$CLM_PROGRAM" entrypoint --ssh-key-dir "$work/secret" \
    --ssh-port 2224 -- x >"worker$i.out" 2>&1 &
  eval "worker$i=$!"
done
what="on host1: clematis entrypoint as the launcher of an MPIJob"
on 1 env K_MPI_JOB_ROLE=launcher "$CLM_PROGRAM" entrypoint --ssh-key-dir "$work/secret" \
  --ssh-port 2224 --hostfile "$work/hostfile" --own-command --ranks-per-replica 1 -- \
  sh -c "$who" >out 2>err
status=$?
expect_status 0
expect out '^rank 0 of 3 on pod-1-cd5sv '
expect out '^rank 2 of 3 on pod-3-cd5sv '
end_workers
finish

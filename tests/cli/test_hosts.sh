#!/bin/sh
# ctest: labels=slow,hosts
# Three hosts on this machine, as hosts.sh makes them. The engine `hosts`, the replicas of Vertex AI
# and the roles of an MPIJob start real ranks with the real mpirun over real ssh; here the ranks say
# who they are, in test_host_training.sh they train.
# shellcheck disable=SC2154 # numbers of processes are set by eval

# shellcheck source=tests/cli/hosts.sh
. "$(dirname "$0")/hosts.sh"
make_hosts 3

# What a rank does: says who it is.
# shellcheck disable=SC2016 # the rank's words
who='echo "rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $(hostname) ${COLOUR:-} end"'

# Engine hosts, on ssh servers like those of any cluster.
start_sshds
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
end "$sshd3"
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

# It sees a clock that is wrong, a folder that is another one, and whom ssh does not trust; neither does
# the launcher.
printf '#!/bin/sh\necho 1000000000\n' >date
chmod +x date
on 3 mount --bind date "$(command -v date)"
on 3 mount -t tmpfs none "$work/shared"
cp ssh/known_hosts known_hosts
key=$(cut -d' ' -f1,2 key1.pub)
sed -i "s|^\[host2\]:2222 .*|[host2]:2222 $key|" ssh/known_hosts
run_on 1 doctor --hosts host2,host3 --ssh-port 2222 --base-output-dir "$work/shared"
expect_status 69
expect out '^BAD   host2: Host key verification failed'
expect out '^note  host3: answers ssh, its clock is -[0-9]{8,} s off'
expect out '^BAD   shared folder: host3 does not see what was written here'
run_on 1 launch job.json --engine hosts --hosts host1,host2,host3 --ssh-port 2222 --start-timeout 3
expect_error 69 'host host2 did not answer ssh within 3 s: Host key verification failed'
expect_none out '^rank'
cat known_hosts >ssh/known_hosts
on 3 umount "$(command -v date)"
on 3 umount "$work/shared"

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
for i in 1 2 3; do eval "end \$sshd$i"; done

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

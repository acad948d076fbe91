#!/bin/sh
# ctest: labels=slow,hosts,jobs
# Replicas of a Vertex AI job and roles of an MPIJob, on three hosts, that come late or not at all, have
# a wrong key, lose a rank or a whole machine, or fall silent: the job ends by name, or goes on to the
# weights of a run that nobody disturbed. What `hosts` does in these cases is in test_host_faults.sh.
# shellcheck disable=SC2154,SC2086,SC2317 # numbers are set by eval, functions called by name; lists of words

# shellcheck source=tests/cli/hosts.sh
. "$(dirname "$0")/hosts.sh"
make_hosts 3
need_device
tiny
name_hosts pod- -cd5sv
long="$small --epochs 20 --batch-size 2 --peer-timeout 4"
# shellcheck disable=SC2016 # the rank's words
who='echo "rank $OMPI_COMM_WORLD_RANK on $(hostname)"'

# ---- starting the roles ----

# exec_replica HOST ARGUMENT...: of a Vertex AI job; host 1 is the chief.
exec_replica() {
  pool=1
  [ "$1" -ne 1 ] || pool=0
  task=$(printf '{"cluster": {"workerpool0": ["cluster-1:2223"], "workerpool1": ["cluster-2:2223",
    "cluster-3:2223"]}, "task": {"type": "workerpool%d", "index": %d}, "environment": "cloud"}' \
    "$pool" $((pool * ($1 - 2))))
  machine=$1
  shift
  exec_on "$machine" env CLUSTER_SPEC="$task" CLOUD_ML_JOB_ID="$job_id" "$CLM_PROGRAM" entrypoint \
    --ranks-per-replica 1 --base-output-dir "$work/vertex$job_id" "$@"
}

# exec_role HOST ARGUMENT...: of an MPIJob; host 1 is the launcher.
exec_role() {
  role=worker
  [ "$1" -ne 1 ] || role=launcher
  machine=$1
  shift
  exec_on "$machine" env K_MPI_JOB_ROLE="$role" "$CLM_PROGRAM" entrypoint --ranks-per-replica 1 \
    --ssh-port 2224 --hostfile "$work/operator" --base-output-dir "$work/mpijob$job_id" "$@"
}

ssh-keygen -q -t rsa -b 2048 -N '' -f id_rsa
mkdir secret other
mv id_rsa id_rsa.pub secret
ssh-keygen -q -t rsa -b 2048 -N '' -f other/id_rsa
printf '%s slots=1\n' pod-1-cd5sv.job.ns.svc host2 host3 >operator
job_id=0

# new_job KIND: replica or role; the jobs that follow are of that kind and know nothing of others.
new_job() {
  kind=$1
  job_id=$((job_id + 1))
  case $kind in replica) keys= ;; role) keys="--ssh-key-dir $work/secret" ;; esac
}

start_worker() { # HOST
  "exec_$kind" "$1" $keys -- x >"worker$1.out" 2>&1 &
  eval "worker$1=$!"
}

end_worker() { # HOST
  eval "worker=\$worker$1"
  kill "$worker"
  wait "$worker"
  status=$?
  what="worker $1, told to end"
  expect_status 0
}

# lead ARGUMENT...: runs the chief or the launcher, whose ranks say who they are.
lead() {
  what="$kind on host1, which leads, with $*"
  ("exec_$kind" 1 $keys --own-command --max-restarts 0 "$@" -- sh -c "$who") >out 2>err
  status=$?
}

# start_training ARGUMENT...: the same, but they train, in the background, up to the third epoch.
start_training() {
  what="$kind on host1, which leads a training, with $*"
  : >out
  "exec_$kind" 1 $keys --env "CLEMATIS_CACHE=$CLEMATIS_CACHE" "$@" -- "$work/tiny" $long \
    >out 2>err &
  leader=$!
  wait_for '^Epoch 3/' "$leader"
}

finish_training() {
  wait "$leader"
  status=$?
}

# kill_on HOST SIGNAL TEXT: to the processes there whose words hold the text.
kill_on() {
  eval "keeper=\$pid$1"
  home=$(readlink "/proc/$keeper/ns/uts")
  for place in /proc/[0-9]*; do
    [ "$place" != "/proc/$keeper" ] || continue
    [ "$(readlink "$place/ns/uts")" = "$home" ] || continue
    case $(tr '\0' ' ' 2>/dev/null <"$place/cmdline") in
      *"$3"*) kill "-$2" "${place#/proc/}" ;;
    esac
  done
}

# ---- coming late, not at all, or as somebody else ----

for kind in replica role; do
  new_job $kind
  start_worker 2
  {
    sleep 2
    start_worker 3
    wait
  } &
  late=$!
  lead
  expect_status 0
  expect out '^rank 2 on pod-3-cd5sv$'
  end_worker 2
  kill_on 3 TERM 'clematis entrypoint'
  wait $late

  new_job $kind
  start_worker 2
  lead --start-timeout 3
  case $kind in
    replica) expect_error 69 'workerpool1-1 published no key in .* within 3 s: is it running\?' ;;
    role) expect_error 69 'host host3 did not answer ssh within 3 s: .*refused' ;;
  esac
  expect_none out rank
  end_worker 2
done

# The keys of another job. (For replicas, test_hosts.sh.)
new_job role
start_worker 2
keys="--ssh-key-dir $work/other"
start_worker 3
keys="--ssh-key-dir $work/secret"
lead --start-timeout 3
expect_error 69 'host host3 did not answer ssh within 3 s: .*verification failed'
expect_none out rank
end_worker 2
end_worker 3

# ---- losing a rank, a machine, an answer ----

start_workers() {
  for i in 2 3; do start_worker $i; done
}

end_workers() {
  for i in 2 3; do end_worker $i; done
}

new_job replica
start_workers
start_training
finish_training
expect_status 0
whole=$(digest)
end_workers

expect_the_whole_run() {
  expect_status 0
  expect err 'restart 1 of at most 3 without progress$'
  expect out '^Going on in epoch [0-9]+ at step [0-9]+, after [0-9]+ images$'
  expect_same "$(digest | tail -n 1)" "$whole"
  expect_no_ranks 5
}

for kind in replica role; do
  new_job $kind
  start_workers
  start_training
  kill_on 2 KILL 'clematis train '
  finish_training
  expect err 'process rank 1 with PID [0-9]+ on node [a-z]*-?2.* exited on signal 9'
  expect_the_whole_run
  end_workers
done

# The service starts a machine anew; what runs there then has another key.
new_job replica
start_workers
start_training
kill_on 3 KILL ''
sleep 3
start_worker 3
finish_training
expect_the_whole_run
end_workers

# Without restarts the service is asked for one, once the ranks have named the one that is silent.
long="$small --epochs 300 --batch-size 2 --peer-timeout 3"
new_job replica
start_workers
start_training --max-restarts 0
kill_on 3 STOP 'clematis train '
finish_training
expect_status 134
expect err 'in epoch [0-9]+, after step [0-9]+: .*no answer for 3\.0 s from .*rank 2 \(pod-3-cd5sv\)'
expect_no_ranks 5
end_workers
finish

#!/bin/sh
# ctest: labels=slow,hosts,jobs
# Training over hosts, whatever starts its ranks: the figures are those of one rank, and the chief
# alone writes. The other hosts cannot write into the folder of the runs at all.
# shellcheck disable=SC2154 # numbers of processes are set by eval

# shellcheck source=tests/cli/hosts.sh
. "$(dirname "$0")/hosts.sh"
make_hosts 4
need_device
tiny
long="$small --model $smooth --epochs 3 --optimizer sgd --learning-rate 0.01"

# shellcheck disable=SC2086 # a list of words
run train tiny --out one $long
expect_status 0

# expect_run FOLDER RANKS: a whole run with the figures of one rank, told by rank 0 alone.
expect_run() {
  expect_status 0
  expect out "^Ranks: $2\$"
  expect_same "$(grep -c '^Epoch 3/3 - ' out)" 1
  expect_near one "$1"
  expect_file "$1/model.keras"
  expect_file "$1/best.keras"
  expect_file "$1/checkpoints/images-000000000105.keras"
  expect_no_ranks 5
}

# By hand, as any program of Open MPI.
mkdir runs
for i in 2 3 4; do make_read_only "$i" runs; done
what="writing on host2"
check
! on 2 touch "$work/runs/x" 2>/dev/null || fail "host2 can write"
start_sshds
printf 'host1\nhost2\nhost3\n' >hostfile
what="on host1: mpirun --hostfile"
# shellcheck disable=SC2086
on 1 mpirun --allow-run-as-root -np 3 --hostfile hostfile --bind-to none --mca plm_rsh_args "-p 2222" \
  -x CLEMATIS_CACHE "$CLM_PROGRAM" train "$work/tiny" --out "$work/runs/byhand" $long >out 2>err
status=$?
expect_run runs/byhand 3

# Engine hosts.
# shellcheck disable=SC2086
run_on 1 launch --replica-count 3 --engine hosts --hosts host1,host2,host3 --ssh-port 2222 \
  --env "CLEMATIS_CACHE=$CLEMATIS_CACHE" --base-output-dir "$work/runs/engine" -- "$work/tiny" $long
expect_run runs/engine 3

# The two jobs of the tutorial that this follows, by its own numbers: one machine with two devices,
# here two halves of the processor, and four machines with one each.
# shellcheck disable=SC2086
run_on 1 launch --replica-count 1 --accelerator-count 2 --machine-type n1-standard-8 \
  --accelerator-type NVIDIA_TESLA_V100 --base-output-dir "$work/runs/two-devices" \
  -- "$work/tiny" --devices cpu0/2 $long
expect_run runs/two-devices 2
# shellcheck disable=SC2086
run_on 1 launch --replica-count 4 --accelerator-count 1 --machine-type n1-standard-8 \
  --accelerator-type NVIDIA_TESLA_V100 --engine hosts --hosts host1,host2,host3,host4 \
  --ssh-port 2222 --env "CLEMATIS_CACHE=$CLEMATIS_CACHE" --base-output-dir "$work/runs/four-hosts" \
  -- "$work/tiny" $long
expect_run runs/four-hosts 4
for i in $numbers; do eval "end \$sshd$i"; done

# Replicas of a Vertex AI job.
name_hosts pod- -cd5sv
export CLOUD_ML_JOB_ID=123456
exec_replica() { # HOST POOL INDEX
  task=$(printf '{"cluster": {"workerpool0": ["cluster-1:2223"], "workerpool1": ["cluster-2:2223",
    "cluster-3:2223"]}, "task": {"type": "workerpool%d", "index": %d}, "environment": "cloud"}' \
    "$2" "$3")
  # shellcheck disable=SC2086
  exec_on "$1" env CLUSTER_SPEC="$task" "$CLM_PROGRAM" entrypoint --ranks-per-replica 1 \
    --base-output-dir "$work/bucket" --max-restarts 0 --env "CLEMATIS_CACHE=$CLEMATIS_CACHE" \
    -- "$work/tiny" $long
}
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
for i in 2 3; do
  exec_replica "$i" 1 $((i - 2)) >"worker$i.out" 2>&1 &
  eval "worker$i=$!"
done
what="on host1: clematis entrypoint as the chief"
(exec_replica 1 0 0) >out 2>err
status=$?
expect_run bucket 3
end_workers

# The two roles of an MPIJob.
mkdir secret
ssh-keygen -q -t rsa -b 2048 -N '' -f secret/id_rsa
printf '%s slots=1\n' pod-1-cd5sv.job.ns.svc host2 host3 >operator
exec_role() { # HOST ROLE
  # shellcheck disable=SC2086
  exec_on "$1" env K_MPI_JOB_ROLE="$2" "$CLM_PROGRAM" entrypoint --ssh-key-dir "$work/secret" \
    --ssh-port 2224 --hostfile "$work/operator" --ranks-per-replica 1 --max-restarts 0 \
    --base-output-dir "$work/runs/mpijob" --env "CLEMATIS_CACHE=$CLEMATIS_CACHE" -- "$work/tiny" $long
}
for i in 2 3; do
  exec_role "$i" worker >"worker$i.out" 2>&1 &
  eval "worker$i=$!"
done
what="on host1: clematis entrypoint as the launcher of an MPIJob"
(exec_role 1 launcher) >out 2>err
status=$?
expect_run runs/mpijob 3
end_workers
finish

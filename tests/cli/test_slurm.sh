#!/bin/sh
# ctest: labels=slow,hosts,jobs
# A real Slurm of two nodes on this machine: munged, slurmctld and two slurmd of this test's own run
# what `clematis launch --engine slurm` writes, by sbatch, with mpirun and with srun.
# shellcheck disable=SC2154,SC2317 # numbers are set by eval, functions called by name

# shellcheck source=tests/cli/hosts.sh
. "$(dirname "$0")/hosts.sh"
need_programs munged slurmctld slurmd sbatch srun squeue scontrol scancel sinfo
make_hosts 2
need_device
tiny

# Nothing of an installed Slurm is read or written.
chmod 711 "$work" # whoever uses munge must reach its socket
mkdir munge state bin tmp-host1 tmp-host2 spool-host1 spool-host2
chmod 711 munge
(umask 077 && head -c 1024 /dev/urandom >munge/key)
export SLURM_CONF="$work/slurm.conf"
cat >slurm.conf <<END
ClusterName=clematis
SlurmctldHost=outside(10.77.0.100)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
# A job that is put back waits as long as its credential is good.
AuthInfo=socket=$work/munge/socket,cred_expire=5
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool-%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd-%n.log
TmpFS=$work/tmp-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
SlurmdParameters=config_overrides
MailProg=/bin/true
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
NodeName=host1 NodeAddr=10.77.0.1 NodeHostname=host1 CPUs=4 RealMemory=500 Gres=gpu:2
NodeName=host2 NodeAddr=10.77.0.2 NodeHostname=host2 CPUs=4 RealMemory=500 Gres=gpu:2
PartitionName=main Nodes=host1,host2 Default=YES State=UP
END
printf 'Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n' >gres.conf # files that exist

munged --foreground --force --key-file="$work/munge/key" --socket="$work/munge/socket" \
  --pid-file="$work/munge/pid" --log-file="$work/munge/log" --seed-file="$work/munge/seed" \
  >munged.out 2>&1 &
munged=$!
slurmctld -D -i >slurmctld.out 2>&1 &
slurmctld=$!
for i in 1 2; do
  exec_on "$i" slurmd -D -N "host$i" >"slurmd$i.out" 2>&1 &
  eval "slurmd$i=$!"
done
# wait_until SECONDS COMMAND...: repeats it until it succeeds.
wait_until() {
  tries=$(($1 * 10))
  shift
  while ! "$@" >/dev/null 2>&1; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || return 1
    sleep 0.1
  done
}
are_idle() { [ "$(sinfo -h -o '%D %t')" = "2 idle" ]; }
if ! wait_until 30 are_idle; then
  tail -n 20 munged.out slurmctld.out slurmd1.out
  skip "no Slurm can be started here"
fi

# A batch job has the environment of who hands it in.
ln -s "$CLM_PROGRAM" bin/clematis
export PATH="$work/bin:$PATH" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# batch ARGUMENT...: hands a job in; its number is in $job, its output will be in NAME-$job.out.
batch() {
  run launch --engine slurm --submit --base-output-dir "$work/$name" --name "$name" "$@"
  expect_status 0
  job=$(sed -n 's/^Submitted batch job //p' out)
}
state() { scontrol show job "$job" | sed -n 's/^ *JobState=\([A-Z]*\).*/\1/p'; }
is_over() { case $(state) in COMPLETED | FAILED | CANCELLED | TIMEOUT) ;; *) return 1 ;; esac; }

# finish_job STATE: waits for the job's end; its output is then what `expect out` looks at.
finish_job() {
  what="batch job $name"
  wait_until 90 is_over
  expect_same "$(state)" "$1"
  cp "$name-$job.out" out
  : >err
}

# Every rank on its node, with the job's variables and the node's accelerators.
cat >who.sh <<'END'
echo "rank ${OMPI_COMM_WORLD_RANK:-$PMIX_RANK} on $(hostname) $COLOUR sees $CUDA_VISIBLE_DEVICES"
END
cat >job.json <<END
[{"machine_spec": {"machine_type": "n1-standard-4", "accelerator_type": "NVIDIA_TESLA_T4",
  "accelerator_count": 2}, "container_spec": {"image_uri": "i", "command": ["sh", "$work/who.sh"],
  "env": [{"name": "COLOUR", "value": "red and blue"}]}},
 {"machine_spec": {"machine_type": "n1-standard-4", "accelerator_type": "NVIDIA_TESLA_T4",
  "accelerator_count": 2}, "replica_count": 1, "container_spec": {"image_uri": "i", "command":
  ["sh", "$work/who.sh"], "env": [{"name": "COLOUR", "value": "red and blue"}]}}]
END
for launcher in mpirun srun; do
  name=who-$launcher
  batch job.json --launcher "$launcher"
  finish_job COMPLETED
  for line in '0 on host1' '1 on host1' '2 on host2' '3 on host2'; do
    expect out "^rank $line red and blue sees 0,1\$"
  done
done

# A rank that dies ends the job with its status, also under srun, which would wait for the others.
# shellcheck disable=SC2016 # the rank's words
echo '[ "${OMPI_COMM_WORLD_RANK:-$PMIX_RANK}" -ne 3 ] || exit 9; exec sleep 60' >who.sh
for launcher in mpirun srun; do
  name=dies-$launcher
  batch job.json --launcher "$launcher"
  finish_job FAILED
done

# Training over both nodes, with the figures of one rank.
long="$small --model $smooth --optimizer sgd --learning-rate 0.01"
# shellcheck disable=SC2086 # a list of words
run train tiny --out one --epochs 3 $long
expect_status 0
for launcher in mpirun srun; do
  name=train-$launcher
  # shellcheck disable=SC2086
  batch --replica-count 2 --launcher "$launcher" -- "$work/tiny" --epochs 3 $long
  finish_job COMPLETED
  expect out '^Ranks: 2$'
  expect_near one "$name"
  expect_file "$name/model.keras"
done

# The signal that Slurm sends before the time is over: the ranks save and end with 75, the job goes
# back into the queue and from its checkpoint to the end, with the weights of an undisturbed run.
name=whole
# shellcheck disable=SC2086
batch --replica-count 2 -- "$work/tiny" --epochs 40 $long
finish_job COMPLETED
whole=$(digest)
has_epochs() { [ "$(cat "$name-$job.out" | grep -c '^Epoch ')" -ge "$1" ]; }
for launcher in mpirun srun; do
  name=stop-$launcher
  # shellcheck disable=SC2086
  batch --replica-count 2 --launcher "$launcher" -- "$work/tiny" --epochs 40 $long
  wait_until 60 has_epochs 3
  scancel --signal=USR1 --batch "$job"
  finish_job COMPLETED
  check
  scontrol show job "$job" | grep -q ' Restarts=1 ' || fail "it was not put back once"
  expect out '^Stopped in epoch [0-9]+ after step [0-9]+ of '
  expect out '^Going on in epoch [0-9]+ at step [0-9]+, after [0-9]+ images$'
  expect_same "$(digest | tail -n 1)" "$whole"
done

for i in 1 2; do eval "end \$slurmd$i"; done
end "$slurmctld"
end "$munged"
finish

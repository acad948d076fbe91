#!/bin/sh
# ctest: labels=device
# Launching: what is printed, what is refused, and real runs on this machine. Scripts stand in for
# mpirun where its faults are the subject.
# shellcheck disable=SC2016,SC2028 # words for other shells
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

unset CLUSTER_SPEC TF_CONFIG K_MPI_JOB_ROLE AIP_MODEL_DIR
jobs=$here/../launch/jobs

# A stand-in for mpirun: says version 4.1.4, else runs ./body with the words it was given.
cat >mpirun <<'END'
#!/bin/sh
if [ "$1" = --version ]; then
  echo "mpirun (Open MPI) 4.1.4"
  exit 0
fi
exec sh ./body "$@"
END
chmod +x mpirun
launch() { run launch --mpirun ./mpirun "$@"; }

# What is printed is what a shell can run.
launch "$jobs/one_machine.json" --program /opt/clematis --print
expect_status 0
expect out "^(env [^/]*)?.*\./mpirun -np 2 --map-by slot --bind-to none --oversubscribe .* \
/opt/clematis train --expect-ranks 2 --progress lines --out runs/clematis /gcs/b/flower_photos \
--epochs 10\$"
cp out printed
echo 'printf "%s\n" "$@"; echo "dir=$AIP_MODEL_DIR"' >body
sh ./printed >words
check
grep -qx 'dir=runs/clematis/model/' words || fail "the environment is not set"
check
grep -qx -e '--expect-ranks' words || fail "the words do not come through"
expect_no_file runs

launch "$jobs/one_machine.json" --print --progress json
expect_status 0
expect out ' train --expect-ranks 2 --progress json '

launch --replica-count 4 --accelerator-count 1 --machine-type n1-standard-8 \
  --accelerator-type NVIDIA_TESLA_V100 --print -- photos --epochs 'a b'
expect_status 0
expect out "-np 4 .* train --expect-ranks 4 .* photos --epochs 'a b'\$"

launch --worker-pool-spec=machine-type=n1-standard-8,accelerator-type=NVIDIA_L4 \
  --worker-pool-spec=replica-count=2,machine-type=n1-standard-8 --validate-only
expect_status 0
expect out '^job clematis: 3 replicas, 3 ranks$'

# Hosts.
launch "$jobs/four_machines_mixed_case.json" --engine hosts --hosts a,b:2,c,d --ssh-port 2222 --print
expect_status 0
expect out '^#   b slots=2$'
expect out "-np 5 --hostfile /gcs/bucket/runs/flowers/.launch/hosts .*'-p 2222 -o BatchMode=yes"
expect err '^note: not used by engine hosts: disk_spec, network, service_account$'
launch "$jobs/four_machines_mixed_case.json" --engine hosts --hosts a,b --print
expect_error 64 'the job has 4 replicas and only 2 hosts are named'
launch "$jobs/four_machines_mixed_case.json" --engine hosts --print
expect_error 64 'engine hosts needs the names of the hosts'

# Slurm: a shell accepts the script, and hard words stand in it unharmed.
launch "$jobs/expansion.json" --engine slurm --partition gpu --env "HARD=it's \$(x)"
expect_status 0
expect out '^#SBATCH --partition=gpu$'
expect out '^#SBATCH --signal=B:USR1@120$'
expect out "^export HARD='it'\\\\''s \\\$\(x\)'\$"
check
sh -n out || fail "a shell does not accept the script"
launch "$jobs/one_machine.json" --engine slurm --launcher srun --container apptainer:image.sif
expect_status 0
expect out '^srun --mpi=pmix --kill-on-bad-exit=1 apptainer exec --nv image.sif clematis train '
launch "$jobs/one_machine.json" --engine slurm --container docker:x
expect_error 64 'write apptainer:IMAGE'
cat >sbatch <<'END'
#!/bin/sh
cat >submitted
exit 3
END
chmod +x sbatch
PATH=$work:$PATH launch "$jobs/one_machine.json" --engine slurm --submit
expect_status 3
check
grep -q '^#SBATCH --nodes=1$' submitted || fail "the script did not reach sbatch"

# Vertex AI: camelCase, and the body is itself a good job.
launch "$jobs/four_machines_mixed_case.json" --engine vertex
expect_status 0
expect out '"bootDiskSizeGb": 100'
expect_none out '_count|_spec|"state"'
cp out body.json
launch body.json --engine vertex
expect_status 0
check
cmp -s out body.json || fail "the body changes when it is read again"

# Faults, all of them at once.
launch "$jobs/bad_everything.json"
expect_status 65
expect err 'worker_pool_specs\[1\]\.replica_count: given twice'
expect err 'jobs: CustomJob has no such key'
launch "$jobs/bad_syntax.json"
expect_error 65 'bad_syntax.json is not valid JSON: line 2, column 23'
launch missing.json
expect_error 66 'missing.json'
launch
expect_error 64 'needs a job'
launch --machine-type x
expect_error 64 'needs a job'
launch "$jobs/one_machine.json" --replica-count 2
expect_status 0
launch --replica-count 2 --worker-pool-spec machine-type=x
expect_error 64 'exclude each other'
launch --worker-pool-spec machine-typ=x
expect_error 64 'did you mean machine-type'
launch "$jobs/one_machine.json" --env NOTHING
expect_error 64 'is no NAME=VALUE'
what="clematis launch -"
"$CLM_PROGRAM" launch - --validate-only <"$jobs/pipeline.json" >out 2>err
status=$?
expect_status 0
expect out '^job p: 1 replica, 1 rank$'
run launch "$jobs/one_machine.json" --mpirun ./none --print
expect_error 66 'none'
printf '#!/bin/sh\necho HYDRA build details\n' >hydra
chmod +x hydra
run launch "$jobs/one_machine.json" --mpirun ./hydra --print
expect_error 65 'not Open MPI'

# Exit statuses come through.
echo 'exit 9' >body
launch "$jobs/one_machine.json" --max-restarts 0
expect_status 9
echo 'exit 66' >body
launch "$jobs/one_machine.json"
expect_status 66
echo 'echo x >>tries; [ "$(wc -l <tries)" -ge 2 ] || exit 139' >body
launch "$jobs/one_machine.json"
expect_status 0
expect err 'ended with status 139; restart 1 of at most 3'
# Once there is a checkpoint the job goes on from it.
mkdir -p out.d/checkpoints
: >out.d/checkpoints/images-000000000064.keras
echo 'printf "%s\n" "$@" >words' >body
launch "$jobs/one_machine.json" --base-output-dir out.d
expect_status 0
check
grep -qx -e --resume words || fail "no --resume"

# A stop is handed on as USR2, and the launcher ends as the job does.
cat >body <<'END'
trap 'exit 75' USR2
: >started
while :; do sleep 0.1; done
END
what="clematis launch, then SIGTERM"
"$CLM_PROGRAM" launch --mpirun ./mpirun "$jobs/one_machine.json" >out 2>err &
launcher=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
  [ -e started ] && break
  sleep 0.2
done
kill -TERM "$launcher"
wait "$launcher"
status=$?
expect_status 75
expect err 'asking the job to save and end'

# Roles.
run entrypoint --mpirun ./mpirun --own-command --ranks-per-replica 1
expect_error 64 'the command is missing'
echo 'exit 7' >body
CLUSTER_SPEC='{"cluster":{"workerpool0":["h:2222"]},"task":{"type":"workerpool0","index":0}}' \
  run entrypoint --mpirun ./mpirun --max-restarts 0 --ranks-per-replica 1 -- photos
expect_status 134
CLUSTER_SPEC='{"cluster":{"workerpool0":["h:2222"]},"task":{"type":"workerpool0","index":0}}' \
  run entrypoint --mpirun ./mpirun --max-restarts 0 --no-vertex-retry --ranks-per-replica 1 -- photos
expect_status 7
CLUSTER_SPEC='{"cluster":{}}' run entrypoint -- photos
expect_error 65 'CLUSTER_SPEC: cluster: no chief'
CLUSTER_SPEC='{"cluster":{"workerpool0":["h:2222"],"workerpool1":["i:2222"]},"task":{"type":"workerpool0","index":0}}' \
  run entrypoint -- photos
expect_error 64 'exchange ssh keys through a shared folder'
# From here on ranks are real ones.
forgive_leaks
OMPI_COMM_WORLD_SIZE=1 run entrypoint -- train
expect_error 64 '`clematis train` needs DATA'
run train photos --expect-ranks 2
expect_error 64 'promised 2 ranks'

# The doctor says what to mend.
mkdir vendors
OCL_ICD_VENDORS=$work/vendors run doctor --mpirun ./mpirun --base-output-dir shared
expect out '^good  Open MPI: version 4\.1\.4$'
expect out '^good  shared: can be written$'
expect out '^BAD   .*/vendors: no \.icd file'
expect_status 69
echo libno-such-driver.so.1 >vendors/x.icd
OCL_ICD_VENDORS=$work/vendors run doctor --mpirun ./hydra
expect out '^note  .*/x\.icd: libno-such-driver'
expect out '^BAD   Open MPI: this mpirun is not Open MPI'

# The real mpirun and the real training.
if command -v mpirun >/dev/null && "$CLM_PROGRAM" devices >/dev/null 2>&1; then
  tiny
  # shellcheck disable=SC2086 # several words
  run launch --replica-count 1 --base-output-dir real -- "$work/tiny" $small --epochs 1
  expect_status 0
  expect_file real/model.keras
  expect_file real/checkpoints
  # The second start goes on from the checkpoint of the first.
  # shellcheck disable=SC2086
  run launch --replica-count 1 --base-output-dir real -- "$work/tiny" $small --epochs 2
  expect_status 0
  check
  [ "$(grep -c '^[0-9]' real/history.csv)" -eq 2 ] || fail "not two epochs in the history"
else
  echo "left out: a real run (no mpirun or no OpenCL device)"
fi
finish

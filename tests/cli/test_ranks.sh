#!/bin/sh
# ctest: labels=device,mpi
# Several ranks of one job on this machine: the same result as one, mistakes told once, and nothing
# written but by rank 0.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
need_device
need_ranks
long="$small --model $smooth --epochs 3 --optimizer sgd --learning-rate 0.01"

# shellcheck disable=SC2086 # a list of words
run train tiny --out one $long
expect_status 0
for count in 2 3; do
  # shellcheck disable=SC2086
  ranks $count train tiny --out ranks$count $long
  expect_status 0
  expect out "^Ranks: $count\$"
  # Rank 0 alone speaks.
  expect_same "$(grep -c '^Epoch 1/3 - ' out)" 1
  expect_same "$(grep -c '^Found ' out)" 1
  # Every rank left MPI as it should: mpirun has nothing to say.
  expect_none err 'mpirun|MPI_|PMIX|ORTE|PRTE'
  expect_near one ranks$count
  expect_file ranks$count/checkpoints/images-000000000105.keras
done

# Mistakes are told once, with rank and host, and all ranks leave with the same status.
ranks 2 train tiny --out x --epoch 3
expect_error 64 'rank 0 \(.*\): there is no option --epoch; did you mean --epochs'
ranks 2 train
expect_error 64 'rank 0 \(.*\): `clematis train` needs DATA'
ranks 3 train tiny --out x --expect-ranks 2
expect_error 64 'promised 2 ranks, and 3 are there'
run train tiny --out x --expect-ranks 2
expect_error 64 'promised 2 ranks, and 1 is there'
ranks 2 train nowhere --out x
expect_error 66 'rank 0 \(.*\): .*nowhere'
ranks 2 train tiny --out x --model missing.keras
expect_error 66 'rank 0 \(.*\): .*missing.keras'
ranks 2 train tiny --out one
expect_error 64 'one already holds a run'
ranks 2 train tiny --config none.json
expect_error 66 'rank 0 \(.*\): .*none.json'
expect_no_file x/checkpoints/images-000000000035.keras

# Rank 1 stands in another folder: it sees neither the run folder nor its options, and writes nothing.
mkdir elsewhere
cat >by_rank <<'END'
#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" != 1 ] || cd elsewhere || exit 1
exec "$CLM_PROGRAM" "$@"
END
chmod +x by_rank
export CLM_PROGRAM
# shellcheck disable=SC2086
ranks 2 train "$work/tiny" --out apart $long
expect_status 0
expect_near one apart
ranks 2 train --resume --out apart --epochs 4
expect_status 0
expect out '^Going on in epoch 4 at step 1, after 105 images$'
expect_same "$(ls -A elsewhere)" ''
# Its images are not there.
ranks 2 train tiny --out y --epochs 1
expect_error 66 'rank 1 \(.*\): there is no folder tiny here'
mkdir -p elsewhere/tiny/daisy
ranks 2 train tiny --out y --epochs 1
expect_error 66 'rank 1 \(.*\): tiny/.* is listed by rank 0 but not here'
rm -rf elsewhere/tiny by_rank

# Other settings on one rank.
cat >by_rank <<'END'
#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" != 1 ] || set -- "$@" --epochs 7
exec "$CLM_PROGRAM" "$@"
END
chmod +x by_rank
ranks 2 train tiny --out z --image-size 24 --epochs 2
expect_error 64 'rank 1 \(.*\) was started with other settings than rank 0'
rm by_rank

# A bad file is found by the rank that looks at it, and told once.
cp -r tiny mixed
echo text >mixed/tulip/a.jpg
echo text >mixed/daisy/b.jpg
ranks 2 train mixed --out mixed_run --image-size 24 --batch-size 8 --epochs 1
expect_status 0
expect_same "$(grep -c 'left out tulip/a.jpg' err)" 1
expect_same "$(wc -l <mixed_run/bad_files.txt)" 2
ranks 2 train mixed --out strict --image-size 24 --strict
expect_error 65 'rank 0 \(.*\): mixed/'

# The launcher starts ranks that keep its promise.
forgive_leaks
# shellcheck disable=SC2086
run launch --replica-count 1 --ranks-per-replica 2 --base-output-dir job -- "$work/tiny" $long
expect_status 0
expect out '^Ranks: 2$'
expect_near one job
finish

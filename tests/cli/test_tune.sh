#!/bin/sh
# ctest: labels=slow
# clematis tune: the table, the file, the use of what was measured, and the same bits each time.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

run sample photos --images 8
expect_status 0
tune="tune --image-size 16x16 --batch-size 4 --tuning tuning.txt"

# shellcheck disable=SC2086
run $tune --budget 0
expect_status 0
expect out '^cpu[0-9]+, 1 of [0-9]+: gemm \*'
expect out '^[a-z0-9]+, [0-9]+ of [0-9]+: dense\.fwd 128-5$'
expect out '^\*  +[0-9.]+ ms  '
expect out ' ms  gemm'
expect out ' recorded in tuning.txt, 0 were there before, 0 candidates were bad'
expect_file tuning.txt
check
grep -q '^dense\.fwd | 128-5 | .*, driver .* | [a-z]' tuning.txt || fail "no line of dense.fwd"

# What is recorded stays.
cp tuning.txt before.txt
# shellcheck disable=SC2086
run $tune
expect_status 0
expect out '^0 recorded in tuning.txt, [0-9]+ were there before'
check
cmp -s tuning.txt before.txt || fail "the file has changed"

# Training takes the recorded variants, and two runs give the same bits.
sed -E 's/^(dense\.fwd \| 128-5 \| .* \| ).*/\1gemm/' before.txt >tuning.txt
train="train photos --image-size 16x16 --batch-size 4 --epochs 1 --tuning tuning.txt --progress none"
for i in 1 2; do
  # shellcheck disable=SC2086
  run $train --out run$i --verbose
  expect_status 0
  expect out 'dense\.fwd +128 -> 5 +gemm'
  run evaluate run$i/model.keras photos --json --tuning tuning.txt
  expect_status 0
  sed 's/, "seconds".*//' out >figures$i
done
check
cmp -s figures1 figures2 || fail "two runs differ: $(cat figures1 figures2)"

# A file that is damaged ends the run, and the line is named.
printf 'dense.fwd | * | * | cpu TILE=x\n' >>tuning.txt
# shellcheck disable=SC2086
run $tune
expect_error 65 'tuning\.txt, line [0-9]+: '
# shellcheck disable=SC2086
run $train --out run3
expect_error 65 'tuning\.txt, line [0-9]+: '

# A candidate that crashes is named.
rm tuning.txt
export CLEMATIS_TEST_TUNE_CRASH=gemm CLEMATIS_TEST_TUNE_WRONG=cpu
# shellcheck disable=SC2086
run $tune --budget 60
expect_status 0
expect err 'warning: .*gemm is never used: its process ended with signal 9'
expect out '^ +CRASHED  gemm: '
expect out '^ +WRONG  cpu: off by .* is allowed'
finish

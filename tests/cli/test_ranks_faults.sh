#!/bin/sh
# ctest: labels=device,mpi,slow
# Ranks that are told to stop, fail, die or fall silent: the job ends soon and by name, no process
# stays, and the last checkpoint goes on.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
need_device
need_ranks
export CLM_PROGRAM
long="$small --epochs 60 --batch-size 2 --peer-timeout 3"

# Every rank leaves its number; rank 1 alone fails to load.
make_by_rank() {
  cat >by_rank <<'END'
#!/bin/sh
echo $$ >"pid.$OMPI_COMM_WORLD_RANK"
if [ "$OMPI_COMM_WORLD_RANK" = 1 ] && [ -n "${FAIL_LOAD-}" ]; then
  export CLEMATIS_TEST_FAIL_LOAD="$FAIL_LOAD"
fi
exec "$CLM_PROGRAM" "$@"
END
  chmod +x by_rank
}
make_by_rank

# start COUNT ARGUMENT...: the job in the background; mpirun's number is in $job.
start() {
  what="mpirun -n $* in the background"
  rm -f pid.*
  : >out
  exec_ranks "$@" >out 2>err &
  job=$!
}

# Waits for the job's end, and for that of its ranks.
finish_job() {
  wait "$job"
  status=$?
  turns=0
  for file in pid.*; do
    while kill -0 "$(cat "$file")" 2>/dev/null && [ $turns -lt 100 ]; do
      sleep 0.1
      turns=$((turns + 1))
    done
    check
    if kill -0 "$(cat "$file")" 2>/dev/null; then
      fail "$file is left running"
      kill -KILL "$(cat "$file")"
    fi
  done
}

# How many ranks share a processor decides the bits, so they are compared with those of as many.
for count in 2 3; do
  # shellcheck disable=SC2086 # a list of words
  ranks $count train tiny --out "undisturbed$count" $long
  expect_status 0
  digest >"whole.$count"
done

resume_to_the_same_bits() { # COUNT FOLDER
  ranks "$1" train --resume --out "$2"
  expect_status 0
  expect_same "$(digest)" "$(cat "whole.$1")"
}

# A signal to any rank stops all of them, with one checkpoint.
for signal in TERM INT USR2; do
  # shellcheck disable=SC2086
  start 2 train tiny --out "stop$signal" $long
  wait_for '^Epoch 3/' "$job"
  kill "-$signal" "$(cat pid.1)"
  finish_job
  expect_status 75
  expect_same "$(grep -c 'stopped on request; to go on' err)" 1
  expect out '^Stopped in epoch [0-9]+ after step [0-9]+ of 18$'
  resume_to_the_same_bits 2 "stop$signal"
done

# mpirun hands USR2 on to every rank.
# shellcheck disable=SC2086
start 3 train tiny --out stopall $long
wait_for '^Epoch 3/' "$job"
kill -USR2 "$job"
finish_job
expect_status 75
expect_same "$(grep -c 'stopping after this step' err)" 1
# It goes on alone, with the same images at the same place.
run train --resume --out stopall
expect_status 0
expect out '^Going on in epoch [0-9]+ at step [0-9]+, after [0-9]+ images$'

# A rank that cannot load its part.
FAIL_LOAD=40
export FAIL_LOAD
# shellcheck disable=SC2086
start 3 train tiny --out unloaded $long
finish_job
expect_error 74 'rank 1 \(.*\): a batch cannot be loaded'
unset FAIL_LOAD
resume_to_the_same_bits 3 unloaded

# A rank that is killed: mpirun names it, rank 0 says how far the run came.
# shellcheck disable=SC2086
start 2 train tiny --out killed $long
wait_for '^Epoch 4/' "$job"
kill -KILL "$(cat pid.1)"
finish_job
expect_status 137
expect err 'process rank 1 .* exited on signal 9'
expect err '^clematis: the last step done was [0-9]+ of epoch [0-9]+$'
resume_to_the_same_bits 2 killed

# A rank that is silent is named by the others, with the step, in the time given.
# shellcheck disable=SC2086
start 3 train tiny --out silent $long --trace silent.json
wait_for '^Epoch 4/' "$job"
kill -STOP "$(cat pid.1)"
begin=$(date +%s)
finish_job
expect_status 69
expect err '^clematis: in epoch [0-9]+, after step [0-9]+: .*no answer for 3\.0 s from rank 1 \('
check
[ $(($(date +%s) - begin)) -le 20 ] || fail "it took $(($(date +%s) - begin)) s"
# Of the trace there is what rank 0 has.
expect out '^Trace: silent.json, [0-9]+ spans of 1 rank, complete$'
expect_file silent.json
resume_to_the_same_bits 3 silent

# Before the first step it may be silent for longer, but not for ever. Without kernels that were built
# before, it is far from there.
warm=${CLEMATIS_CACHE-}
export CLEMATIS_CACHE="$work/cold"
# shellcheck disable=SC2086
start 2 train tiny --out unready $long --setup-timeout 4
wait_for '^Found ' "$job"
kill -STOP "$(cat pid.1)"
finish_job
expect_status 69
expect err 'no answer for 4\.0 s from rank 1 \('
if [ -n "$warm" ]; then CLEMATIS_CACHE=$warm; else unset CLEMATIS_CACHE; fi

# A second signal ends at once.
# shellcheck disable=SC2086
start 2 train tiny --out twice $small --epochs 100000
wait_for '^Epoch 3/' "$job"
kill -STOP "$(cat pid.1)"
kill -TERM "$(cat pid.1)"
kill -CONT "$(cat pid.1)"
kill -TERM "$(cat pid.1)"
finish_job
check
[ "$status" -eq 143 ] || [ "$status" -eq 75 ] || fail "status $status, expected 143"
ranks 2 train --resume --out twice --epochs 1
expect_status 0
finish

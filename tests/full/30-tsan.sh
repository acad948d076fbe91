#!/bin/sh
# the tests of what threads do, with the thread sanitizer
. tests/full/lib.sh
build tsan
# PoCL, LLVM and Open MPI are compiled without it: what they do among themselves is not judged.
export TSAN_OPTIONS="ignore_noninstrumented_modules=1:second_deadlock_stack=1"
run_ctest build-tsan --parallel "$(nproc)" --label-regex '^(base|sys|dev|data|comm|exec|train|tsan)$' \
  --label-exclude '^(mpi|keras)$'

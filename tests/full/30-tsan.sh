#!/bin/sh
# the tests of threads with the thread sanitizer (PoCL's own threads are not instrumented)
. tests/full/lib.sh
build tsan
here=$(pwd)/tests/full
export TSAN_OPTIONS="suppressions=$here/tsan.supp:second_deadlock_stack=1"
run_ctest build-tsan --parallel "$(nproc)" --label-regex '^(base|sys|data|comm|train|tsan)$'

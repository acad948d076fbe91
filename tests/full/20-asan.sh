#!/bin/sh
# all tests with the address, leak and undefined-behaviour sanitizers
. tests/full/lib.sh
build asan
here=$(pwd)/tests/full
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export LSAN_OPTIONS="suppressions=$here/lsan.supp:print_suppressions=0"
export UBSAN_OPTIONS=print_stacktrace=1
run_ctest build-asan --parallel "$(nproc)" --label-exclude '^(checks|install|jobs)$'

#!/bin/sh
# --trace: what ran when, as Perfetto and Chrome read it.
# ctest: labels=device,mpi
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || {
  echo "skipped: there is no python3"
  exit 77
}
need_device
need_ranks

# look FILE RANKS FIRST LAST
look() {
  what="trace $*"
  python3 "$here/check_trace.py" "$@" >out 2>err
  status=$?
  expect_status 0
  expect out 'fine$'
}

# shellcheck disable=SC2086 # a list of words
run train tiny --out one --epochs 2 $small --checkpoint-steps 2 --trace one.json
expect_status 0
expect out '^Trace: one.json, [0-9]+ spans of 1 rank, complete$'
first=$(digest)
look one.json 1 1 10
# As many as were written: a step's checkpoint passes while another is being written.
expect one.json '"cat": "checkpoint"'
# shellcheck disable=SC2086
run train tiny --out plain --epochs 2 $small
expect_same "$(digest)" "$first"

# Two devices of one rank.
# shellcheck disable=SC2086
run train tiny --out pair --epochs 1 $small --devices cpu/2 --trace pair.json
expect_status 0
look pair.json 1 1 5
expect_same "$(grep -c '"name": "update".* "tid": 0' pair.json)" 5
expect_same "$(grep -c '"name": "update".* "tid": [1-9]' pair.json)" 5

# Two ranks, and the steps that were asked for.
# shellcheck disable=SC2086
ranks 2 train tiny --out two --epochs 2 $small --trace two.json --trace-steps 3-7
expect_status 0
expect out '^Trace: two.json, [0-9]+ spans of 2 ranks, complete$'
look two.json 2 3 7

# A run that fails has a trace, too.
# shellcheck disable=SC2086
ranks 2 train tiny --out bad $small --optimizer sgd --learning-rate 1e9 --trace bad.json
expect_error 65 'is not a finite number'
expect_file bad.json

# What cannot be written is found before the first step; what is no range is refused.
run train tiny --out x --trace nowhere/trace.json
expect_error 74 'nowhere/trace.json'
run train tiny --out x --trace x.json --trace-steps 5
expect_error 64 'FIRST-LAST, as 1-100, not "5"'
run train tiny --out y --trace x.json --trace-steps 5-4
expect_error 64 'FIRST-LAST'
expect_no_file x.json
finish

#!/bin/sh
# A training as other programs see it: --progress json.
# ctest: labels=device
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || {
  echo "skipped: there is no python3"
  exit 77
}
need_device
tiny

# events ARGUMENT...: check_progress.py on what the program printed.
events() {
  python3 "$here/check_progress.py" "$work/out" "$@" 2>&1
}

# A file that cannot be used, whose name is no UTF-8.
cp -r tiny mixed
echo text >"mixed/tulip/$(printf 'a"\377.jpg')"
# shellcheck disable=SC2086 # a list of words
run train mixed --out run --epochs 2 $small --progress json --checkpoint-steps 2
expect_status 0
expect_none err '^clematis: '
# A step's checkpoint passes while another is being written, so how many there are is not given.
expect_same "$(events | sed 's/\( checkpoint\)\{1,\}/ checkpoint/g')" \
  'warning start step checkpoint epoch checkpoint epoch checkpoint end: finished 0'
expect_same "$(events start run_folder)" run
expect_same "$(events start left_out_files)" 1
expect_same "$(events end weights_digest | wc -c)" 17
check
grep -q "$(events end weights_digest)" out || fail 'no digest'

# A run that has nothing left, one that fails, and one that never began.
run train --resume --out run --progress json
expect_status 0
expect_same "$(events end reason)" nothing_left
# shellcheck disable=SC2086
run train tiny --out fails $small --progress json --learning-rate 1e9 --epochs 9 --optimizer sgd
expect_error 65 'is not a finite number'
expect_same "$(events end reason)" failed
expect_same "$(events end exit_status)" 65
expect_same "$(events end message | cut -c1-24)" 'the loss or a gradient i'
run train tiny --out run --progress json
expect_error 64 'run already holds a run'
expect_same "$(events)" 'end: failed 64'
run train tiny --progress json --epoch 3
expect_error 64 'there is no option --epoch'
expect_same "$(cat out)" ''
run train --progress json --help
expect_status 0
expect out '^usage: clematis train'
finish

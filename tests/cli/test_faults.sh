#!/bin/sh
# Models, devices, memory and disks that fail.
# ctest: labels=device,slow
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
tiny

# No device at all.
CLEMATIS_TEST_NO_PLATFORM=1 run devices
expect_error 69 'no OpenCL platform.*pocl-opencl-icd'
CLEMATIS_TEST_NO_PLATFORM=1 run train tiny --out none
expect_error 69 'no OpenCL platform'
need_device

# shellcheck disable=SC2086 # a list of words
run train tiny --out good --epochs 1 $small
expect_status 0
model=good/model.keras

# Models that cannot be read.
run summary missing.keras
expect_error 66 'missing.keras'
run summary tiny
expect_error 66 'tiny'
: >zero.keras
printf 'hello\n' >text.keras
head -c 5000 "$model" >cut.keras
printf '{"class_name": "Sequential"}' >part.json
printf '{"class_name": "Model", "config": {"layers": []}}' >odd.json
for file in zero.keras text.keras cut.keras part.json odd.json; do
  run summary $file
  expect_error 65 "$file"
  run train tiny --model $file --out "by-$file"
  expect_error 65 "$file"
  run predict $file tiny/daisy/daisy-001.png
  expect_error 65 "$file"
done
{
  head -c 60000 "$model"
  printf 'XXXXXXXXXXXXXXXX'
  tail -c +60017 "$model"
} >flipped.keras
run evaluate flipped.keras tiny
expect_error 65 'flipped.keras'

# Data that does not fit the model.
cp -r tiny six
cp -r tiny/tulip six/zz
run evaluate "$model" six
expect_error 65 '6 classes.*5'
run train six --model "$model" --out six-run
expect_error 65 '6 classes.*5'
run predict "$model" missing.png
expect_error 66 'missing.png'
run predict "$model" text.keras
expect_error 65 'text.keras'

# Devices.
run train tiny --out d1 --devices nothing-like-this
expect_error 69 'nothing-like-this.*there are: .*[a-z]+[0-9]'
run predict "$model" tiny/daisy/daisy-001.png --devices nothing-like-this
expect_error 69 'nothing-like-this'
CLEMATIS_TEST_FAIL_BUILD=dense run train tiny --out d2 --no-kernel-cache
expect_error 69 'cannot build dense'
CLEMATIS_TEST_MEMORY=20000000 run train tiny --out d3
expect_error 69 'it needs .*, the device has .*'
CLEMATIS_TEST_MAX_BUFFER=2000000 run train tiny --out d4
expect_error 69 'largest batch that fits is [0-9]+'
# shellcheck disable=SC2086
CLEMATIS_TEST_MAX_GROUP=1 run train tiny --out d5 --epochs 1 $small --no-kernel-cache
expect_status 0
run train tiny --out d6 --variant no-such-variant
check
[ "$status" -eq 64 ] || fail "status $status, expected 64"

# A loss that is no number.
# shellcheck disable=SC2086
CLEMATIS_TEST_NAN_STEP=6 run train tiny --out nan --epochs 3 $small
expect_error 65 'not a finite number in epoch 2, step 1'
run train --resume --out nan
expect_status 0
expect out '^Going on in epoch 2 at step [12]'

# Folders that cannot be written, before anything else is tried.
run train tiny --out /dev/null/run
expect_error 74 '/dev/null'
expect_none out 'Found'
if [ "$(id -u)" -ne 0 ]; then
  mkdir locked
  chmod a-w locked
  run train tiny --out locked/run
  expect_error 74 'locked'
fi

# A disk that is full at the Nth write: the end is a warning or status 74, and what was saved stays.
for number in 1 2 3 5 7 9 10 11 12; do
  # shellcheck disable=SC2086
  CLEMATIS_TEST_FAIL_WRITE=$number run train tiny --out "full-$number" --epochs 2 $small
  check
  case $status in
    0) expect err 'warning: .*(could not be written|No space left)' ;;
    74) expect_error 74 'No space left' ;;
    *) fail "status $status, expected 0 or 74" ;;
  esac
  for file in "full-$number"/*.keras "full-$number"/checkpoints/*.keras; do
    [ -e "$file" ] || continue
    run summary "$file"
    expect_status 0
  done
done

# The same on a real file system of 3 MB, where this user may make one.
cat >on-small-disk.sh <<'SCRIPT'
mkdir -p disk && mount -t tmpfs -o size=3m none disk || exit 77
"$CLM_PROGRAM" train tiny --out disk/run --epochs 4 --image-size 48 --split stratified \
  --keep-checkpoints 9 >out 2>err
echo $? >status
for file in disk/run/*.keras disk/run/checkpoints/*.keras; do
  [ -e "$file" ] || continue
  "$CLM_PROGRAM" summary "$file" >/dev/null || echo "$file" >>unreadable
done
mount -o remount,ro disk
"$CLM_PROGRAM" train tiny --out disk/other --epochs 1 --image-size 24 >out-ro 2>err-ro
echo $? >status-ro
SCRIPT
export CLM_PROGRAM
if unshare -m sh on-small-disk.sh 2>/dev/null || unshare -rm sh on-small-disk.sh 2>/dev/null; then
  what='clematis train on a full disk'
  status=$(cat status)
  expect err 'No space left'
  check
  [ "$status" -eq 74 ] || [ "$status" -eq 0 ] || fail "status $status, expected 74"
  expect_no_file unreadable
  what='clematis train on a read-only disk'
  cp out-ro out
  cp err-ro err
  status=$(cat status-ro)
  expect_error 74 'disk/other'
else
  echo 'not tried: a small file system, which takes user name spaces'
fi

# Host memory that is missing.
for number in 1 3 10 30 100; do
  CLEMATIS_TEST_FAIL_ALLOC=$number run summary "$model"
  expect_error 71 'memory'
done
finish

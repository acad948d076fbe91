#!/bin/sh
# Real TensorBoard reads the curves of a run, also of one that went on from an older checkpoint.
# ctest: labels=device,keras
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
python=${CLEMATIS_KERAS_PYTHON-}
[ -n "$python" ] || {
  echo "skipped: CLEMATIS_KERAS_PYTHON does not name a Python with TensorBoard"
  exit 77
}
"$python" -c 'import tensorboard' 2>/dev/null || {
  echo "skipped: $python cannot import tensorboard"
  exit 77
}
need_device
tiny

# ask RUN STEPS [DEVICES]: what TensorBoard sees of the run.
ask() {
  what="TensorBoard on $2 steps of $1"
  "$python" "$here/check_events.py" "$1" "$2" 2 ${3:+"$3"} >out 2>err
  status=$?
  expect_status 0
  expect out 'are fine$'
}

# 35 images for training: 5 steps an epoch.
# shellcheck disable=SC2086 # a list of words
run train tiny --out run --epochs 3 $small --tensorboard --tensorboard-steps 2
expect_status 0
ask run 15

# The third epoch is done again, and two more.
rm "run/checkpoints/$(find run/checkpoints -name '*.keras' -exec basename {} \; | sort | tail -n 1)"
run train --resume --out run --epochs 5
expect_status 0
expect out '^Going on in epoch 3'
expect_same "$(find run/tensorboard/train -type f | grep -c .)" 2
ask run 25

# Of two ranks rank 0 alone writes, for the devices of all.
if command -v mpirun >/dev/null; then
  # shellcheck disable=SC2086
  ranks 2 train tiny --out two --epochs 2 $small --tensorboard --tensorboard-steps 2 \
    --tensorboard-histograms
  expect_status 0
  for folder in train validation steps; do
    expect_same "$(find two/tensorboard/$folder -type f | grep -c .)" 1
  done
  ask two 10 2
fi
finish

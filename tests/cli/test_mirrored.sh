#!/bin/sh
# Two devices beside Keras' MirroredStrategy on two: the same weights after two epochs, with batch
# normalization by each device's own statistics and by those of both.
# ctest: labels=device,keras
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
python=${CLEMATIS_KERAS_PYTHON-}
[ -n "$python" ] || {
  echo "skipped: CLEMATIS_KERAS_PYTHON does not name a Python with Keras"
  exit 77
}
need_device
tiny

# compare STATISTICS: the same training here and there.
compare() {
  "$python" "$here/check_mirrored.py" make "$1.keras" "$1" 2>err || fail "Keras makes no model"
  run train tiny --model "$1.keras" --out "$1" --devices cpu/2 --epochs 2 --batch-size 8 \
    --no-shuffle --validation-split 0
  expect_status 0
  what="Keras' MirroredStrategy, statistics: $1"
  "$python" "$here/check_mirrored.py" compare tiny "$1.keras" "$1/model.keras" 2 >out 2>err
  status=$?
  expect_status 0
  expect out '^furthest apart'
}
compare own
compare joint
finish

#!/bin/sh
# ctest: labels=device,mpi
# A model with batch normalization on two ranks: as on one with --sync-batchnorm, or where its layers
# ask for it, and not without.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
need_device
need_ranks
options="$small --optimizer sgd --learning-rate 0.05 --variant plain"

# model FILE SYNCHRONIZED
model() {
  normalization='{"class_name": "BatchNormalization", "config": {"synchronized": '$2'}},
    {"class_name": "Activation", "config": {"activation": "tanh"}}'
  cat >"$1" <<END
{"class_name": "Sequential", "config": {"name": "normal", "layers": [
    {"class_name": "InputLayer", "config": {"batch_shape": [null, 24, 24, 3], "name": "image"}},
    {"class_name": "Conv2D", "config": {"filters": 6, "kernel_size": 3, "strides": 2, "use_bias": false}},
    $normalization,
    {"class_name": "Conv2D", "config": {"filters": 6, "kernel_size": 3, "use_bias": false}},
    $normalization,
    {"class_name": "GlobalAveragePooling2D", "config": {}},
    {"class_name": "Dense", "config": {"units": 5, "activation": "softmax"}}]}}
END
}
model own.json false
model joint.json true

# shellcheck disable=SC2086 # a list of words
run train tiny --model own.json --out one --epochs 3 $options
expect_status 0
# The option is kept for --resume.
# shellcheck disable=SC2086
ranks 2 train tiny --model own.json --out option --epochs 2 $options --sync-batchnorm
expect_status 0
ranks 2 train --resume --out option --epochs 3
expect_status 0
expect_near one option
# shellcheck disable=SC2086
ranks 2 train tiny --model joint.json --out layers --epochs 3 $options
expect_status 0
expect_near one layers
# shellcheck disable=SC2086
ranks 2 train tiny --model own.json --out without --epochs 3 $options
expect_status 0
# Far more apart than rounding.
loss() { tail -n 1 "$1/history.csv" | cut -d, -f4 | cut -c1-5; }
check
[ "$(loss one)" != "$(loss without)" ] || fail "statistics of their own change no figure"
finish

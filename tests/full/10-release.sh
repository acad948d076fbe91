#!/bin/sh
# the build for use and all of its tests
. tests/full/lib.sh
./dev setup || exit
build release
run_ctest build --parallel "$(nproc)"

#!/bin/sh
# the build for use and all of its tests
. tests/full/lib.sh
./dev setup || exit
build release
# The stage gpu-compilers wants to know what was built.
export CLEMATIS_TEST_LIST_KERNELS="$CLM_FULL/kernels"
# The stage hosts installs what those tests need.
run_ctest build --parallel "$(nproc)" --label-exclude '^hosts$'

#!/bin/sh
# the tests that use a device, on Intel's OpenCL runtime for CPUs
. tests/full/lib.sh
build release
need python3-venv
$tools/intel-opencl true || skip "Intel's runtime cannot be had"
# The kernels of the other platform must not come out of a cache.
CLEMATIS_CACHE=$(mktemp -d)
export CLEMATIS_CACHE
ctest --test-dir build -N -L '^device$' | grep -q 'Test *#' || skip "no test has the label device"
status=0
# Intel's compiler takes long over the many programs of the convolutions' cases: the tiny ones run.
# What ranks and long trainings show does not depend on the runtime.
$tools/intel-opencl ctest --test-dir build --parallel "$(nproc)" --output-on-failure \
  --label-regex '^device$' --label-exclude '^(mpi|slow)$' \
  --exclude-regex 'op/test_conv2d(_max_pool)?$' --output-log "$CLM_FULL/ctest" || status=$?
count_ctest "$CLM_FULL/ctest"

# shellcheck disable=SC2317 # for_each calls it
check() { try "$1 on tiny shapes" "$tools/intel-opencl" "build/tests/op_$1" --tiny; }
printf '%s\n' test_conv2d test_conv2d_max_pool >"$CLM_FULL/programs"
for_each check "$CLM_FULL/programs" || status=1
rm -rf "$CLEMATIS_CACHE"
exit $status

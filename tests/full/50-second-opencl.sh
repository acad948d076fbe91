#!/bin/sh
# the tests that use a device, on Intel's OpenCL runtime for CPUs
. tests/full/lib.sh
build release
need python3-venv
$tools/intel-opencl true || skip "Intel's runtime cannot be had"
# The kernels of the other platform must not come out of a cache.
CLEMATIS_CACHE=$(mktemp -d)
export CLEMATIS_CACHE
run_with_intel() { $tools/intel-opencl ctest "$@"; }
ctest --test-dir build -N -L '^device$' | grep -q 'Test *#' || skip "no test has the label device"
status=0
# Intel's compiler takes long over the many programs of the convolutions' cases: the tiny ones run. What ranks
# and long trainings show does not depend on the runtime.
long='op/test_conv2d(_max_pool)?$'
run_with_intel --test-dir build --output-on-failure --label-regex '^device$' --exclude-regex "$long" \
  --label-exclude '^(mpi|slow)$' --output-log "$CLM_FULL/ctest" || status=$?
count_ctest "$CLM_FULL/ctest"
for name in test_conv2d test_conv2d_max_pool; do
  try "$name on tiny shapes" $tools/intel-opencl build/tests/op_$name --tiny || status=1
done
rm -rf "$CLEMATIS_CACHE"
exit $status

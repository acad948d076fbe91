#!/bin/sh
# every kernel on tiny shapes under Oclgrind: races, bounds, uninitialised reads, barriers
. tests/full/lib.sh
build release
need oclgrind gcc opencl-c-headers
CLEMATIS_CACHE=$(mktemp -d)
export CLEMATIS_CACHE
result=0
# Tests with the label tiny take --tiny: the cases marked so alone.
programs=$(ctest --test-dir build -L '^tiny$' --show-only=json-v1 |
  sed -n '/"command"/,/\]/s/^ *"\(\/.*\)",\{0,1\}$/\1/p')
[ -n "$programs" ] || skip "no test has the label tiny"
for program in $programs; do
  if "$program" --tiny 2>&1 | grep -q 'Running 0 test(s)'; then
    echo "skipped $(basename "$program"): it has no tiny case, so no kernel would run"
    count 0 0 1
    continue
  fi
  # Tests make some calls fail on purpose, so failing calls are not reported.
  try "races in $(basename "$program")" $tools/cl-race-check --no-api -- "$program" --tiny || result=1
done
rm -rf "$CLEMATIS_CACHE"
exit $result

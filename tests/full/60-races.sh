#!/bin/sh
# every kernel on tiny shapes under Oclgrind: races, bounds, uninitialised reads, barriers
. tests/full/lib.sh
build release
need oclgrind gcc opencl-c-headers
CLEMATIS_CACHE=$(mktemp -d)
export CLEMATIS_CACHE
# Tests with the label tiny take --tiny: the cases marked so alone.
ctest --test-dir build -L '^tiny$' --show-only=json-v1 |
  sed -n '/"command"/,/\]/s/^ *"\(\/.*\)",\{0,1\}$/\1/p' >"$CLM_FULL/programs"
[ -s "$CLM_FULL/programs" ] || skip "no test has the label tiny"

# shellcheck disable=SC2317 # for_each calls it
check() {
  if "$1" --tiny 2>&1 | grep -q 'Running 0 test(s)'; then
    echo "skipped $(basename "$1"): it has no tiny case, so no kernel would run"
    count 0 0 1
    return
  fi
  # Tests make some calls fail on purpose, so failing calls are not reported.
  try "races in $(basename "$1")" "$tools/cl-race-check" --no-api -- "$1" --tiny
}

status=0
for_each check "$CLM_FULL/programs" || status=$?
rm -rf "$CLEMATIS_CACHE"
exit $status

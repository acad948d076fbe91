# Shared by the stages of tests/full; each begins with `. tests/full/lib.sh`. A stage runs in the
# checkout's root, exits with 0 (passed), 77 (skipped, after saying why) or anything else (failed),
# and adds "PASSED FAILED SKIPPED" lines to $CLM_FULL/counts for what it ran.
# shellcheck shell=sh
set -u
CLM_FULL=${CLM_FULL:-$(mktemp -d)}
# shellcheck disable=SC2034 # used by the stages
tools=tests/portability
# shellcheck disable=SC2034
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}

skip() {
  echo "skipped: $*"
  exit 77
}

# need PACKAGE...: installs Debian packages, or skips the stage.
need() {
  ./dev setup "$@" >"$CLM_FULL/setup" 2>&1 && return 0
  tail -n 5 "$CLM_FULL/setup"
  skip "this stage needs the Debian packages $*"
}

# build PRESET [TARGET...]: compiles; a stage whose build fails has failed.
build() {
  preset=$1
  shift
  if ! { cmake --preset "$preset" && cmake --build --preset "$preset" ${1:+--target "$@"}; } \
    >"$CLM_FULL/build" 2>&1; then
    grep -i -E -A 12 'error[: ]|FAILED' "$CLM_FULL/build" | head -n 60
    tail -n 5 "$CLM_FULL/build"
    echo "the build of preset $preset failed"
    count 0 1 0
    exit 1
  fi
}

count() { echo "$1 $2 $3" >>"$CLM_FULL/counts"; }

# count_ctest LOG: adds what a ctest run reported.
count_ctest() {
  awk '/^ *[0-9]+\/[0-9]+ Test +#/ {
         if (/ Passed /) passed++; else if (/\*\*\*Skipped/) skipped++; else failed++ }
       END { print passed + 0, failed + 0, skipped + 0 }' "$1" >>"$CLM_FULL/counts"
}

# run_ctest FOLDER [OPTION...]: runs tests and counts them; the status is ctest's. What a skipped
# test gave as its reason is printed.
run_ctest() {
  folder=$1
  shift
  status=0
  ctest --test-dir "$folder" --output-on-failure --no-tests=error \
    --output-log "$CLM_FULL/ctest" "$@" || status=$?
  count_ctest "$CLM_FULL/ctest"
  last=$folder/Testing/Temporary/LastTest.log
  if grep -q '\*\*\*Skipped' "$CLM_FULL/ctest"; then
    echo "reasons of skipped tests:"
    grep -h '^skipped: ' "$last" | sort | uniq -c
  fi
  return $status
}

# try WHAT COMMAND...: runs one check that is no ctest test, counts and prints its verdict. Output
# is shown only where it fails.
try() {
  what=$1
  shift
  if "$@" >"$CLM_FULL/try" 2>&1; then
    count 1 0 0
    echo "passed  $what"
  else
    status=$?
    count 0 1 0
    echo "FAILED  $what (status $status)"
    { grep -E -m 16 'ERROR|runtime error|^ +#[0-9] ' "$CLM_FULL/try"; tail -n 25 "$CLM_FULL/try"; } |
      sed 's/^/    /'
    return 1
  fi
}

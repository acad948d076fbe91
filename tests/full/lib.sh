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

# find_left MARK: the numbers of processes that were started with CLEMATIS_TEST_RUN=MARK.
find_left() {
  for file in /proc/[0-9]*/environ; do
    ! tr '\0' '\n' 2>/dev/null <"$file" | grep -qx "CLEMATIS_TEST_RUN=$1" || basename "${file%/*}"
  done
}

# end_left MARK: nothing that tests started may outlive them. What does is named, ended, and counted
# as a failure.
end_left() {
  turns=50
  while [ -n "$(find_left "$1")" ] && [ $turns -gt 0 ]; do
    turns=$((turns - 1))
    sleep 0.2
  done
  left=$(find_left "$1")
  [ -n "$left" ] || return 0
  echo "FAILED  processes outlive the tests that started them:"
  for pid in $left; do
    printf '    %s %s\n' "$pid" "$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")"
    kill -KILL "$pid" 2>/dev/null
  done
  count 0 1 0
  return 1
}

# run_ctest FOLDER [OPTION...]: runs tests and counts them; the status is ctest's, or 1 where a process
# is left. What a skipped test gave as its reason is printed.
run_ctest() {
  folder=$1
  shift
  status=0
  mark=$$-$(date +%s)
  CLEMATIS_TEST_RUN=$mark ctest --test-dir "$folder" --output-on-failure --no-tests=error \
    --output-log "$CLM_FULL/ctest" "$@" || status=$?
  end_left "$mark" || status=1
  count_ctest "$CLM_FULL/ctest"
  last=$folder/Testing/Temporary/LastTest.log
  if grep -q '\*\*\*Skipped' "$CLM_FULL/ctest"; then
    echo "reasons of skipped tests:"
    grep -h '^skipped: ' "$last" | sort | uniq -c
  fi
  return $status
}

# try WHAT COMMAND...: runs one check that is no ctest test, counts and prints its verdict. Output
# is shown only where it fails. Several may run at once.
try() {
  what=$1
  shift
  said=$(mktemp "$CLM_FULL/try.XXXXXX")
  if "$@" >"$said" 2>&1; then
    count 1 0 0
    echo "passed  $what"
  else
    status=$?
    count 0 1 0
    echo "FAILED  $what (status $status)"
    { grep -E -m 16 'ERROR|runtime error|^ +#[0-9] ' "$said"; tail -n 25 "$said"; } |
      sed 's/^/    /'
    return 1
  fi
}

# for_each FUNCTION FILE: calls FUNCTION with each line of FILE, as many lines at once as there are
# processors. Fails where one call did.
for_each() {
  workers=$(nproc)
  pids=
  for worker in $(seq 0 $((workers - 1))); do
    awk -v n="$workers" -v k="$worker" 'NR % n == k' "$2" >"$CLM_FULL/lines.$worker"
    call_each "$1" "$CLM_FULL/lines.$worker" &
    pids="$pids $!"
  done
  bad=0
  for pid in $pids; do
    wait "$pid" || bad=1
  done
  return $bad
}

call_each() {
  bad=0
  while IFS= read -r line; do
    "$1" "$line" </dev/null || bad=1
  done <"$2"
  return $bad
}

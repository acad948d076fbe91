# shellcheck shell=sh disable=SC2034 # the scripts that read this use the variables
# What the tests of the program have in common; read by each of them. $CLM_PROGRAM is the program,
# $work a fresh folder that is also the current one, $golden the recorded files.
set -u
here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/../.." && pwd)
golden=$here/../golden
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
checks=0
failures=0
# What a terminal or a launcher around the test would change.
unset OMPI_COMM_WORLD_SIZE PMIX_RANK SLURM_JOB_ID
export LC_ALL=C

# run ARGUMENT...: the program; its outputs are in ./out and ./err, its status in $status.
run() {
  what="clematis $*"
  "$CLM_PROGRAM" "$@" >"$work/out" 2>"$work/err"
  status=$?
  # While a driver's threads end, LeakSanitizer at times breaks down itself and hides the status.
  ! grep -q 'LeakSanitizer has encountered a fatal error' "$work/err" || hide_status
}

hide_status() {
  echo "LeakSanitizer broke down, so the status is not known: $what"
  status=hidden
}

# ranks COUNT ARGUMENT...: the same as ranks of one job. Where there is a script ./by_rank, the ranks
# run that with the arguments.
ranks() {
  count=$1
  shift
  what="mpirun -n $count clematis $*"
  (exec_ranks "$count" "$@") >"$work/out" 2>"$work/err"
  status=$?
}

# What is in the background then is mpirun itself.
exec_ranks() { # COUNT ARGUMENT...
  count=$1
  shift
  program=$CLM_PROGRAM
  [ ! -x "$work/by_rank" ] || program=$work/by_rank
  exec sh "$here/../support/ranks.sh" "$count" "$program" "$@"
}

# From here on LeakSanitizer is off: ranks that the program starts leak what Open MPI leaks (see
# tests/support/ranks.sh).
forgive_leaks() {
  ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
  export ASAN_OPTIONS
}

# fail TEXT: counts a failure and shows what the program said.
fail() {
  failures=$((failures + 1))
  printf 'FAILED: %s: %s\n' "$what" "$1"
  printf -- '--- stdout\n%s\n--- stderr\n%s\n' "$(tail -n 15 "$work/out")" "$(tail -n 15 "$work/err")"
}

# wait_for PATTERN PROCESS: until a line of ./out matches, or the process ends.
wait_for() {
  turns=0
  until grep -Eq -e "$1" out || ! kill -0 "$2" 2>/dev/null; do
    sleep 0.02
    turns=$((turns + 1))
    if [ $turns -gt 3000 ]; then
      fail "no line after a minute: $1"
      return
    fi
  done
}

check() { checks=$((checks + 1)); }

expect_status() { # STATUS
  [ "$status" != hidden ] || return 0
  check
  [ "$status" -eq "$1" ] || fail "status $status, expected $1"
}

# expect FILE PATTERN: a line of out or err matches the extended regular expression.
expect() {
  check
  grep -Eq -e "$2" "$work/$1" || fail "no line of std$1 matches: $2"
}

expect_none() { # FILE PATTERN
  check
  if grep -Eq -e "$2" "$work/$1"; then fail "a line of std$1 matches: $2"; fi
}

# An error is one line; warnings, and what a driver prints, may stand before it.
expect_error() { # STATUS PATTERN
  expect_status "$1"
  expect err "^clematis: .*$2"
  check
  lines=$(grep '^clematis: ' "$work/err" | grep -vc '^clematis: warning: ')
  [ "$lines" -eq 1 ] || fail "$lines lines of error, expected 1"
}

expect_file() { # PATH
  check
  [ -s "$1" ] || fail "there is no file $1"
}

expect_no_file() { # PATH
  check
  [ ! -e "$1" ] || fail "there is a file $1"
}

expect_same() { # TEXT TEXT
  check
  [ "$1" = "$2" ] || fail "'$1' is not '$2'"
}

# expect_near FOLDER FOLDER: the figures of two histories are equal to rounding.
expect_near() {
  check
  paste -d, "$1/history.csv" "$2/history.csv" | tr -d '\r' | awk -F, 'NR > 1 {
    half = NF / 2
    for (i = 1; i <= half; i++) {
      size = $i < 0 ? -$i : $i
      d = $i - $(i + half)
      if (d < 0) d = -d
      if (d > 1e-5 * (size > 1e-3 ? size : 1e-3)) { print "line " NR ": " $i, $(i + half); bad = 1 }
    }
  } END { exit bad || NR < 2 }' || fail "the histories of $1 and $2 differ"
}

# A model in which nothing jumps: sums in another order then change rounding alone.
smooth=$project/tests/train/smooth.json

# The digest of the weights that a training printed.
digest() { sed -n 's/^Weights: digest //p' "$work/out"; }

# A data set small enough to train on in a second; made once a test.
tiny() {
  [ -d tiny ] || "$CLM_PROGRAM" sample tiny --images 8 --quiet || exit 1
}

# Options of a training that takes no time.
small="--image-size 24 --batch-size 8 --split stratified"

need_device() {
  "$CLM_PROGRAM" devices >/dev/null 2>&1 && return
  echo "skipped: no OpenCL device"
  exit 77
}

need_ranks() {
  if ! command -v mpirun >/dev/null; then
    echo "skipped: mpirun is not installed (package openmpi-bin)"
    exit 77
  fi
  tiny
  ranks 2 train tiny --out probe --image-size 24 --epochs 1
  if grep -q 'built without MPI' "$work/err"; then
    echo "skipped: the program was built without MPI"
    exit 77
  fi
  rm -rf probe
}

# The last line of every test.
finish() {
  printf '%d checks, %d failures\n' "$checks" "$failures"
  [ "$failures" -eq 0 ] || exit 1
  exit 0
}

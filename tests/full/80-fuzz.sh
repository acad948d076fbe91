#!/bin/sh
# libFuzzer on every reader of outside bytes, CLM_FUZZ_SECONDS (60) seconds each, one a processor
. tests/full/lib.sh
ls tests/fuzz/fuzz_*.c >/dev/null 2>&1 || skip "there are no fuzz targets"
need clang-19 libclang-rt-19-dev
seconds=${CLM_FUZZ_SECONDS:-60}
names=$(find tests/fuzz -name "fuzz_*.c" | sed "s,.*/,,; s,\.c\$,," | sort)
# shellcheck disable=SC2086 # names are words
build fuzz $names
export ASAN_OPTIONS=allocator_may_return_null=1
result=0

# search NAME: leaves what it says and its status in files.
search() {
  # What was found before is where the next search begins.
  found=$cache/clematis-fuzz/$1
  mkdir -p "$found" build-fuzz/artifacts
  seeds=tests/fuzz/corpus/${1#fuzz_}
  [ -d "$seeds" ] || seeds=
  status=0
  # HDF5 asks for as much memory as a damaged size says, and gives it back untouched when the read
  # fails: what counts is memory used, the limit of rss.
  # shellcheck disable=SC2086 # no seeds is no argument
  "build-fuzz/fuzz/$1" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 \
    -malloc_limit_mb=1000000 -print_final_stats=1 -verbosity=0 -artifact_prefix="build-fuzz/artifacts/$1-" "$found" $seeds \
    >"$CLM_FULL/$1.log" 2>&1 || status=$?
  echo "$status" >"$CLM_FULL/$1.status"
}

# replay NAME: says it again; try calls it.
# shellcheck disable=SC2317
replay() {
  cat "$CLM_FULL/$1.log"
  return "$(cat "$CLM_FULL/$1.status")"
}

# tell_of NAME...
tell_of() {
  for told in "$@"; do
    try "$told for $seconds s" replay "$told" || result=1
    grep -h 'number_of_executed_units' "$said" | sed 's/stat::/    /'
  done
}

searching=
for name in $names; do
  search "$name" &
  searching="$searching $name"
  [ "$(echo "$searching" | wc -w)" -ge "$(nproc)" ] || continue
  wait
  # shellcheck disable=SC2086 # names are words
  tell_of $searching
  searching=
done
wait
# shellcheck disable=SC2086 # names are words
tell_of $searching
exit $result

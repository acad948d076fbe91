#!/bin/sh
# libFuzzer on every reader of outside bytes, CLM_FUZZ_SECONDS (60) seconds each
. tests/full/lib.sh
ls tests/fuzz/fuzz_*.c >/dev/null 2>&1 || skip "there are no fuzz targets"
need clang-19 libclang-rt-19-dev
seconds=${CLM_FUZZ_SECONDS:-60}
names=$(find tests/fuzz -name "fuzz_*.c" | sed "s,.*/,,; s,\.c\$,," | sort)
# shellcheck disable=SC2086 # names are words
build fuzz $names
export ASAN_OPTIONS=allocator_may_return_null=1
result=0
for name in $names; do
  # What was found before is where the next search begins.
  found=$cache/clematis-fuzz/$name
  mkdir -p "$found" build-fuzz/artifacts
  seeds=tests/fuzz/corpus/${name#fuzz_}
  [ -d "$seeds" ] || seeds=
  # shellcheck disable=SC2086 # no seeds is no argument
  try "$name for $seconds s" "build-fuzz/fuzz/$name" -max_total_time="$seconds" -timeout=20 \
    -rss_limit_mb=3000 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="build-fuzz/artifacts/$name-" "$found" $seeds || result=1
  grep -h 'number_of_executed_units' "$CLM_FULL/try" | sed 's/stat::/    /'
done
exit $result

#!/bin/sh
# ctest: labels=device,mpi,slow
# Ten times a rank is killed at a moment that nobody chose, and the job goes on from what there is:
# the final weights have the bits of a run that nobody disturbed.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
need_device
need_ranks
export CLM_PROGRAM
epochs=120
long="$small --batch-size 2 --epochs $epochs"
cat >by_rank <<'END'
#!/bin/sh
echo $$ >"pid.$OMPI_COMM_WORLD_RANK"
exec "$CLM_PROGRAM" "$@"
END
chmod +x by_rank

# shellcheck disable=SC2086 # a list of words
ranks 2 train tiny --out undisturbed $long
expect_status 0

# shellcheck disable=SC2086
set -- train tiny --out killed $long
random=4242
kills=0
for turn in 1 2 3 4 5 6 7 8 9 10; do
  what="killed for the ${turn}. time"
  : >out
  rm -f pid.*
  exec_ranks 2 "$@" >out 2>err &
  job=$!
  random=$(((random * 1103515245 + 12345) % 2147483648))
  wait_for '^Epoch ' "$job"
  # Up to 0.6 s from here, in either rank.
  sleep "0.$((random / 65536 % 6))$((random / 1024 % 10))"
  kill -KILL "$(cat pid.$((random / 16777216 % 2)))" 2>/dev/null && kills=$((kills + 1))
  wait "$job"
  status=$?
  check
  [ "$status" -eq 137 ] || [ "$status" -eq 0 ] || fail "status $status, expected 137"
  set -- train --resume --out killed
done
# One epoch more, so that both have something left to do.
ranks 2 train --resume --out undisturbed --epochs $((epochs + 1))
expect_status 0
whole=$(digest)
ranks 2 train --resume --out killed --epochs $((epochs + 1))
expect_status 0
expect_same "$(digest)" "$whole"
printf '%d kills\n' "$kills"
finish

#!/bin/sh
# Stopping a run by a signal, killing it, and going on: the weights are those of an undisturbed run.
# ctest: labels=device,slow
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
need_device
tiny
long="$small --epochs 40 --batch-size 2"

# shellcheck disable=SC2086 # a list of words
run train tiny --out undisturbed $long
expect_status 0
whole=$(digest)

# start ARGUMENT...: the program in the background; its number is in $pid.
start() {
  what="clematis $*"
  : >out
  "$CLM_PROGRAM" "$@" >out 2>err &
  pid=$!
}

for signal in INT TERM USR1 USR2; do
  # shellcheck disable=SC2086
  start train tiny --out "run $signal" $long
  wait_for '^Epoch [23]/' "$pid"
  kill "-$signal" "$pid"
  wait "$pid"
  status=$?
  expect_status 75
  expect err '^clematis: stopping after this step \(again to end at once\)$'
  expect err "^clematis: stopped on request; to go on: clematis train --resume --out 'run $signal'$"
  expect out '^Stopped in epoch [0-9]+ after step [0-9]+ of 18$'
  run train --resume --out "run $signal"
  expect_status 0
  expect out '^Going on in epoch [0-9]+ at step [0-9]+, after [0-9]+ images$'
  expect_same "$(digest)" "$whole"
done

# `timeout` signals the program and then its group: that is one request.
# shellcheck disable=SC2086
start train tiny --out at_once $long
wait_for '^Epoch 3/' "$pid"
kill -STOP "$pid"
for signal in TERM INT USR1 USR2; do kill "-$signal" "$pid"; done
kill -CONT "$pid"
wait "$pid"
status=$?
expect_status 75
run train --resume --out at_once
expect_status 0
expect_same "$(digest)" "$whole"

# A second one that comes later ends at once, here where nobody takes what is printed, and what was
# saved is whole.
mkfifo unread
# shellcheck disable=SC2217 # it only holds the pipe open
sleep 600 <unread &
reader=$!
what="clematis train, asked twice"
# shellcheck disable=SC2086
"$CLM_PROGRAM" train tiny --out twice $small --epochs 100000 --progress json >unread 2>err &
pid=$!
size=0
written=0
until [ "$size" -gt 0 ] && [ "$written" -eq "$size" ]; do
  kill -0 "$pid" || break
  size=$written
  sleep 0.5
  [ ! -e twice/history.csv ] || written=$(wc -c <twice/history.csv)
done
kill -USR1 "$pid"
sleep 0.6
kill -TERM "$pid"
wait "$pid"
status=$?
kill "$reader"
expect_status 143
expect err '^clematis: stopping after this step \(again to end at once\)$'
run train --resume --out twice --epochs 1
expect_status 0

# kill -9 at any moment, saving included: every file under its own name can be read.
# shellcheck disable=SC2086
start train tiny --out killed $long
for delay in 0.9 0.5 0.7 0.6 0.8 0.65 0.55 0.75; do
  wait_for '^Epoch ' "$pid"
  sleep "$delay"
  kill -9 "$pid" 2>/dev/null
  wait "$pid" 2>/dev/null
  for file in killed/*.keras killed/checkpoints/*.keras; do
    [ -e "$file" ] || continue
    run summary "$file"
    expect_status 0
  done
  start train --resume --out killed
done
wait "$pid"
status=$?
expect_status 0
check
if ! grep -q '^Nothing to do' out; then expect_same "$(digest)" "$whole"; fi
check
left=$(find killed -name '.*.tmp' -o -name '*.tmp' | head -n 3)
[ -z "$left" ] || fail "temporary files are left: $left"

# The same where a checkpoint follows every step, so that nearly every kill meets one half written:
# the run goes on in the middle of an epoch.
rm -rf killed
# shellcheck disable=SC2086
start train tiny --out killed $long --checkpoint-epochs 0 --checkpoint-steps 1 --keep-checkpoints 2
for delay in 0.4 0.3 0.5 0.35 0.45; do
  wait_for '^Epoch ' "$pid"
  sleep "$delay"
  kill -9 "$pid" 2>/dev/null
  wait "$pid" 2>/dev/null
  for file in killed/*.keras killed/checkpoints/*.keras; do
    [ -e "$file" ] || continue
    run summary "$file"
    expect_status 0
  done
  check
  [ "$(find killed/checkpoints -name 'images-*.keras' | wc -l)" -ge 1 ] || fail 'no checkpoint'
  start train --resume --out killed
done
wait "$pid"
status=$?
expect_status 0
expect out '^Going on in epoch [0-9]+ at step [0-9]+'
check
if ! grep -q '^Nothing to do' out; then expect_same "$(digest)" "$whole"; fi

# The newest checkpoint is spoiled: the one before it serves.
# shellcheck disable=SC2086
run train tiny --out spoiled $small --epochs 3
newest=$(find spoiled/checkpoints -name '*.keras' | sort | tail -n 1)
cp "$newest" whole
head -c $(($(wc -c <whole) * 9 / 10)) whole >"$newest"
run train --resume --out spoiled --epochs 4
expect_status 0
expect err "warning: .*$(basename "$newest")"
expect out '^Going on in epoch 3 '
finish

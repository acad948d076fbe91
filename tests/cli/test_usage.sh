#!/bin/sh
# Options and arguments: help, mistakes and what is said about them. Needs no device.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

run
expect_status 64
expect err '^usage: clematis COMMAND'
expect_none out .

for words in --help -h help; do
  run $words
  expect_status 0
  expect out '^usage: clematis COMMAND'
  expect out '^  train +DATA'
  expect_none err .
done
run version
expect_status 0
expect out '^clematis [0-9]+\.[0-9]+\.[0-9]+$'
run --version
expect_status 0

for command in train evaluate predict summary check sample devices selftest tune version help; do
  run $command --help
  expect_status 0
  expect out "^usage: clematis $command"
  expect out '^  --help '
  cp out by-option
  run help $command
  expect_same "$(cat out)" "$(cat by-option)"
done
run train --help
check
if awk 'length > 80' out | grep -q .; then fail "a line of over 80 columns"; fi
expect out '\(default: 180x180\)'
expect out '^  --\[no-\]shuffle '

# Commands.
run trian x
expect_error 64 "no command 'trian'; did you mean 'train'\?"
run xyzzy
expect_error 64 "no command 'xyzzy'; .clematis help"
run help xyzzy
expect_error 64 "no command 'xyzzy'"

# Arguments.
run train
expect_error 64 'needs DATA'
run evaluate model
expect_error 64 'needs MODEL DATA'
run predict model
expect_error 64 'needs MODEL IMAGE'
run summary a b
expect_error 64 "'b' is one too many"
run devices now
expect_error 64 "takes no arguments: 'now'"
run train a b
expect_error 64 "'b' is one too many"

# Names of options.
run train x --epoch 3
expect_error 64 'no option --epoch; did you mean --epochs\?'
run train x --learning_rat 3
expect_error 64 'did you mean --learning-rate\?'
run train x --zzz
expect_error 64 'no option --zzz; see .clematis train --help'
run train x --top 3
expect_error 64 -- '--top is no option of .clematis train'
run evaluate x y --epochs 3
expect_error 64 -- '--epochs is no option of .clematis evaluate'
run train x --no-epochs
expect_error 64 'no option --no-epochs'
run train x -e
expect_error 64 'no option -e'

# Values.
run train x --epochs
expect_error 64 -- '--epochs: a value is missing'
for value in 0 -1 x 1.5 '' 99999999999999999999 ' 3' 3x; do
  run train x --epochs "$value"
  expect_error 64 'give a whole number from 1 to 1000000'
done
run train x --validation-split=1
expect_error 64 'give a number from 0 to 0.999'
for value in nan inf -1 x; do
  run train x --learning-rate $value
  expect_error 64 'give a number from 0'
done
run train x --split random
expect_error 64 'give one of keras\|stratified'
run train x --monitor f1
expect_error 64 'give one of val_loss'
for value in 180x 0x180 x 180x180x3 20000; do
  run train x --image-size $value
  expect_error 64 'give HEIGHTxWIDTH'
done
for value in 10X 1.5G -1 K 99999999999G; do
  run train x --cache-limit $value
  expect_error 64 'give a number of bytes'
done
run train x --out ''
expect_error 64 -- '--out: the value is empty'
run train x --shuffle=maybe
expect_error 64 'give true or false'
run train x --crop-to-aspect-ratio --pad-to-aspect-ratio
expect_error 64 'exclude each other'
run train x --quiet --verbose
expect_error 64 'exclude each other'
run train x --resume
expect_error 64 -- '--resume needs --out'

# All ways to give a value, and the end of the options.
number=0
for form in '--epochs 3' '--epochs=3' '--batch_size=4' '--no-shuffle' '--shuffle=false' '--nesterov'; do
  # shellcheck disable=SC2086 # two words
  run train nowhere $form --out "run-$((number += 1))"
  expect_error 66 'nowhere'
done
run check -- --strange-name
expect_error 66 'strange-name'

# Configuration files.
printf '{"epochs": 3, "data": "nowhere", "learning_rate": 0.01, "shuffle": false, "loss": null}' >good.json
run train --config good.json --out run-a
expect_error 66 'nowhere'
run train elsewhere --config good.json --out run-b
expect_error 66 'elsewhere'
run train --config missing.json
expect_error 66 'missing.json'
printf '{"epochs": ' >broken.json
run train --config broken.json
expect_error 65 'broken.json.*line 1'
printf '{"epoch": 3}' >wrong.json
run train --config wrong.json
expect_error 64 'wrong.json: epoch: there is no such option; did you mean epochs\?'
printf '{"epochs": 0}' >range.json
run train --config range.json
expect_error 64 'range.json: epochs 0: give a whole number'
printf '{"out": "x"}' >foreign.json
run train --config foreign.json
expect_error 64 'out: there is no such option'

finish

#!/bin/sh
# The whole program: draw, train, evaluate, predict, go on. Also the run folder and its files.
# ctest: labels=device,slow
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
need_device
tiny

# shellcheck disable=SC2086 # a list of words
run train tiny --out 'my run' --epochs 2 $small
expect_status 0
expect out '^Found 40 images of 5 classes in tiny$'
expect out '^Run folder: my run$'
expect out '^Device: [a-z]+[0-9]+'
expect out '^Epoch 1/2 - [0-9]+s - [0-9]+[mu]?s/step - loss: [0-9.]+ - accuracy: [0-9.e-]+ - val_loss'
expect out '^Epoch 2/2 - '
expect out '^Best epoch: [12] of 2 \(val_loss: '
expect out '^Model: my run/model.keras'
expect_none err '^clematis: '
expect_none out "$(printf '[\r\033]')"
first=$(digest)
for name in model.keras best.keras config.json classes.txt training_files.txt \
  validation_files.txt history.csv history.json; do
  expect_file "my run/$name"
done
expect_same "$(tr '\n' ' ' <'my run/classes.txt')" 'buttercup clematis daisy sunflower tulip '
expect_same "$(grep -c . 'my run/history.csv')" 3

# Same seed, same bits; another seed, other weights, the same split.
# shellcheck disable=SC2086
run train tiny --out again --epochs 2 $small
expect_same "$(digest)" "$first"
cmp -s 'my run/training_files.txt' again/training_files.txt || fail 'two splits of one seed'
# shellcheck disable=SC2086
run train tiny --out other --epochs 2 $small --seed 7
expect_status 0
check
if [ "$(digest)" = "$first" ]; then fail 'another seed gave the same weights'; fi
sort 'my run/training_files.txt' >one
sort other/training_files.txt >two
expect_same "$(cat one)" "$(cat two)"

# The configuration of a run makes the run again.
run train --config 'my run/config.json' --out by-config
expect_status 0
expect_same "$(digest)" "$first"

# A second run into the same folder is refused, and nothing is lost.
run train tiny --out 'my run' --epochs 1
expect_error 64 'my run already holds a run'
run summary 'my run/model.keras'
expect_status 0
expect out '^.*conv2d_2 \(Conv2D\)'
expect out 'Total params'

# Going on: two more epochs give what four at once give.
# shellcheck disable=SC2086
run train tiny --out four --epochs 4 $small
four=$(digest)
run train --resume --out 'my run' --epochs 4
expect_status 0
expect out '^Going on in epoch 3 at step 1, after 70 images$'
expect_none out '^Epoch [12]/'
expect_same "$(digest)" "$four"
run train --resume --out 'my run'
expect_status 0
expect out '^Nothing to do: the run has had its 4 epochs'
run train --resume --out nowhere
expect_status 64

# Files that cannot be used are named once, and listed in the run folder.
cp -r tiny broken
head -c 300 tiny/daisy/daisy-001.png >broken/daisy/cut.png
# shellcheck disable=SC2086
run train broken --out left-out --epochs 1 $small
expect_status 0
expect_same "$(grep -c 'daisy/cut.png' err)" 1
expect err 'warning: 1 file cannot be used and is left out; bad_files.txt'
expect_same "$(grep -c 'daisy/cut.png' left-out/bad_files.txt)" 1
# shellcheck disable=SC2086
run train broken --out strict --epochs 1 $small --strict
expect_error 65 'daisy/cut.png'

# Without --out a fresh folder under runs/.
# shellcheck disable=SC2086
run train tiny --epochs 1 $small --quiet
expect_status 0
expect out '^Model: runs/[0-9-]+/model.keras'
expect_none out 'Epoch'

# The model is used.
run evaluate 'my run/model.keras' tiny
expect_status 0
expect out '^40 images - accuracy: [01]\.[0-9]+ - loss: '
run evaluate 'my run/model.keras' tiny --subset validation --split stratified --json
expect_status 0
expect out '^\{"loss": [0-9.]+, "accuracy": [0-9.e-]+, "images": [0-9]+, "seconds": '
run predict 'my run/model.keras' tiny/daisy/daisy-001.png tiny/tulip/tulip-001.png
expect_status 0
expect_same "$(grep -c . out)" 2
expect out '^tiny/daisy/daisy-001.png: [a-z]+ [0-9.]+ %, [a-z]+ [0-9.]+ %, [a-z]+ [0-9.]+ %$'
run predict 'my run/best.keras' tiny/daisy/daisy-001.png --json --top 9
expect_status 0
expect_same "$(head -n 1 out)" '['
expect_same "$(grep -o '"probability"' out | grep -c .)" 5
run predict 'my run/model.keras' "$golden/pixels/src/png_1x1.png"
expect_status 0

# Training goes on from a model, and early stopping ends it.
run train tiny --model 'my run/model.keras' --out further --epochs 30 --learning-rate 0 \
  --early-stopping 2 --split stratified
expect_status 0
expect out '^Stopped early: no better figure for 2 epochs'
expect_none out '^Epoch 4/'
run train tiny --out sgd --epochs 1 --image-size 16x24 --optimizer sgd --momentum 0.9 --nesterov \
  --learning-rate 0.01 --cache off --interpolation nearest --pad-to-aspect-ratio --threads 2 \
  --validation-split 0 --checkpoint-epochs 0
expect_status 0
expect_none out 'val_loss'

run devices
expect_status 0
expect out '^\*[a-z]+[0-9]+ '
run devices --json
expect_status 0
expect out '"compute_units": [0-9]+'

# A result that cannot be written is told.
if [ -c /dev/full ]; then
  what='clematis version >/dev/full'
  "$CLM_PROGRAM" version >/dev/full 2>err
  status=$?
  : >out
  expect_error 74 'standard output'
fi
finish

#!/bin/sh
# Folders of photographs, good and bad: `check`, which needs no device.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
tiny

run check tiny
expect_status 0
expect out '^Found 40 images of 5 classes in tiny$'
expect out '^  daisy +2 +[0-9]+ +[0-9]+$'
expect out '^  total +32 +8$'
expect out '^All images can be used.$'
expect err "^clematis: warning: class 'clematis' has no image for validation"
cp out once
run check tiny
expect_same "$(cat out)" "$(cat once)"
run check tiny --split-seed 7 --split stratified
expect_status 0
expect out '^  daisy +2 +[67] +[12]$'

# The same drawing for the same seed, another one for another.
run sample again --images 8 --quiet
expect_status 0
check
diff -r tiny again || fail 'two drawings of one seed differ'
run sample other --images 8 --seed 2
expect_status 0
check
if cmp -s tiny/daisy/daisy-001.png other/daisy/daisy-001.png; then fail 'two seeds, one picture'; fi
run sample 'a folder/with spaces' --images 1
expect_status 0
expect_file 'a folder/with spaces/tulip/tulip-001.png'
run check 'a folder/with spaces'
expect_status 0
run sample /dev/null/x
expect_error 74 /dev/null

# Folders that hold nothing to train on.
run check nowhere
expect_error 66 'nowhere'
mkdir empty
run check empty
expect_error 65 'no class folders in empty'
mkdir flat
cp tiny/daisy/daisy-001.png flat
run check flat
expect_error 65 'no class folders in flat.*flat/'
mkdir -p hollow/a hollow/b
run check hollow
expect_error 65 'hollow'
run check tiny/daisy/daisy-001.png
expect_error 66 'daisy-001.png'
printf x >file.txt
run check file.txt
expect_error 66 'file.txt'

# A class of its own for everything that can be wrong with a picture.
cp -r tiny broken
mkdir broken/bad
src=$golden/pixels/src
: >broken/bad/zero.jpg
printf 'hello\n' >broken/bad/text.png
head -c 300 tiny/daisy/daisy-001.png >broken/bad/cut.png
head -c 200 "$src/jpeg_420.jpg" >broken/bad/cut.jpg
cp "$src/gif_37x53.gif" broken/bad/gif-named.jpg
cp "$src/bmp_24.bmp" broken/bad/bitmap.bmp
# The head of a PNG file of 20000 x 20000 pixels.
{
  printf '\211PNG\015\012\032\012'
  printf '\000\000\000\015IHDR\000\000N\040\000\000N\040\010\002\000\000\000\154\022\321\156\000\000\040\000IDAT'
  head -c 9000 /dev/zero
} >broken/bad/huge.png
{
  head -c 3000 tiny/tulip/tulip-001.png
  printf 'XXXXXXXX'
  tail -c +3009 tiny/tulip/tulip-001.png
} >broken/bad/damaged.png
cp "$src/png_1x1.png" broken/bad/one-pixel.png
cp "$src/png_1x1.png" broken/bad/UPPER.PNG
cp "$src/png_named_as_jpeg.jpg" broken/bad/named-otherwise.jpg
printf x >broken/bad/.hidden.jpg
printf x >broken/bad/notes.txt
run check broken
expect_status 0
expect err 'warning: [0-9]+ files cannot be used and are left out'
for name in zero.jpg text.png cut.png cut.jpg gif-named.jpg huge.png damaged.png; do
  expect err "warning:   bad/$name: ..."
done
expect err 'bad/gif-named.jpg: .*GIF'
expect_none err 'one-pixel|UPPER|named-otherwise|hidden|notes'
expect out 'entries were ignored'
expect_none out '^All images'
run check broken --strict
expect_error 65 'bad/'

# Odd numbers of classes and images.
mkdir one
cp -r tiny/daisy one
run check one
expect_status 0
expect err 'one class'
mkdir -p single/a
cp tiny/daisy/daisy-001.png single/a
run check single
expect_status 0
cp -r tiny gap
mkdir gap/zzz
run check gap
expect_status 0
expect err "warning: class 'zzz' has no image to train on"
cp tiny/daisy/daisy-001.png gap/zzz
run check gap
expect_status 0
expect err "class 'zzz' has no image (for validation|to train on)"

# Memory that is missing is told, at whatever place.
for number in 1 2 5 17 60; do
  CLEMATIS_TEST_FAIL_ALLOC=$number run check tiny --threads 1
  expect_error 71 'memory'
done
finish

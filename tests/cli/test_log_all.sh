#!/bin/sh
# --log-all: what every rank says, in files of their own.
# ctest: labels=device,mpi
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
need_device
need_ranks
place='^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z \[rank'

# expect_log FILE RANK PATTERN: the file belongs to the rank and has such a line.
expect_log() {
  expect_file "$1"
  check
  grep -Eq "$place $2 host [^ ]+\] $3" "$1" || fail "no line of $1 matches: $3"
  check
  ! grep -Evq "$place $2 host [^ ]+\] " "$1" || fail "a line of $1 does not begin as it should"
}

# shellcheck disable=SC2086 # a list of words
ranks 2 train tiny --out run --epochs 1 $small --log-all
expect_status 0
expect_none err 'log file'
for rank in 0 1; do
  for line in 'Found 40 images' 'Device: ' 'conv2d' 'Epoch 1/1 - [0-9]+s' 'Weights: digest'; do
    expect_log run/logs/rank-000$rank.log $rank "$line"
  done
done
expect_same "$(grep -c '^Epoch 1/1' out)" 1

# The same files go on. An error of all is in all of them.
ranks 2 train --resume --out run --epochs 2
expect_status 0
expect_same "$(grep -c 'Epoch [12]/[12] - [0-9]*s' run/logs/rank-0001.log)" 2
# shellcheck disable=SC2086
ranks 2 train tiny --out x $small --optimizer sgd --learning-rate 1e9 --log-all --progress json
expect_status 65
for rank in 0 1; do
  expect_log x/logs/rank-000$rank.log $rank '.*is not a finite number'
done

# Rank 1 does not see the run folder: it warns, makes nothing, and trains on; or it has a folder.
mkdir elsewhere
cat >by_rank <<'END'
#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" != 1 ] || cd elsewhere || exit 1
exec "$CLM_PROGRAM" "$@"
END
chmod +x by_rank
export CLM_PROGRAM
# shellcheck disable=SC2086
ranks 2 train "$work/tiny" --out apart --epochs 1 $small --log-all
expect_status 0
expect err '\[rank 1 host .*\] clematis: warning: .*no log file: apart/logs/rank-0001.log.*--log-folder'
expect_same "$(ls -A elsewhere)" ''
expect_log apart/logs/rank-0000.log 0 'Weights: digest'
# shellcheck disable=SC2086
ranks 2 train "$work/tiny" --out beside --epochs 1 $small --log-folder mine
expect_status 0
expect_none err 'log file'
expect_log mine/rank-0000.log 0 'Weights: digest'
expect_log elsewhere/mine/rank-0001.log 1 'Weights: digest'

# A disk that is full.
if [ -w /dev/full ]; then
  mkdir full
  ln -s /dev/full full/rank-0000.log
  # shellcheck disable=SC2086
  run train tiny --out filled --epochs 1 $small --log-folder full
  expect_status 0
  expect err 'warning: the log file of this rank ends here: No space left'
fi
finish

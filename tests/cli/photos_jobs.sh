#!/bin/sh
# The tutorial's two jobs on the real photographs, by its own numbers; takes long, so ctest does not
# run it. One machine with two devices (the halves of its processor), then four machines with one
# device each (network namespaces, so root is needed).
#
#   CLM_PROGRAM=build/clematis CLEMATIS_PHOTOS=flower_photos sh tests/cli/photos_jobs.sh [EPOCHS]
# shellcheck disable=SC2154 # numbers of processes are set by eval
export CLM_EPOCHS="${1:-${CLM_EPOCHS:-10}}"
CLM_PROGRAM=$(realpath "${CLM_PROGRAM:?the program, as build/clematis}")
CLEMATIS_PHOTOS=$(realpath "${CLEMATIS_PHOTOS:?the folder flower_photos}")
export CLM_PROGRAM CLEMATIS_PHOTOS

# shellcheck source=tests/cli/hosts.sh
. "$(dirname "$0")/hosts.sh"
make_hosts 4
need_device
start_sshds
mkdir runs
for i in 2 3 4; do make_read_only "$i" runs; done

# expect_job FOLDER RANKS: the chief saved a model that is as good as Keras' one is.
expect_job() {
  grep -E '^(Found|Ranks|Device|Epoch|Best|Time|Weights|rank|[0-9]+ +cpu)' out
  cat err
  expect_status 0
  expect out "^Ranks: $2\$"
  for file in model.keras best.keras history.csv; do expect_file "runs/$1/$file"; done
  check
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "val_accuracy") at = i }
    NR > 1 && $at > best { best = $at }
    END { exit !(best >= 0.55) }' "runs/$1/history.csv" || fail "no epoch reached 55 %"
}

run launch --replica-count 1 --accelerator-count 2 --machine-type n1-standard-8 \
  --accelerator-type NVIDIA_TESLA_V100 --base-output-dir "$work/runs/two-devices" \
  -- "$CLEMATIS_PHOTOS" --devices cpu0/2 --epochs "$CLM_EPOCHS"
expect_job two-devices 2
run_on 1 launch --replica-count 4 --accelerator-count 1 --machine-type n1-standard-8 \
  --accelerator-type NVIDIA_TESLA_V100 --engine hosts --hosts host1,host2,host3,host4 \
  --ssh-port 2222 --env "CLEMATIS_CACHE=$CLEMATIS_CACHE" --base-output-dir "$work/runs/four-hosts" \
  -- "$CLEMATIS_PHOTOS" --epochs "$CLM_EPOCHS"
expect_job four-hosts 4
expect_no_ranks 5
for i in $numbers; do eval "end \$sshd$i"; done
finish

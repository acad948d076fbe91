#!/bin/sh
# ctest: labels=slow,hosts,jobs
# Trainings over three hosts that lose a rank, a daemon, a link, or an answer: the job ends soon and
# by name, its last checkpoint is whole, nothing stays behind, and the launcher goes on from it.
# shellcheck disable=SC2154 # numbers of processes are set by eval

# shellcheck source=tests/cli/hosts.sh
. "$(dirname "$0")/hosts.sh"
make_hosts 3
need_device
tiny
long="$small --epochs 300 --batch-size 2 --peer-timeout 4"
start_sshds

# start FOLDER OPTION...: a job over the three hosts in the background; what comes before the fault
# is awaited.
start() {
  folder=$1
  shift
  what="training on three hosts into $folder"
  # shellcheck disable=SC2086 # a list of words
  exec_on 1 "$CLM_PROGRAM" launch --replica-count 3 --engine hosts --hosts host1,host2,host3 \
    --ssh-port 2222 --env "CLEMATIS_CACHE=$CLEMATIS_CACHE" --base-output-dir "$work/$folder" "$@" \
    -- "$work/tiny" $long >out 2>err &
  job=$!
  wait_for '^Epoch 3/' "$job"
  begin=$(date +%s)
}

# find_on HOST TEXT: the number of the process there whose words hold the text.
find_on() {
  eval "target=\$pid$1"
  home=$(readlink "/proc/$target/ns/uts")
  for place in /proc/[0-9]*; do
    [ "$(readlink "$place/ns/uts")" = "$home" ] || continue
    case $(tr '\0' ' ' 2>/dev/null <"$place/cmdline") in
      *"$2"*)
        echo "${place#/proc/}"
        return
        ;;
    esac
  done
}

# finish_job SECONDS: it ended within so long.
finish_job() {
  wait "$job"
  status=$?
  took=$(($(date +%s) - begin))
  check
  [ "$took" -le "$1" ] || fail "the end took $took s"
}

# Whatever happened, the run goes on from what it had; one rank shows it.
expect_to_go_on() {
  expect_no_ranks 10
  run train --resume --out "$folder" --epochs 4
  what="going on in $folder, alone"
  expect_status 0
  expect out '^Going on in epoch [3-9][0-9]* at step [0-9]+, after [0-9]+ images$|^Nothing is left'
}

# A rank is killed.
start killed --max-restarts 0
kill -KILL "$(find_on 2 'clematis train ')"
finish_job 15
expect_status 137
expect err 'process rank 1 with PID [0-9]+ on node host2 exited on signal 9'
expect_to_go_on

# The daemon of a host is killed.
start daemon --max-restarts 0
kill -KILL "$(find_on 3 'orted ')"
finish_job 15
expect_status 205
expect err 'Remote daemon: .* on node host3$'
expect_to_go_on

# A rank is silent.
start silent --max-restarts 0
kill -STOP "$(find_on 3 'clematis train ')"
finish_job 20
expect_status 69
expect err 'in epoch [0-9]+, after step [0-9]+: .*no answer for 4\.0 s from .*rank 2 \(host3\)'
expect_to_go_on

# A link goes down. The ranks notice it, mpirun does not.
start unlinked --max-restarts 0
on 3 ip link set eth0 down
finish_job 45
expect_status 69
expect err 'in epoch [0-9]+, after step [0-9]+: .*no answer for 4\.0 s from .*rank 2 \(host3\)'
expect err 'mpirun still waits for other hosts, which may be lost: ending it'
check
[ -z "$(find_on 3 'clematis train ')" ] || fail "the rank on host3 is left running"
# The daemon there learns it when the network is back.
on 3 ip link set eth0 up
expect_no_ranks 60
expect_to_go_on

# The launcher goes on from the checkpoint, to the weights of a run that nobody disturbed.
long="$small --epochs 20 --batch-size 2 --peer-timeout 4"
start whole
finish_job 120
expect_status 0
whole=$(digest)
start restarted
kill -KILL "$(find_on 2 'clematis train ')"
finish_job 120
expect_status 0
expect err 'the job ended with status 137; restart 1 of at most 3 without progress$'
expect out '^Going on in epoch [0-9]+ at step [0-9]+, after [0-9]+ images$'
expect_same "$(digest | tail -n 1)" "$whole"
expect_no_ranks 5
finish

#!/bin/sh
# What bench_scale measures on hosts that are network namespaces, as hosts.sh makes them.
# Prints, for bench_scale:
#   start SECONDS                           from launch on three hosts to the first step
#   net RANKS BATCH DELAY_MS RATE_MBIT FIGURES...   steps and sums of so many ranks, a host each
# and ends with 77 behind "skipped: REASON" where hosts cannot be made.
# shellcheck disable=SC2154 # numbers of processes are set by eval

# shellcheck source=tests/cli/hosts.sh
. "$(dirname "$0")/hosts.sh"
quick=${CLM_SCALE_QUICK:-no}
batch=32

die() {
  echo "scale_hosts: $1"
  tail -n 20 "$work/out" "$work/err" 2>/dev/null
  exit 1
}

need_device
make_hosts 8
start_sshds

# ---- launch to first step ----

"$CLM_PROGRAM" sample flowers --images 40 --quiet || die "no pictures"
member='"machine_spec": {"machine_type": "n1-standard-4"}, "container_spec": {"image_uri": "i",
  "command": ["'"$CLM_SCALE_PROGRAM"'", "--first-step", "'"$work/flowers"'", "'"$work/first"'"]}'
printf '[{%s}, {"replica_count": 2, %s}]\n' "$member" "$member" >job.json

first_step() {
  rm -rf first
  begin=$(date +%s.%N)
  run_on 1 launch job.json --engine hosts --hosts host1,host2,host3 --ssh-port 2222 --net eth0 \
    --max-restarts 0 --env "CLEMATIS_CACHE=$CLEMATIS_CACHE"
  at=$(sed -n 's/^first step at //p' out | head -n 1)
  [ -n "$at" ] || die "the launched job made no step (status $status)"
}
first_step # builds the kernels that are not on disk
runs=5
[ "$quick" = no ] || runs=2
for _ in $(seq "$runs"); do
  first_step
  awk -v begin="$begin" -v at="$at" 'BEGIN { printf "start %.3f\n", at - begin }'
done

# ---- ranks on slow links ----

command -v tc >/dev/null || skip "there is no tc (package iproute2): slow links are not measured"

# on_hosts COMMAND...: in the network of each host.
on_hosts() {
  for i in $numbers; do
    eval "host=\$pid$i"
    nsenter -t "$host" -n "$@" || return 1
  done
}

# How links are made late: netem, else a program that carries the packets.
late_by=netem
nsenter -t "$pid1" -n tc qdisc add dev eth0 root netem delay 1ms 2>/dev/null || late_by=relay
nsenter -t "$pid1" -n tc qdisc del dev eth0 root 2>/dev/null
echo "late by $late_by"

# limit DEVICE RATE_MBIT [DELAY_MS, of netem]
limit() {
  speed=
  [ "$2" = 0 ] || speed="rate $2mbit"
  if [ $late_by = netem ]; then
    # shellcheck disable=SC2086 # two words
    on_hosts tc qdisc add dev "$1" root netem limit 100000 delay "${3:-0}ms" $speed
  else
    on_hosts tc qdisc add dev "$1" root tbf rate "$2mbit" burst 256kb latency 500ms
  fi 2>/dev/null || skip "tc is refused here: slow links are not measured"
}

# carry DELAY_MS: the hosts reach each other through a program that lets packets wait.
relay=
carry() {
  for i in $numbers; do eval "set -- \"\$@\" \"\$pid$i\""; done
  delay_us=$(awk -v ms="$1" 'BEGIN { print ms * 1000 }')
  shift
  "$CLM_SCALE_PROGRAM" --late-wire "$delay_us" "$@" 2>err.wire &
  relay=$!
  for i in $numbers; do
    eval "host=\$pid$i"
    until nsenter -t "$host" -n ip link show late0 >/dev/null 2>&1; do
      kill -0 "$relay" 2>/dev/null || skip "links cannot be made late here: $(cat err.wire)"
      sleep 0.05
    done
    nsenter -t "$host" -n sh -c 'echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
      echo 0 >/proc/sys/net/ipv4/conf/late0/rp_filter' 2>/dev/null
    nsenter -t "$host" -n ip link set late0 up
    nsenter -t "$host" -n ip route add 10.77.0.0/28 dev late0 src "10.77.0.$i"
  done
}

# set_net DELAY_MS RATE_MBIT: of each link, one way; 0: as it is.
set_net() {
  on_hosts tc qdisc del dev eth0 root 2>/dev/null
  [ -z "$relay" ] || end "$relay"
  relay=
  if [ $late_by = netem ]; then
    [ "$1 $2" = '0 0' ] || limit eth0 "$2" "$1"
    return
  fi
  device=eth0
  if [ "$1" != 0 ]; then
    carry "$1"
    device=late0
  fi
  [ "$2" = 0 ] || limit $device "$2"
}

# turn RANKS STEPS SUMS: the job's answer.
turn() {
  for rank in $(seq 0 $(($1 - 1))); do
    # shellcheck disable=SC2016 # the inner shell's
    timeout 120 sh -c 'echo "$1" >"$0"' "pipes/turn.$rank" "$2 $3" || return 1
  done
  [ "$2" -eq 0 ] || timeout 120 head -n 1 pipes/reply
}

measure_ranks() { # COUNT DELAY:RATE...
  count=$1
  shift
  rm -rf pipes
  mkdir pipes
  for rank in $(seq 0 $((count - 1))); do mkfifo "pipes/turn.$rank"; done
  mkfifo pipes/reply
  for i in $(seq "$count"); do echo "host$i slots=1"; done >hostfile
  set_net 0 0
  exec_on 1 mpirun --allow-run-as-root -np "$count" --hostfile hostfile --bind-to none \
    --mca plm_rsh_args "-p 2222" --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 \
    -x CLEMATIS_CACHE -x OMPI_MCA_mpi_yield_when_idle \
    "$CLM_SCALE_PROGRAM" --rank "$work/pipes" "$batch" whole >out 2>err &
  job=$!
  turn "$count" 2 1 >/dev/null || die "$count ranks do not start"
  for net in "$@"; do
    delay=${net%:*}
    rate=${net#*:}
    set_net "$delay" "$rate"
    turn "$count" 1 16 >/dev/null # TCP's windows grow
    figures=$(turn "$count" "$steps" "$sums") || die "$count ranks do not answer"
    echo "net $count $batch $delay $rate $figures"
  done
  set_net 0 0
  turn "$count" 0 0
  wait "$job"
}

steps=6
sums=4
nets="0:0 0.2:0 1:0 5:0 0:4000 0:1000 1:1000 0:0"
if [ "$quick" = yes ]; then
  steps=4
  sums=3
  nets="0:0 1:0 0:1000 0:0"
fi
measure_ranks 1 0:0 0:0
# shellcheck disable=SC2086 # a list
for ranks in 2 4 8; do measure_ranks "$ranks" $nets; done
for i in $numbers; do eval "end \$sshd$i"; done
exit 0

#!/bin/sh
# jobs over hosts that are network namespaces, and over a real Slurm of two nodes
. tests/full/lib.sh
PATH=$PATH:/usr/sbin:/sbin
missing=
for program in sshd ip munged slurmctld slurmd; do
  command -v "$program" >/dev/null || missing="$missing $program"
done
# On a machine with systemd these packages would start servers.
if [ -n "$missing" ] && [ -d /run/systemd/system ]; then
  skip "there is no$missing: packages openssh-server iproute2 slurm-wlm munge"
fi
need openssh-client openssh-server iproute2 slurm-wlm munge
build release
run_ctest build --label-regex '^hosts$'

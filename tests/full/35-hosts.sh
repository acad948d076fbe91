#!/bin/sh
# jobs over hosts that are network namespaces, and over a real Slurm of two nodes
. tests/full/lib.sh
need openssh-client openssh-server iproute2 slurm-wlm munge
build release
run_ctest build --label-regex '^hosts$'

#!/bin/sh
# ranks.sh COUNT PROGRAM [ARGUMENT...]: runs a program as COUNT ranks of one job on this machine.
# Exits with the program's status; 77 where mpirun is missing or all ranks skip.
count=$1
shift
if ! command -v mpirun >/dev/null; then
  echo "skipped: mpirun is not installed (package openmpi-bin)"
  exit 77
fi
# Open MPI refuses root and more ranks than cores unless told; the shared-memory transport must not
# ask for rights that a container lacks.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm_rsh_agent=false
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe \
  OMPI_MCA_btl_vader_single_copy_mechanism OMPI_MCA_plm_rsh_agent
# Open MPI unloads its parts with memory still held, which no suppression can name any more. Our own
# leaks are found where ranks are threads (tests/comm/test_ranks.c).
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
exec mpirun -n "$count" "$@"

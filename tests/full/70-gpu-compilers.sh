#!/bin/sh
# every kernel through the compilers for NVIDIA, AMD and Intel GPUs, none of which is needed
. tests/full/lib.sh
build release
need clang-19 llvm-19 libclc-15 rocm-device-libs

targets='gfx1030 gfx942 acm-g10'
# NVIDIA's assembler is no Debian package; Python's registry has it.
if ! command -v ptxas >/dev/null; then
  home=$cache/clematis-ptxas/12.9.86
  if [ ! -e "$home/complete" ]; then
    need python3-venv
    python3 -m venv "$home" && "$home/bin/pip" install --quiet --no-cache-dir \
      --disable-pip-version-check nvidia-cuda-nvcc-cu12==12.9.86 && : >"$home/complete"
  fi
  PATH=$PATH:$(dirname "$(find "$home" -name ptxas -type f | head -n 1)")
  export PATH
fi
if command -v ptxas >/dev/null; then
  targets="sm_75 sm_90 $targets"
else
  echo "left out: NVIDIA, ptxas cannot be had"
fi

# "FILE.cl<TAB>options" of every program that the library builds; without the lister each file of
# cl/ is compiled once, with the defaults that stand in it.
list=$CLM_FULL/kernels
if [ -x build/op_list_kernels ]; then
  build/op_list_kernels | sort -u >"$list"
else
  (cd cl && ls ./*.cl) | sed 's|^\./||' >"$list"
fi
result=0
while IFS='	' read -r file options; do
  case $file in prelude.cl | '') continue ;; esac
  # shellcheck disable=SC2086 # options are words
  try "$file $options" $tools/cl-compile-gpus -t "$targets" -p cl/prelude.cl -I cl $options \
    "cl/$file" </dev/null || result=1
done <"$list"
exit $result

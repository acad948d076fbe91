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

# Lines "FILE.cl<TAB>OPTIONS<TAB>VARIANT" of every program that the tests of kernels build.
list=$CLM_FULL/kernels
if [ ! -s "$list" ]; then
  CLEMATIS_TEST_LIST_KERNELS=$list ctest --test-dir build --parallel "$(nproc)" -L '^(op|exec)$' >/dev/null 2>&1
fi
[ -s "$list" ] || skip "no test of kernels built a program"
sort -u "$list" | awk -f tests/full/choose-programs.awk >"$CLM_FULL/chosen"
# Each file also compiles alone, with the defaults that stand in it.
for file in cl/*.cl; do
  file=${file#cl/}
  [ "$file" != prelude.cl ] || continue
  variant=${file%.cl}
  # Kernels for CPUs are always built for a vector width; the prelude has its vectors by that.
  case $file in *_cpu.cl) options=-DLANES=4 ;; *) options= ;; esac
  printf '%s\t%s\t%s\n' "$file" "$options" "${variant##*_} defaults" >>"$CLM_FULL/chosen"
done
echo "$(sort -u "$list" | wc -l) programs seen, $(wc -l <"$CLM_FULL/chosen") chosen, for $targets"

# shellcheck disable=SC2317 # for_each calls it
# compile "FILE.cl<TAB>OPTIONS<TAB>VARIANT"
compile() {
  file=$(echo "$1" | cut -f 1)
  options=$(echo "$1" | cut -f 2)
  variant=$(echo "$1" | cut -f 3)
  # What is meant for CPUs may need more registers than a GPU has.
  case $file in *_cpu.cl) spill=any ;; *) spill=0 ;; esac
  # Its tiles in private memory are larger than AMD's compiler takes; no GPU ever builds them.
  case $file in
    *_winograd_cpu.cl) to=$(echo "$targets" | sed 's/gfx[0-9]*//g') ;;
    *) to=$targets ;;
  esac
  # shellcheck disable=SC2086 # options are words
  try "$file ($variant) $options" $tools/cl-compile-gpus -t "$to" --max-spill $spill \
    -p cl/prelude.cl -I cl $options "cl/$file"
}
for_each compile "$CLM_FULL/chosen"

#!/bin/sh
# the image of the Dockerfile on a Debian made here, and a job of two ranks in it as its entry point
. tests/full/lib.sh
[ "$(id -u)" -eq 0 ] || skip "building an image without a container service needs root"
need buildah debootstrap
base=$cache/clematis-container/bookworm.tar
if [ ! -e "$base" ]; then
  mkdir -p "$(dirname "$base")" "$CLM_FULL/bookworm"
  debootstrap --variant=minbase bookworm "$CLM_FULL/bookworm" >"$CLM_FULL/setup" 2>&1 || {
    tail -n 3 "$CLM_FULL/setup"
    skip "no Debian could be made to build on"
  }
  tar -C "$CLM_FULL/bookworm" -cf "$base.tmp" . && mv "$base.tmp" "$base"
  rm -rf "$CLM_FULL/bookworm"
fi

# chroot: no service, no network of its own, and it works inside of another container.
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
echo '{"default": [{"type": "insecureAcceptAnything"}]}' >"$CLM_FULL/policy"
builder() { buildah --root "$CLM_FULL/images" --runroot "$CLM_FULL/images-run" "$@"; }
make_base() {
  empty=$(builder from scratch) && builder add -q "$empty" "$base" / &&
    builder run --network host "$empty" -- apt-get update && # whether it can, and reaches packages
    builder commit -q --rm --signature-policy "$CLM_FULL/policy" "$empty" \
      docker.io/library/debian:bookworm-slim
}
make_base >"$CLM_FULL/setup" 2>&1 || {
  tail -n 3 "$CLM_FULL/setup"
  rm -rf "$CLM_FULL/images" "$CLM_FULL/images-run"
  skip "no container can be made here"
}

# shellcheck disable=SC2317 # try calls it
in_image() { builder run --network host "$container" -- "$@"; }
result=0
try "image, target cpu" builder build --signature-policy "$CLM_FULL/policy" --pull-never \
  --network host --target cpu -t clematis:cpu . || result=1
container=$(builder from --signature-policy "$CLM_FULL/policy" --pull-never clematis:cpu) || exit 1
try "doctor in it" in_image clematis doctor || result=1
try "pictures in it" in_image clematis sample photos --images 16 || result=1
# As in the Dockerfile; tini is not the first process here, hence -s.
try "its entry point" in_image tini -s -- clematis entrypoint --ranks-per-replica 2 -- \
  photos --epochs 2 --image-size 32 --out run || result=1
try "the model" in_image clematis summary run/model.keras || result=1
rm -rf "$CLM_FULL/images" "$CLM_FULL/images-run"
exit $result

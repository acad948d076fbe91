#!/bin/sh
# Manifests for the MPI Operator, held against a strict schema of the fields we write.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

python=python3
"$python" -c 'import jsonschema, yaml' 2>/dev/null || python=/usr/bin/python3
if ! "$python" -c 'import jsonschema, yaml' 2>/dev/null; then
  echo "skipped: no Python with jsonschema and yaml"
  exit 77
fi

# manifest ARGUMENT...: as JSON and as YAML.
manifest() {
  run launch --engine mpijob --format yaml "$@"
  expect_status 0
  cp out manifest.yaml
  run launch --engine mpijob "$@"
  expect_status 0
  check
  "$python" "$here/check_manifest.py" "$here/../launch/mpijob.schema.json" out manifest.yaml \
    >faults 2>&1 || fail "$(cat faults)"
}

manifest "$here/../launch/jobs/one_machine.json"
expect err 'warning: no base_output_directory: the model stays inside the first pod'
expect out '"slotsPerWorker": 2'
expect_none out '"Worker"'
manifest "$here/../launch/jobs/four_machines_mixed_case.json" --namespace ml
expect out '"name": "flowers-4x1"'
expect out '"namespace": "ml"'
expect out '"activeDeadlineSeconds": 7200'
manifest "$here/../launch/jobs/expansion.json" --env "HARD=it's \"x\": - # {y}"
expect out '"--own-command"'
manifest --replica-count 3 --accelerator-count 2 --image registry/clematis:1 \
  --gpu-resource amd.com/gpu --name '9 Flowers!' -- photos
expect out '"amd.com/gpu": 2'
expect out '"name": "flowers"'

run launch --engine mpijob --replica-count 2 -- photos
expect_status 65
expect err 'image_uri: missing: name the image with --image'
run launch --engine mpijob --worker-pool-spec machine-type=a,container-image-uri=i \
  --worker-pool-spec machine-type=a,accelerator-type=NVIDIA_L4,accelerator-count=2,container-image-uri=i
expect_error 65 'every pod the same number of ranks'
finish

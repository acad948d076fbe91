"""check_manifest.py SCHEMA JSON YAML: both files hold one manifest, which keeps to the schema."""
import json
import sys

import jsonschema
import yaml

with open(sys.argv[1]) as file:
    schema = json.load(file)
with open(sys.argv[2]) as file:
    manifest = json.load(file)
with open(sys.argv[3]) as file:
    same = yaml.safe_load(file)
validator = jsonschema.Draft7Validator(schema)
errors = list(validator.iter_errors(manifest))
for error in errors:
    print("/".join(map(str, error.absolute_path)), error.message)
is_same = manifest == same
if not is_same:
    print("the YAML differs from the JSON")
# The schema itself must refuse what the operator refuses.
manifest["spec"]["mpiReplicaSpecs"]["Launcher"]["replicas"] = 2
manifest["spec"]["surprise"] = 1
refused = len(list(validator.iter_errors(manifest)))
if refused != 2:
    print("the schema finds", refused, "of 2 faults")
sys.exit(1 if errors or not is_same or refused != 2 else 0)

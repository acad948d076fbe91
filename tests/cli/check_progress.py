"""Reads what `clematis train --progress json` printed: python check_progress.py FILE [EVENT FIELD]

Every line is one JSON object with the fields of its event. Prints the names of the events and how
it ended, steps and warnings once and without what depends on time; or a field of the last EVENT.
"""
import json
import sys

FIGURES = ["loss", "accuracy"]
VALIDATION = ["val_loss", "val_accuracy"]
PLACE = ["epoch", "epochs"]
FIELDS = {
    "start": [
        "version", "run_folder", "ranks", "devices", "train_images", "validation_images",
        "left_out_files", "steps_per_epoch", "epochs", "first_epoch", "first_step", "images_seen",
        "parameters", "learning_rate", "device_bytes", "cache_bound_bytes"],
    "step": PLACE + FIGURES + [
        "step", "steps_per_epoch", "epoch_seconds", "left_seconds", "images_per_second"],
    "validation": PLACE + ["batch", "batches"],
    "epoch": PLACE + FIGURES + VALIDATION + [
        "steps", "epoch_seconds", "train_seconds", "data_wait_seconds", "images_per_second",
        "learning_rate", "is_best"],
    "checkpoint": [
        "next_epoch", "next_step", "images_seen", "wait_seconds", "is_best", "is_kept"],
    "warning": ["message"],
    "message": ["message"],
    "end": FIGURES + VALIDATION + [
        "reason", "exit_status", "run_folder", "epochs_done", "best_epoch", "run_seconds",
        "first_step_seconds", "data_wait_seconds", "checkpoint_wait_seconds", "left_out_files",
        "failed_saves", "weights_digest"],
}
FAILURE = ["reason", "exit_status", "run_folder", "message"]


def refuse(constant):
    raise ValueError(constant + " is not JSON")


def read(path):
    events = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line, parse_constant=refuse)
            name = event["event"]
            expected = FAILURE if event.get("reason") == "failed" else FIELDS[name]
            got = set(event) - {"event", "unix_seconds"}
            if got != set(expected):
                sys.exit("%s: fields %s" % (name, sorted(got ^ set(expected))))
            if events and event["unix_seconds"] < events[-1]["unix_seconds"]:
                sys.exit("time goes back: " + line)
            events.append(event)
    return events


def main():
    events = read(sys.argv[1])
    if len(sys.argv) > 2:
        print([e for e in events if e["event"] == sys.argv[2]][-1][sys.argv[3]])
        return
    names = []
    for event in events:
        name = event["event"]
        if name in ("step", "warning") and name in names or name in ("validation", "message"):
            continue
        names.append(name)
    print("%s: %s %d" % (" ".join(names), events[-1]["reason"], events[-1]["exit_status"]))


main()

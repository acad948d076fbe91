"""Asks real TensorBoard about the event files of a run: python check_events.py RUN STEPS EVERY

The curves of epochs are compared with RUN/history.json; a curve of STEPS steps has every EVERY-th.
"""
import json
import pathlib
import sys

import numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def check(condition, *words):
    if not condition:
        print("FAILED:", *words)
        sys.exit(1)


def read(folder):
    accumulator = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    accumulator.Reload()
    return accumulator


def check_curve(accumulator, tag, steps, expected):
    points = accumulator.Scalars(tag)
    check([p.step for p in points] == steps, tag, "has the steps", [p.step for p in points])
    for point, value in zip(points, expected):
        check(np.float32(point.value) == np.float32(value), tag, point.step, point.value, value)


def main():
    run, steps, every = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    history = json.loads((run / "history.json").read_text())
    epochs = history["epoch"]
    train, validation = read(run / "tensorboard/train"), read(run / "tensorboard/validation")
    for name in "loss", "accuracy", "learning_rate":
        check_curve(train, "epoch_" + name, epochs, history[name])
    for name in "images_per_second", "wait_seconds":
        check_curve(train, name, epochs, [])
    for name in "loss", "accuracy":
        check_curve(validation, "epoch_" + name, epochs, history["val_" + name])
    by_step = read(run / "tensorboard/steps")
    places = list(range(every, steps + 1, every))
    per_epoch = steps // len(epochs)
    for name in "loss", "accuracy":
        check_curve(by_step, "batch_" + name, places, [])
        # At the end of an epoch the running mean is that of the epoch.
        for point in by_step.Scalars("batch_" + name):
            if point.step % per_epoch == 0:
                value = history[name][point.step // per_epoch - 1]
                check(np.float32(point.value) == np.float32(value), name, point, value)
    print(len(epochs), "epochs and", len(places), "steps are fine")


main()

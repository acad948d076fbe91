"""Asks real TensorBoard about the event files of a run: python check_events.py RUN STEPS EVERY [DEVICES]

The curves of epochs are compared with RUN/history.json; a curve of STEPS steps has every EVERY-th. With
DEVICES there are the curves of so many, and histograms of the weights.
"""
import json
import pathlib
import sys

import numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util import tensor_util


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


def check_devices(accumulator, epochs, count):
    tags = [tag for tag in accumulator.Tags()["scalars"] if tag.startswith("device_")]
    check(len(tags) == 3 * count, "curves of devices", tags)
    shares = [accumulator.Scalars("device_%d/share" % i) for i in range(count)]
    for i in range(count):
        for name in "share", "images_per_second", "wait_share":
            check_curve(accumulator, "device_%d/%s" % (i, name), epochs, [])
        check(accumulator.Scalars("device_%d/images_per_second" % i)[-1].value > 0, "speed", i)
    for of_epoch in zip(*shares):
        check(abs(sum(point.value for point in of_epoch) - 1) < 1e-6, "shares", of_epoch)


def check_histograms(accumulator, epochs):
    tags = accumulator.Tags()["tensors"]
    check(len(tags) == 10, "histograms", tags)
    for tag in tags:
        metadata = accumulator.SummaryMetadata(tag)
        check(metadata.plugin_data.plugin_name == "histograms", tag, metadata)
        points = accumulator.Tensors(tag)
        check([p.step for p in points] == epochs, tag, "has the steps", [p.step for p in points])
    for point in accumulator.Tensors("conv2d/kernel/histogram"):
        buckets = tensor_util.make_ndarray(point.tensor_proto)
        check(buckets.shape == (30, 3) and buckets.dtype == np.float64, buckets.shape)
        check(buckets[:, 2].sum() == 3 * 3 * 3 * 16, "weights", buckets[:, 2].sum())
        check((buckets[1:, 0] >= buckets[:-1, 0]).all(), "order", buckets)
        check(buckets[0, 0] < 0 < buckets[-1, 1], "range", buckets)


def main():
    run, steps, every = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    history = json.loads((run / "history.json").read_text())
    epochs = history["epoch"]
    train, validation = read(run / "tensorboard/train"), read(run / "tensorboard/validation")
    for name in "loss", "accuracy", "learning_rate":
        check_curve(train, "epoch_" + name, epochs, history[name])
    for name in "images_per_second", "wait_seconds":
        check_curve(train, name, epochs, [])
    if len(sys.argv) > 4:
        check_devices(train, epochs, int(sys.argv[4]))
        check_histograms(train, epochs)
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

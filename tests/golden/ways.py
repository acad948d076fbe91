#!/usr/bin/env python3
"""Other ways that real Keras takes through the twelve steps of tests/golden/train.

In steps 5 to 9 of that run a few windows of the pools hold two results, or a result and the zero of
ReLU, that are equal to rounding. Which one wins is decided by the last bits of a convolution, and
from there on the weights differ, by up to 1e-3 in the end. Keras itself may leave the recorded way:
of two runs with ONEDNN_MAX_CPU_ISA=SSE41 one took way 5. With AVX2, without oneDNN, with XLA and in
float64 it kept to the recorded one.

This script looks for the ways within the rounding of float32: in one step at a time it computes the
gradients with convolution kernels that are off by about 5e-7 of themselves, drawn from a seed, and
applies them to the undisturbed weights. Runs that end within 5e-6 of each other took the same way;
the first of each is written: its losses and the weights after 12 steps.

usage: ways.py FOLDER        (the folder of init.keras; way1, way2, ... are made in it)
"""

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np

STEPS, SEEDS, NOISE, SAME = 12, 100, 5e-7, 5e-6
# In the first steps Adam divides gradients by about themselves, so that noise would stay.
FIRST_DISTURBED = 3


def read(folder, name):
    return np.load(os.path.join(folder, name))


def disturb(weights, step, seed):
    rng = np.random.default_rng([seed, step])
    noise = [np.float32(NOISE) * rng.standard_normal(w.shape).astype("f4") for w in weights]
    return [w * (1 + n) if w.ndim == 4 else w for w, n in zip(weights, noise)]


class Run:
    def __init__(self, folder):
        self.model = keras.models.load_model(os.path.join(folder, "init.keras"))
        self.model.compile(optimizer="adam", loss=self.model.loss, metrics=["accuracy"])
        self.model.optimizer.build(self.model.trainable_variables)
        self.batches = [
            (read(folder, f"batch{i}_images.npy"), read(folder, f"batch{i}_labels.npy"))
            for i in range(4)
        ]
        self.first = self.model.get_weights()
        self.slots = [v.numpy() for v in self.model.optimizer.variables]

    def step(self, step):
        self.model.reset_metrics()
        return self.model.train_on_batch(*self.batches[step % 4])

    def steps(self, disturbed=None, seed=0):
        """Losses and accuracies [STEPS,2], and the weights in the end."""
        model, figures = self.model, []
        model.set_weights(self.first)
        for variable, value in zip(model.optimizer.variables, self.slots):
            variable.assign(value)
        for step in range(STEPS):
            if step != disturbed:
                figures.append(self.step(step))
                continue
            weights = model.get_weights()
            used = disturb(weights, step, seed)
            model.set_weights(used)
            figures.append(self.step(step))
            after = model.get_weights()
            model.set_weights([a - (u - w) for a, u, w in zip(after, used, weights)])
        return np.array(figures, "f4"), model.get_weights()


def is_same(one, other):
    return max(np.abs(a - b).max() for a, b in zip(one, other)) < SAME


def write(folder, figures, weights, names):
    os.makedirs(folder, exist_ok=True)
    np.save(os.path.join(folder, "loss.npy"), figures[:, 0])
    for name, values in zip(names, weights):
        np.save(os.path.join(folder, f"{name}.npy"), values)


def main():
    folder = sys.argv[1]
    run = Run(folder)
    names = ["_".join(v.path.split("/")[-2:]) for v in run.model.trainable_variables]
    golden = [read(folder, f"weights_after12/{name}.npy") for name in names]
    accuracies = read(folder, "accuracy.npy")
    assert is_same(run.steps()[1], golden), "here Keras does not take the recorded way"
    ways = [golden]
    for step in range(FIRST_DISTURBED, STEPS):
        for seed in range(SEEDS):
            figures, weights = run.steps(step, seed)
            if any(is_same(weights, way) for way in ways):
                continue
            assert np.array_equal(figures[:, 1], accuracies)
            apart = max(np.abs(a - b).max() for a, b in zip(weights, golden))
            print(f"way {len(ways)}: step {step + 1}, in the end {apart:.2g} from the recorded one")
            write(os.path.join(folder, f"way{len(ways)}"), figures, weights, names)
            ways.append(weights)


if __name__ == "__main__":
    main()

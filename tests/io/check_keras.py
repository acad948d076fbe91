"""Asks real Keras about files that the library wrote: python check_keras.py FOLDER GOLDEN

FOLDER holds NAME.keras with NAME.weights (all weights, float32, layer by layer), perhaps NAME.json
(the text of clm__model_file_to_json) and NAME.like, which names a file of GOLDEN that the model was
read from, or NAME.near, where only training differs. Each is loaded, compared, trained for a step where it is compiled, and saved as Keras
saves, to FOLDER/saved/NAME.keras, for the library to read again.
"""
import logging
import os
import pathlib
import sys
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["TF_DETERMINISTIC_OPS"] = "1"

logging.getLogger("tensorflow").setLevel("ERROR")

import keras  # noqa: E402
import numpy as np  # noqa: E402


def check(condition, *words):
    if not condition:
        print("FAILED:", *words)
        sys.exit(1)


def load(path):
    """The model; any warning of Keras while loading is a failure."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = keras.models.load_model(path)
    words = [str(w.message) for w in caught if "keras" in str(w.filename)]
    check(not words, path, "warns:", words)
    return model


def all_weights(model):
    values = [np.asarray(w).ravel() for layer in model.layers for w in layer.weights]
    return np.concatenate(values) if values else np.zeros(0, np.float32)


def images(model):
    shape = (8,) + tuple(model.input_shape[1:])
    return np.random.RandomState(1).randint(0, 256, shape).astype(np.float32)


def step(model):
    """One step of training; returns the weights behind it."""
    count = model.output_shape[-1]
    labels = np.arange(8) % count
    if "sparse" not in model.loss_name:
        labels = np.eye(count, dtype=np.float32)[labels]
    model.train_on_batch(images(model), labels)
    return all_weights(model)


def loss_name(model):
    loss = getattr(model, "loss", None)
    return getattr(loss, "name", None) or str(loss)


def same(a, b, what, name):
    check(len(a) == len(b), name, what, "numbers differ:", len(a), len(b))
    for i, (x, y) in enumerate(zip(a, b)):
        x, y = np.asarray(x), np.asarray(y)
        check(x.shape == y.shape and np.array_equal(x, y), name, what, i, "differs")


def check_file(path, golden):
    name = path.stem
    model = load(path)
    model.loss_name = loss_name(model)
    expected = np.fromfile(path.with_suffix(".weights"), np.float32)
    check(np.array_equal(all_weights(model), expected), name, "weights differ")
    text = path.with_suffix(".json")
    if text.exists():
        twin = keras.models.model_from_json(text.read_text())
        same([w.shape for w in twin.weights], [w.shape for w in model.weights], "shape", name)
    saved = path.parent / "saved" / path.name
    model.save(saved)
    like, near = path.with_suffix(".like"), path.with_suffix(".near")
    if like.exists() or near.exists():
        other = keras.models.load_model(golden / (like if like.exists() else near).read_text())
        other.loss_name = model.loss_name
        same([model.predict(images(model), verbose=0)],
             [other.predict(images(model), verbose=0)], "prediction", name)
        if getattr(other, "optimizer", None) is not None:
            same(model.optimizer.variables, other.optimizer.variables, "optimizer variable", name)
            if like.exists():
                same([step(model)], [step(other)], "weights after a step", name)
    elif getattr(model, "optimizer", None) is not None:
        before = all_weights(model)
        check(not np.array_equal(step(model), before), name, "does not train")
    print("   ", name, "is fine")


def main():
    folder, golden = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    (folder / "saved").mkdir()
    keras.utils.set_random_seed(1)
    for path in sorted(folder.glob("*.keras")):
        check_file(path, golden)


main()

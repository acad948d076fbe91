"""Keras on TensorFlow."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy
import tensorflow
from keras import layers

SIDES = {"flowers": 180, "residual": 64}


def name():
    return f"TensorFlow {tensorflow.__version__}, Keras {keras.__version__}"


def flowers():
    return keras.Sequential([
        keras.Input((180, 180, 3)),
        layers.Rescaling(1.0 / 255),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(64, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(128, activation="relu"),
        layers.Dense(5, activation="softmax"),
    ])


def convolution(x, filters, size, stride):
    x = layers.Conv2D(filters, size, strides=stride, padding="same", use_bias=False)(x)
    return layers.BatchNormalization()(x)


def block(x, filters, stride):
    y = layers.Activation("relu")(convolution(x, filters, 3, stride))
    y = convolution(y, filters, 3, 1)
    if stride != 1:
        x = convolution(x, filters, 1, stride)
    return layers.Activation("relu")(layers.Add()([y, x]))


def residual():
    image = keras.Input((64, 64, 3))
    x = layers.Activation("relu")(convolution(image, 32, 3, 1))
    for filters, stride in (32, 1), (64, 2), (128, 2):
        x = block(x, filters, stride)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(image, layers.Dense(5, activation="softmax")(x))


def make(net):
    return {"flowers": flowers, "residual": residual}[net]()


def read(net, batch, file):
    side = SIDES[net]
    return numpy.fromfile(file, "<f4").reshape(int(batch), side, side, 3)


def step(net, batch, file):
    """One training step, as fit() makes it."""
    model = make(net)
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    x = read(net, batch, file)
    y = numpy.arange(len(x), dtype="int32") % 5
    batches = iter(tensorflow.data.Dataset.from_tensors((x, y)).repeat())
    model.make_train_function()
    return lambda: float(model.train_function(batches)["loss"])


def infer(net, batch, file):
    """The compiled model called on one batch: what predict() does without its bookkeeping."""
    model = make(net)
    call = tensorflow.function(lambda x: model(x, training=False))
    x = tensorflow.constant(read(net, batch, file))
    return lambda: call(x).numpy()


def predict(net, batch, file):
    """predict() over eight batches."""
    model = make(net)
    x = numpy.concatenate([read(net, batch, file)] * 8)
    return lambda: model.predict(x, batch_size=int(batch), verbose=0)


def data(folder):
    """All images of a folder, decoded and resized."""
    def run():
        dataset = keras.utils.image_dataset_from_directory(
            folder, image_size=(180, 180), batch_size=32, shuffle=False, verbose=False)
        for _ in dataset.prefetch(tensorflow.data.AUTOTUNE):
            pass
    return run

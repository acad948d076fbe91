"""A real MirroredStrategy beside Clematis, on two CPU devices that TensorFlow makes of one.

python check_mirrored.py make START.keras own|joint     a model with batch normalization, compiled
python check_mirrored.py compare DATA START.keras OURS.keras EPOCHS
    trains START on DATA and says how far the weights of OURS are from what comes out
"""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
import tensorflow as tf

SIZE, BATCH, CLASSES = 24, 8, 5


def make(path, statistics):
    keras.utils.set_random_seed(7)
    joint = statistics == "joint"
    model = keras.Sequential([
        keras.Input((SIZE, SIZE, 3)),
        keras.layers.Rescaling(1 / 255),
        keras.layers.Conv2D(6, 3, strides=2, use_bias=False),
        keras.layers.BatchNormalization(synchronized=joint),
        keras.layers.Activation("tanh"),
        keras.layers.Conv2D(6, 3, use_bias=False),
        keras.layers.BatchNormalization(synchronized=joint),
        keras.layers.Activation("tanh"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(CLASSES),
    ])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.05), loss, metrics=["accuracy"])
    model.save(path)


def train(data, start, epochs):
    cpu = tf.config.list_physical_devices("CPU")[0]
    two = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(cpu, two)
    strategy = tf.distribute.MirroredStrategy(
        ["CPU:0", "CPU:1"], cross_device_ops=tf.distribute.ReductionToOneDevice())
    assert strategy.num_replicas_in_sync == 2
    images = keras.utils.image_dataset_from_directory(
        data, shuffle=False, image_size=(SIZE, SIZE), batch_size=BATCH, verbose=False)
    with strategy.scope():
        model = keras.models.load_model(start)
    model.fit(images, epochs=epochs, verbose=0, shuffle=False)
    return model


def of_both(weight):
    """The mean over the replicas: trained weights are the same on both, moving averages their own.

    Keras 3 saves those of the first replica; Keras 2 did save the mean, as Clematis does.
    """
    return np.mean([replica.numpy() for replica in weight.value.values], axis=0)


def compare(data, start, ours, epochs):
    theirs = train(data, start, int(epochs)).weights
    begun = keras.models.load_model(start).get_weights()
    mine = keras.models.load_model(ours).get_weights()
    furthest = 0.0
    for weight, old, b in zip(theirs, begun, mine):
        a = of_both(weight)
        # What has begun at 0 is made of differences of larger numbers.
        size = max(np.abs(a).max(), 0.1)
        far, moved = np.abs(a - b).max() / size, np.abs(a - old).max() / size
        print(f"{weight.path:40} moved {moved:.1e} apart {far:.1e}")
        furthest = max(furthest, far)
    print(f"furthest apart {furthest:.1e}")
    sys.exit(0 if furthest < 1e-5 else 1)


if __name__ == "__main__":
    {"make": make, "compare": compare}[sys.argv[1]](*sys.argv[2:])

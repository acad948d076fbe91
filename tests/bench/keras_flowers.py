"""The program that users have today: keras_flowers.py FOLDER EPOCHS, TensorFlow's tutorial on image
classification. EPOCHS 0: ends after the first step."""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import tensorflow

from engine_keras import flowers


class EndAfterStep(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        sys.stdout.flush()
        os._exit(0)  # the time is up: nothing is to be cleaned


def main():
    folder, epochs = sys.argv[1], int(sys.argv[2])
    train, validation = keras.utils.image_dataset_from_directory(
        folder, validation_split=0.2, subset="both", seed=123, image_size=(180, 180),
        batch_size=32)
    train = train.cache().shuffle(1000).prefetch(tensorflow.data.AUTOTUNE)
    validation = validation.cache().prefetch(tensorflow.data.AUTOTUNE)
    model = flowers()
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    callbacks = [EndAfterStep()] if epochs == 0 else []
    history = model.fit(train, validation_data=validation, epochs=max(epochs, 1), verbose=2,
                        callbacks=callbacks).history
    model.save(os.path.join(sys.argv[3], "model.keras"))
    print("best validation accuracy", max(history["val_accuracy"]))


main()

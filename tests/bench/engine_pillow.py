"""Pillow with a thread a processor; its bilinear filter widens when shrinking, so it does more."""
import os
from concurrent.futures import ThreadPoolExecutor

import numpy
import PIL
from PIL import Image


def name():
    return f"Pillow {PIL.__version__}"


def load(path):
    with Image.open(path) as image:
        small = image.convert("RGB").resize((180, 180), Image.Resampling.BILINEAR)
    return numpy.asarray(small, "float32")


def data(folder):
    paths = [os.path.join(base, file) for base, _, files in os.walk(folder) for file in files
             if file.lower().endswith((".jpg", ".jpeg", ".png"))]
    pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))

    def run():
        for _ in pool.map(load, paths, chunksize=1):
            pass
    return run

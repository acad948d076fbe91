"""ONNX Runtime."""
import onnxruntime

import flowers_onnx


def name():
    return f"ONNX Runtime {onnxruntime.__version__}"


def infer(net, batch, file):
    if net != "flowers":
        raise ValueError(f"no ONNX model of {net} is made")
    session = onnxruntime.InferenceSession(flowers_onnx.make(int(batch)),
                                           providers=["CPUExecutionProvider"])
    x = flowers_onnx.read(batch, file)
    return lambda: session.run(None, {"image": x})

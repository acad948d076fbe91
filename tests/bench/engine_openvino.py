"""OpenVINO."""
import openvino

import flowers_onnx


def name():
    return f"OpenVINO {openvino.__version__.split('-')[0]}"


def infer(net, batch, file):
    if net != "flowers":
        raise ValueError(f"no ONNX model of {net} is made")
    core = openvino.Core()
    model = core.read_model(flowers_onnx.make(int(batch)))
    # Half precision would be another model: float32 as everybody else here.
    compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    x = flowers_onnx.read(batch, file)
    return lambda: request.infer([x])

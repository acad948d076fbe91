"""The flowers network as an ONNX model, for runtimes that only infer."""
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


def make(batch):
    random = numpy.random.default_rng(1)
    nodes, weights = [], []

    def weight(name, *shape):
        fan = numpy.prod(shape[1:]) if len(shape) > 1 else 1
        values = random.uniform(-1, 1, shape) / numpy.sqrt(fan)
        weights.append(numpy_helper.from_array(values.astype("float32"), name))
        return name

    def add(kind, inputs, output, **attributes):
        nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    weights.append(numpy_helper.from_array(numpy.float32(1.0 / 255), "scale"))
    x = add("Mul", ["image", "scale"], "scaled")
    for i, (before, filters) in enumerate([(3, 16), (16, 32), (32, 64)]):
        kernel, bias = weight(f"w{i}", filters, before, 3, 3), weight(f"b{i}", filters)
        x = add("Conv", [x, kernel, bias], f"conv{i}", pads=[1, 1, 1, 1], kernel_shape=[3, 3])
        x = add("Relu", [x], f"relu{i}")
        x = add("MaxPool", [x], f"pool{i}", kernel_shape=[2, 2], strides=[2, 2])
    x = add("Flatten", [x], "flat")
    x = add("Gemm", [x, weight("w3", 128, 22 * 22 * 64), weight("b3", 128)], "dense", transB=1)
    x = add("Relu", [x], "relu3")
    x = add("Gemm", [x, weight("w4", 5, 128), weight("b4", 5)], "logits", transB=1)
    add("Softmax", [x], "probabilities", axis=1)
    graph = helper.make_graph(
        nodes, "flowers",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [batch, 3, 180, 180])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [batch, 5])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString()


def read(batch, file):
    pixels = numpy.fromfile(file, "<f4").reshape(int(batch), 180, 180, 3)
    return numpy.ascontiguousarray(pixels.transpose(0, 3, 1, 2))

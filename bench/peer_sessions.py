"""Runs the libraries that bench/peers.py measures: each is a class that loads a model for some threads and computes
scores.

`settings` are the ways to run that are worth trying, `maths` the library's arithmetics; version() is None if the
library is not installed.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import numpy as np


def installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


class OnnxRuntime:
    settings = ["default"]
    maths = ["fp32"]

    @staticmethod
    def version() -> str | None:
        return installed("onnxruntime")

    def __init__(self, model: Path, threads: int, setting: str, math: str) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(model.read_bytes(), options, providers=["CPUExecutionProvider"])
        self.input = self.session.get_inputs()[0].name

    def scores(self, images: np.ndarray) -> np.ndarray:
        return self.session.run(None, {self.input: images})[0]


class OpenVino:
    settings = ["LATENCY", "THROUGHPUT"]
    maths = ["fp32", "bf16"]

    @staticmethod
    def version() -> str | None:
        return installed("openvino")

    def __init__(self, model: Path, threads: int, setting: str, math: str) -> None:
        import openvino

        options = {"INFERENCE_PRECISION_HINT": {"fp32": "f32", "bf16": "bf16"}[math], "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": setting}
        self.setting = setting
        self.model = openvino.Core().compile_model(model, "CPU", options)
        self.queue = openvino.AsyncInferQueue(self.model) if setting == "THROUGHPUT" else None

    def scores(self, images: np.ndarray) -> np.ndarray:
        if self.queue is None or len(images) < 2 * len(self.queue):
            return self.model(images)[0]
        parts = np.array_split(images, len(self.queue))  # one per stream
        results: list[np.ndarray | None] = [None] * len(parts)

        def keep(request, place: int) -> None:
            results[place] = request.get_output_tensor().data.copy()

        self.queue.set_callback(keep)
        for place, part in enumerate(parts):
            self.queue.start_async({0: part}, place)
        self.queue.wait_all()
        return np.concatenate(results)


class PyTorch:
    settings = ["eager", "channels last", "frozen"]
    maths = ["fp32", "bf16"]

    @staticmethod
    def version() -> str | None:
        return installed("torch") if installed("onnx") else None

    def __init__(self, model: Path, threads: int, setting: str, math: str) -> None:
        import torch

        torch.set_num_threads(threads)
        self.torch = torch
        self.channels_last = setting == "channels last"
        self.dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[math]
        network = network_of(model).eval().to(self.dtype)
        if self.channels_last:
            network = network.to(memory_format=torch.channels_last)
        if setting == "frozen":
            example = torch.zeros(2, 1, *network.input_size, dtype=self.dtype)
            network = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(network, example)))
        self.network = network

    def scores(self, images: np.ndarray) -> np.ndarray:
        with self.torch.inference_mode():
            batch = self.torch.from_numpy(images).to(self.dtype)
            if self.channels_last:
                batch = batch.to(memory_format=self.torch.channels_last)
            return self.network(batch).float().numpy()


def network_of(path: Path):
    """Returns the torch module of a model of this repository: a sequence of Conv, Tanh, MaxPool, Flatten, Gemm and
    Softmax.
    """
    import onnx
    import torch
    from onnx import numpy_helper

    graph = onnx.load(path).graph
    values = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    layers: list[torch.nn.Module] = []
    for node in graph.node:
        given = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
        if node.op_type == "Cast":  # weights are stored as float16
            values[node.output[0]] = values[node.input[0]].astype(np.float32)
        elif node.op_type == "Conv":
            weight = torch.tensor(values[node.input[1]])
            layer = torch.nn.Conv2d(weight.shape[1], weight.shape[0], tuple(weight.shape[2:]), bias=len(node.input) > 2)
            layers.append(with_weights(layer, weight, node, values))
        elif node.op_type == "Gemm":
            weight = torch.tensor(values[node.input[1]])
            weight = weight if given.get("transB", 0) else weight.T.contiguous()
            layer = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=len(node.input) > 2)
            layers.append(with_weights(layer, weight, node, values))
        elif node.op_type == "MaxPool":
            layers.append(torch.nn.MaxPool2d(tuple(given["kernel_shape"]), tuple(given["strides"])))
        else:
            layers.append({"Tanh": torch.nn.Tanh(), "Flatten": torch.nn.Flatten(), "Softmax": torch.nn.Softmax(1)}[node.op_type])  # fmt: skip
    network = torch.nn.Sequential(*layers)
    network.input_size = [each.dim_value for each in graph.input[0].type.tensor_type.shape.dim[2:]]
    return network


def with_weights(layer, weight, node, values):
    import torch

    layer.weight.data = weight
    if len(node.input) > 2:
        layer.bias.data = torch.tensor(values[node.input[2]])
    return layer


PEERS = {"ONNX Runtime": OnnxRuntime, "PyTorch": PyTorch, "OpenVINO": OpenVino}

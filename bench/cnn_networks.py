#!/usr/bin/env python3
"""Writes the well-known CNNs of bench/cnn_peers.py, from torchvision, as ONNX files with seeded random weights.

    python3 bench/cnn_networks.py FOLDER [NAME ...]

Weights are torchvision's initial ones. Batch normalization learns its means and variances from random images, so values
neither grow nor vanish from layer to layer, as in a trained network. The batch size is dynamic. Quantized networks are
written only if named. They are the output of ONNX Runtime's quantizer: QuantizeLinear and DequantizeLinear around every
operator, uint8 activations and per-channel int8 weights. Those called int7 use `reduce_range` (7-bit weights), as it
recommends for CPUs that add 8-bit products in 16 bits.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

NETWORKS = {
    "resnet18": 224,
    "resnet50": 224,
    "vgg11": 224,
    "squeezenet1_1": 224,
    "mobilenet_v2": 224,
    "googlenet": 224,
    "densenet121": 224,
    "efficientnet_b0": 224,
    "inception_v3": 299,
    "alexnet": 224,
}
# Written only if named: it takes half a gigabyte.
LARGE = {"vgg16": 224}
# Quantized networks, and the networks they are made from.
QUANTIZED = {f"{name}_{kind}": name for kind in ("int8", "int7") for name in ("resnet50", "mobilenet_v2")}


def image_size(name: str) -> int:
    return (NETWORKS | LARGE)[QUANTIZED.get(name, name)]


def drawn(name: str):
    """Returns the network, with the same weights each time, and the images that its batch normalization has seen."""
    import torch
    import torchvision

    torch.manual_seed(7)
    extra = {"aux_logits": False, "init_weights": False} if name in ("googlenet", "inception_v3") else {}
    model = getattr(torchvision.models, name)(weights=None, **extra)
    images = torch.rand(8, 3, image_size(name), image_size(name)) * 2 - 1
    norms = [module for module in model.modules() if isinstance(module, torch.nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = None  # a plain mean over all images seen
    with torch.no_grad():
        if norms:
            model.train()(images)
    return model.eval(), images


def make(name: str, path: Path) -> None:
    import torch

    model, images = drawn(name)
    with torch.no_grad():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(model, images[:2], str(path), opset_version=17, dynamo=False, input_names=["x"],
                              output_names=["y"], dynamic_axes={"x": {0: "n"}, "y": {0: "n"}})


def quantize(real: Path, path: Path, size: int, reduce_range: bool) -> None:
    import numpy as np
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Pictures(CalibrationDataReader):
        """Random images, distributed like those that batch normalization saw."""

        def __init__(self) -> None:
            random = np.random.default_rng(3)
            self.batches = iter([{"x": random.uniform(-1, 1, (4, 3, size, size)).astype(np.float32)} for _ in range(2)])

        def get_next(self) -> dict | None:
            return next(self.batches, None)

    with tempfile.TemporaryDirectory() as folder:
        prepared = f"{folder}/{real.name}"
        quant_pre_process(str(real), prepared, skip_symbolic_shape=True)
        quantize_static(prepared, str(path), Pictures(), quant_format=QuantFormat.QDQ, per_channel=True,
                        reduce_range=reduce_range, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)


def provide(name: str, folder: Path) -> Path:
    """Returns the path of the network's file, and writes the file if it does not exist."""
    path = folder / f"{name}.onnx"
    if path.exists():
        return path
    if name in QUANTIZED:
        quantize(provide(QUANTIZED[name], folder), path, image_size(name), name.endswith("_int7"))
    else:
        make(name, path)
    return path


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or NETWORKS:
        if name not in NETWORKS | LARGE | QUANTIZED:
            sys.exit(f"there is no network {name}; there are {', '.join(NETWORKS | LARGE | QUANTIZED)}")
        print(provide(name, folder), flush=True)


if __name__ == "__main__":
    main()

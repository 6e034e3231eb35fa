#!/usr/bin/env python3
"""Trains the eight networks of the course on Fashion-MNIST and writes them as ONNX with float16 weights.

Each network gets raw pixels, 0..255, and its convolutions are valid, stride 1, without bias. Training works on pixels
divided by PIXEL_SCALE and with batch normalization before and after the first fully connected layer; the export folds
all of this into the weights beside it, which is the same function. After training, every model in --out is read back,
run by ONNX Runtime on the test images, and entered into the table of README.md.

Example: python3 models/train.py --model fa19 --device cuda --out /tmp/models
"""

from __future__ import annotations

import argparse
import copy
import itertools
import math
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS repeats itself only with a fixed workspace

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn
from torch.nn import functional

import fashion_mnist

PIXEL_SCALE = 128.0
BATCH = 256
EPOCHS = 60
LEARNING_RATE = 1e-3
WEIGHT_DECAY = 0.02
DROPOUT = (0.3, 0.3)  # before the first and the second fully connected layer
SMOOTHING = 0.05
SHIFT = 2  # largest random shift, in pixels of the 28x28 originals
HELD_OUT = 5000  # last training images, never trained on by --validate and fa17-low
LOW_ACCURACY = 0.63  # where fa17-low stops: the middle of its window 0.55..0.70
TABLE_BEGIN, TABLE_END = "<!-- accuracies: begin -->", "<!-- accuracies: end -->"


@dataclass(frozen=True)
class Network:
    semester: str
    side: int
    convolutions: tuple[tuple[int, int], ...]  # (filters, filter side)
    hidden: int
    low: bool = False  # meant to be poor
    activation: str = "tanh"
    dropout: tuple[float, float] = DROPOUT
    pools: tuple[int, ...] = (2,)  # an activation and a pooling of this side follow each of the first convolutions

    def layers(self) -> str:
        names = []
        for (filters, side), pool in itertools.zip_longest(self.convolutions, self.pools):
            names.append(f"conv {filters}@{side}x{side}")
            if pool is not None:
                names += [self.activation, f"maxpool {pool}"]
        return ", ".join([*names, f"FC {self.hidden}", self.activation, "FC 10", "softmax"])


NETWORKS = {
    "fa17-high": Network("fa17", 28, ((50, 5),), 500),
    "fa17-low": Network("fa17", 28, ((50, 5),), 500, low=True),
    "sp18": Network("sp18", 64, ((6, 5), (16, 5)), 140),
    "fa18": Network("fa18", 72, ((12, 7), (24, 7)), 160),
    "sp19": Network("sp19", 48, ((6, 5), (16, 5)), 140),
    "sp19-library": Network("sp19", 48, ((12, 7), (24, 7)), 160),
    "fa19": Network("fa19", 70, ((12, 5), (24, 5)), 160),
    "sp25": Network("sp25", 86, ((4, 7), (16, 7)), 32, activation="relu", dropout=(0, 0), pools=(2, 4)),
}


# ---- training ----


def build(network: Network) -> nn.Sequential:
    """The network for pixels divided by PIXEL_SCALE, with the normalization and dropout of training; gives logits."""
    activation = {"tanh": nn.Tanh, "relu": nn.ReLU}[network.activation]
    layers: list[nn.Module] = []
    channels, side = 1, network.side
    for (filters, kernel), pool in itertools.zip_longest(network.convolutions, network.pools):
        layers.append(nn.Conv2d(channels, filters, kernel, bias=False))
        channels, side = filters, side - kernel + 1
        if pool is not None:  # as in the course, the last windows may reach beyond the maps
            layers += [activation(), nn.MaxPool2d(pool, ceil_mode=side % pool != 0)]
            side = math.ceil(side / pool)
    if len(network.convolutions) > 1:
        layers.append(nn.BatchNorm2d(channels))
    before, after = (nn.Dropout(share) for share in network.dropout)
    layers += [nn.Flatten(), before, nn.Linear(channels * side * side, network.hidden)]
    layers += [nn.BatchNorm1d(network.hidden), activation(), after, nn.Linear(network.hidden, 10)]
    return nn.Sequential(*layers)


class Batches:
    """Shuffled batches of a training set held on the device, each image mirrored and shifted at random."""

    def __init__(self, images: np.ndarray, labels: np.ndarray, device: torch.device, seed: int) -> None:
        self.side = images.shape[1]
        self.shift = max(1, round(SHIFT * self.side / 28))  # in pixels of the original
        padded = np.pad(images, ((0, 0), (self.shift, self.shift), (self.shift, self.shift)))
        self.images = torch.from_numpy(padded).to(device)
        self.labels = torch.from_numpy(labels.astype(np.int64)).to(device)
        self.random = torch.Generator(device).manual_seed(seed)

    def __len__(self) -> int:
        return math.ceil(len(self.labels) / BATCH)

    def epoch(self):
        device = self.labels.device
        order = torch.randperm(len(self.labels), generator=self.random, device=device)
        for chosen in order.split(BATCH):
            offset = torch.randint(2 * self.shift + 1, (2, len(chosen), 1), generator=self.random, device=device)
            rows, columns = offset + torch.arange(self.side, device=device)
            mirrored = torch.rand(len(chosen), 1, generator=self.random, device=device) < 0.5
            columns = torch.where(mirrored, columns.flip(1), columns)
            images = self.images[chosen[:, None, None], rows[:, :, None], columns[:, None, :]]
            yield scaled(images), self.labels[chosen]


def scaled(images: Tensor) -> Tensor:
    return images.unsqueeze(1).float() / PIXEL_SCALE


@torch.no_grad()
def accuracy(model: nn.Module, images: Tensor, labels: Tensor) -> float:
    model.eval()
    right = sum((model(scaled(x)).argmax(1) == y).sum() for x, y in zip(images.split(1000), labels.split(1000)))
    model.train()
    return float(right) / len(labels)


def train_high(model: nn.Module, batches: Batches, epochs: int, name: str) -> None:
    """AdamW with a warm-up of one epoch and then a cosine to zero, so the last weights are the ones to keep."""
    total, warm = epochs * len(batches), len(batches)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, 0.5 + 0.5 * math.cos(math.pi * step / total))
    )
    start = time.monotonic()
    for epoch in range(1, epochs + 1):
        running = torch.zeros((), device=batches.labels.device)
        for images, labels in batches.epoch():
            loss = functional.cross_entropy(model(images), labels, label_smoothing=SMOOTHING)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            running += loss.detach()
        if epoch == 1 or epoch % 5 == 0 or epoch == epochs:
            spent = time.monotonic() - start
            log(f"{name}: epoch {epoch}/{epochs}, loss {float(running) / len(batches):.4f}, {spent:.0f} s, "
                f"{spent / epoch * (epochs - epoch):.0f} s to go")


def train_low(model: nn.Module, batches: Batches, images: Tensor, labels: Tensor, name: str) -> None:
    """Small plain steps until the held-out images are classified just well enough, then no further."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    step = 0
    while True:
        for x, y in batches.epoch():
            optimizer.zero_grad(set_to_none=True)
            functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            step += 1
            reached = accuracy(model, images, labels)
            if reached >= LOW_ACCURACY:
                log(f"{name}: {reached:.4f} of the held-out images after {step} steps")
                return


def train(name: str, args: argparse.Namespace, device: torch.device) -> nn.Sequential:
    network = NETWORKS[name]
    torch.manual_seed(args.seed)
    images, labels = fashion_mnist.load("train", args.data)
    images, labels = fashion_mnist.resize(images[: args.images], network.side), labels[: args.images]
    held = min(HELD_OUT, len(labels) // 4) if network.low or args.validate else 0
    split = len(labels) - held
    held_images = torch.from_numpy(images[split:]).to(device)
    held_labels = torch.from_numpy(labels[split:].astype(np.int64)).to(device)
    batches = Batches(images[:split], labels[:split], device, args.seed)
    model = build(network).to(device)
    if network.low:
        train_low(model, batches, held_images, held_labels, name)
    else:
        train_high(model, batches, args.epochs, name)
    if args.validate:
        log(f"{name}: held-out accuracy {accuracy(model, held_images, held_labels):.4f}")
    return model


# ---- ONNX ----


@torch.no_grad()
def fold(model: nn.Sequential) -> nn.Sequential:
    """The same function of raw pixels: convolutions, dense layers, activations and pooling only, in float64."""
    layers = [layer for layer in copy.deepcopy(model).double() if not isinstance(layer, nn.Dropout)]
    layers[0].weight /= PIXEL_SCALE
    for i, layer in enumerate(layers):
        if not isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d)):
            continue
        before = layers[i - 1]
        scale = layer.weight / torch.sqrt(layer.running_var + layer.eps)
        shift = layer.bias - layer.running_mean * scale
        if isinstance(layer, nn.BatchNorm1d):
            before.weight *= scale[:, None]
            before.bias.mul_(scale).add_(shift)
            continue
        # A convolution has no bias: the dense layer after Flatten takes the shift of each map.
        dense = layers[i + 2]
        maps = dense.weight.view(len(dense.bias), len(shift), -1)
        dense.bias += (maps.sum(2) * shift).sum(1)
        if isinstance(before, nn.Conv2d):
            before.weight *= scale[:, None, None, None]
        else:
            maps *= scale[:, None]
    return nn.Sequential(*[layer for layer in layers if not isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d))])


def half(value: Tensor, name: str) -> np.ndarray:
    """The float16 nearest to each weight; an error where that is too coarse to be the same network."""
    exact = value.detach().double().cpu().numpy()
    rounded = exact.astype(np.float16)
    error = np.linalg.norm(rounded - exact) / np.linalg.norm(exact)
    if not error < 1e-3:  # 2^-11 and less for normal numbers; subnormal ones would show here
        raise ValueError(f"{name}: rounding to float16 changes the weights by {error:.2e} of their norm")
    return rounded


def export(model: nn.Sequential, name: str, seed: int) -> onnx.ModelProto:
    """The trained network on raw pixels: float16 initializers, each cast to float32, in which all is computed."""
    network = NETWORKS[name]
    nodes: list[onnx.NodeProto] = []
    weights: list[onnx.TensorProto] = []

    def weight(value: Tensor, label: str) -> str:
        weights.append(numpy_helper.from_array(half(value, f"{name} {label}"), f"{label}.float16"))
        nodes.append(helper.make_node("Cast", [f"{label}.float16"], [label], f"{label}.cast", to=TensorProto.FLOAT))
        return label

    def node(op: str, inputs: list[str], label: str, **attributes: object) -> str:
        nodes.append(helper.make_node(op, inputs, [label], label, **attributes))
        return label

    kinds = {nn.Conv2d: "conv", nn.Linear: "fc", nn.Tanh: "tanh", nn.ReLU: "relu", nn.MaxPool2d: "pool"}
    at, counts = "data", dict.fromkeys(kinds.values(), 0)
    for layer in fold(model):
        kind = kinds.get(type(layer))
        if kind is not None:
            counts[kind] += 1
            label = f"{kind}{counts[kind]}"
        if isinstance(layer, nn.Conv2d):
            inputs = [at, weight(layer.weight, f"{label}.weight")]
            at = node("Conv", inputs, label, kernel_shape=list(layer.kernel_size))
        elif isinstance(layer, nn.Tanh):
            at = node("Tanh", [at], label)
        elif isinstance(layer, nn.ReLU):
            at = node("Relu", [at], label)
        elif isinstance(layer, nn.MaxPool2d):
            window = [layer.kernel_size] * 2
            beyond = {"ceil_mode": 1} if layer.ceil_mode else {}
            at = node("MaxPool", [at], label, kernel_shape=window, strides=window, **beyond)
        elif isinstance(layer, nn.Flatten):
            at = node("Flatten", [at], "flatten", axis=1)
        elif isinstance(layer, nn.Linear):
            inputs = [at, weight(layer.weight, f"{label}.weight"), weight(layer.bias, f"{label}.bias")]
            at = node("Gemm", inputs, label, transB=1)
    node("Softmax", [at], "softmax", axis=1)
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info("data", TensorProto.FLOAT, ["N", 1, network.side, network.side])],
        [helper.make_tensor_value_info("softmax", TensorProto.FLOAT, ["N", 10])],
        weights,
        doc_string="Fashion-MNIST, raw pixels 0..255; " + network.layers(),
    )
    proto = helper.make_model(graph, producer_name="convlab", opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    describe(proto, {"model": name, "semester": network.semester, "input_side": str(network.side), "seed": str(seed)})
    onnx.checker.check_model(proto, full_check=True)
    return proto


def describe(proto: onnx.ModelProto, values: dict[str, str]) -> None:
    for key, value in values.items():
        proto.metadata_props.add(key=key, value=value)


def evaluate(model: bytes, network: Network, data: Path) -> tuple[np.ndarray, float]:
    """Which test images ONNX Runtime classifies right, and the narrowest lead of a winning probability."""
    images, labels = fashion_mnist.load("test", data)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    out = []
    for start in range(0, len(images), 1000):
        pixels = fashion_mnist.resize(images[start : start + 1000], network.side)
        out.append(session.run(None, {"data": pixels[:, None].astype(np.float32)})[0])
    scores = np.concatenate(out)
    best = np.sort(scores, axis=1)
    return scores.argmax(1) == labels, float((best[:, -1] - best[:, -2]).min())


# ---- the table ----


def write_readme(directory: Path, data: Path) -> None:
    """README.md of this folder, its table made from the models in `directory`."""
    rows = ["| model | input | layers | 100 images | 1000 images | 10000 images |", "|---|---|---|---|---|---|"]
    for name, network in NETWORKS.items():
        path = directory / f"{name}.onnx"
        if path.exists():
            right, _ = evaluate(path.read_bytes(), network, data)
            scores = " | ".join(f"{right[:count].mean():.4f}" for count in (100, 1000, 10000))
            rows.append(f"| {name} | {network.side}x{network.side} | {network.layers()} | {scores} |")
    text = (Path(__file__).parent / "README.md").read_text()
    before, rest = text.split(TABLE_BEGIN)
    after = rest.split(TABLE_END)[1]
    (directory / "README.md").write_text("\n".join([before + TABLE_BEGIN, *rows, TABLE_END]) + after)


# ---- command line ----


def log(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="all", choices=["all", *NETWORKS], help="which to train (default: all)")
    parser.add_argument("--data", type=Path, default=fashion_mnist.DEFAULT_DATA, help="folder of the four idx.gz")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder to write to (default: models/)")
    parser.add_argument("--device", default="auto", help="auto (default), cpu, cuda, cuda:1")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help=f"default: {EPOCHS}")
    parser.add_argument("--seed", type=int, default=408)
    parser.add_argument("--images", type=int, default=60000, help="train on the first N images only")
    parser.add_argument("--validate", action="store_true",
                        help=f"train without the last {HELD_OUT} images, print the accuracy on them, write nothing")
    parser.add_argument("--table", action="store_true", help="train nothing: measure the models in --out again")
    return parser.parse_args()


def main() -> None:
    args = arguments()
    device = torch.device(("cuda" if torch.cuda.is_available() else "cpu") if args.device == "auto" else args.device)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True  # for training, not for the result
    args.out.mkdir(parents=True, exist_ok=True)
    if args.table:
        write_readme(args.out, args.data)
        return
    for name in NETWORKS if args.model == "all" else [args.model]:
        model = train(name, args, device)
        if args.validate:
            continue
        proto = export(model, name, args.seed)
        right, lead = evaluate(proto.SerializeToString(), NETWORKS[name], args.data)
        describe(proto, {"test_accuracy": f"{right.mean():.4f}"})
        (args.out / f"{name}.onnx").write_bytes(proto.SerializeToString())
        log(f"{name}: test accuracy {right.mean():.4f}, narrowest lead of a class {lead:.1e}")
    if not args.validate:
        write_readme(args.out, args.data)


if __name__ == "__main__":
    main()

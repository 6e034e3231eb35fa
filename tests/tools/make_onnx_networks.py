#!/usr/bin/env python3
"""Generates random small networks from the blocks of image networks, and compares convlab with ONNX Runtime on them.

A network takes one to three inputs through blocks: residual blocks, squeeze and excitation, normalizations, U-nets with
resizing or transposed convolutions, channel shuffles, slices, reductions, attention, pads of all modes, shapes computed
as PyTorch exports them, quantized convolutions and products. It has one to three outputs. Its expected outputs are
those of ONNX Runtime without optimizations. Some normalizations it computes as the mean of squares minus the square of
the mean, which cancels for nearly constant feature maps; those are computed as ONNX defines them. Tolerances are
measured: ONNX Runtime computes the network again with inputs, weights and all intermediate values changed slightly, as
roundings to float32 or bf16 do, and an output may be off by twice the resulting change.

--check runs `BINARY infer` with every plan and arithmetic, and `BINARY convert`, whose result ONNX Runtime must compute
alike. make_onnx_cases.py tests each operator's attributes; this script tests operators in combination.

Examples:
    python3 tests/tools/make_onnx_networks.py --check build/cpu/bin/convlab --count 200 --seed 7
    python3 tests/tools/make_onnx_networks.py --check build/cpu/bin/convlab --only 1234        (one network again)
    python3 tests/tools/make_onnx_networks.py --fixed          (rewrites tests/data/onnx_networks)

Needs the packages numpy, onnx and onnxruntime.
"""

from __future__ import annotations

import argparse
import collections
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parents[2]
FIXED = ROOT / "tests/data/onnx_networks"
FIXED_NETWORKS = 20
FIXED_BYTES = 14_000  # per network
SMALL = 2.0**-22  # relative change of each intermediate value
# Relative change of weights and inputs, for float32, bf16x2 and bf16.
ROUNDINGS = {"fp32": 2.0**-21, "bf16x2": 2.0**-14, "bf16": 2.0**-7}
RUNS = [("layers", "fp32"), ("fused", "fp32"), ("folded", "fp32"), ("fused", "bf16x2"), ("fused", "bf16")]


class Inapplicable(Exception):
    """Raised if the block does not fit the current feature map."""


class Dropped(Exception):
    """Raised if no network could be generated; the text is the reason."""


@dataclass
class Map:
    """A value of shape N x C x H x W."""

    name: str
    c: int
    h: int
    w: int


@dataclass
class Network:
    random: np.random.Generator
    opset: int
    batch: int
    open_batch: bool
    inputs: dict[str, np.ndarray] = field(default_factory=dict)
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    definitions: dict[str, list[onnx.NodeProto]] = field(default_factory=dict)  # of nodes that others compute
    outputs: list[str] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)
    exact: set[str] = field(default_factory=set)  # constants other than weights, such as scales
    fixed_batch: bool = False
    expected: list[np.ndarray] = field(default_factory=list)

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def pick(self, options):
        return options[int(self.random.integers(len(options)))]

    def integer(self, low: int, high: int) -> int:
        """Returns a number from low to high, inclusive."""
        return int(self.random.integers(low, high + 1))

    def need(self, condition: bool) -> None:
        if not condition:
            raise Inapplicable

    def fresh(self, stem: str) -> str:
        return f"{stem}{len(self.nodes) + len(self.constants)}"

    def op(self, kind: str, *inputs: str, outputs: int = 1, **attributes):
        """Adds a node without the attributes whose value is None. Returns the name of its output, or the names of its
        outputs.
        """
        stem = self.fresh(kind.lower())
        names = [stem] + [f"{stem}_{i}" for i in range(1, outputs)]
        given = {key: value for key, value in attributes.items() if value is not None}
        self.nodes.append(helper.make_node(kind, list(inputs), names, stem + "_node", **given))
        return names[0] if outputs == 1 else names

    def constant(self, array: np.ndarray, exact: bool = False) -> str:
        name = self.fresh("weight")
        self.constants[name] = array
        if exact:
            self.exact.add(name)
        return name

    def reals(self, *shape: int, scale: float = 1.0, low: float = -1.0) -> str:
        return self.constant((self.random.uniform(low, 1.0, shape) * scale).astype(np.float32))

    def number(self, value: float) -> str:
        return self.constant(np.array(value, np.float32))

    def integers(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def define(self, output: str, *nodes: tuple) -> None:
        """Defines an output by nodes (operator, inputs, attributes); an input "" is the output of the node before."""
        made, last = [], ""
        for i, (kind, inputs, attributes) in enumerate(nodes):
            given = [last if name == "" else f"{output}.{name}" if isinstance(name, int) else name for name in inputs]
            last = output if i == len(nodes) - 1 else f"{output}.{i}"
            made.append(helper.make_node(kind, given, [last], **attributes))
        self.definitions[output] = made

    def divisor(self, number: int, most: int) -> int:
        return self.pick([d for d in range(1, min(number, most) + 1) if number % d == 0])

    # -- forms that depend on the opset --

    def reduce(self, kind: str, x: str, axes: list[int], keep: bool = True) -> str:
        if kind == "ReduceSum" or self.opset >= 18:
            return self.op(kind, x, self.integers(*axes), keepdims=int(keep))
        return self.op(kind, x, axes=axes, keepdims=int(keep))

    def size(self, x: str, axis: int) -> str:
        """Returns one size of x as a list, as PyTorch exports x.size(axis)."""
        if self.opset >= 15 and self.chance(0.4):
            return self.op("Shape", x, start=axis, end=axis + 1)
        if self.chance(0.5):
            size = self.op("Gather", self.op("Shape", x), self.constant(np.array(axis, np.int64)), axis=0)
            return self.op("Unsqueeze", size, self.integers(0))
        return self.op("Slice", self.op("Shape", x), self.integers(axis), self.integers(axis + 1), self.integers(0))

    def reshape(self, x: str, *sizes: int) -> str:
        """Reshapes each image to these sizes, one of which may be -1. The batch size is 0 (kept) or read from x."""
        if self.chance(0.5):
            return self.op("Reshape", x, self.integers(0, *sizes))
        shape = self.op("Concat", self.size(x, 0), self.integers(*sizes), axis=0)
        return self.op("Reshape", x, shape)

    def slice(self, x: str, start: int, end: int, axis: int, step: int = 1) -> str:
        return self.op(
            "Slice", x, self.integers(start), self.integers(end), self.integers(axis), self.integers(step)
        )


# ---- parts of blocks ----


def convolution(n: Network, m: Map, filters: int, kernel: int = 3, stride: int = 1, groups: int = 1) -> Map:
    dilation = n.pick([1, 1, 2]) if stride == 1 and kernel > 1 else 1
    pad = (kernel - 1) * dilation // 2
    out = [(size + 2 * pad - (kernel - 1) * dilation - 1) // stride + 1 for size in (m.h, m.w)]
    n.need(min(out) >= 1)
    terms = m.c // groups * kernel * kernel
    inputs = [m.name, n.reals(filters, m.c // groups, kernel, kernel, scale=1.7 * terms**-0.5)]
    if n.chance(0.6):
        inputs.append(n.reals(filters, scale=0.3))
    attributes = {"strides": [stride, stride], "pads": [pad] * 4, "dilations": [dilation] * 2, "group": groups}
    if stride == 1 and dilation == 1 and kernel % 2 and n.chance(0.2):
        del attributes["pads"]
        attributes["auto_pad"] = n.pick(["SAME_UPPER", "SAME_LOWER"])
    return Map(n.op("Conv", *inputs, **attributes), filters, *out)


def batch_norm(n: Network, m: Map) -> Map:
    parameters = [n.reals(m.c, low=0.3), n.reals(m.c), n.reals(m.c), n.reals(m.c, low=0.4)]
    return Map(n.op("BatchNormalization", m.name, *parameters), m.c, m.h, m.w)


def activation(n: Network, x: str, channels: int | None = None) -> str:
    plain = ["Relu", "Sigmoid", "Tanh", "Elu", "Selu", "Softplus", "Softsign", "LeakyRelu", "Celu", "HardSigmoid"]
    plain += ["silu", "clip", "erf gelu", "tanh gelu", "hard swish", "ThresholdedRelu", "Shrink", "prelu", "mish"]
    plain += ["HardSwish"] * (n.opset >= 14) + ["Mish"] * (n.opset >= 18) + ["Gelu"] * 2 * (n.opset >= 20)
    kind = n.pick(plain)
    if kind == "silu":
        return n.op("Mul", x, n.op("Sigmoid", x))
    if kind == "clip":
        return n.op("Clip", x, n.number(-0.5), n.number(n.pick([0.7, 6.0])))
    if kind == "hard swish":
        gate = n.op("Clip", n.op("Add", x, n.number(3)), n.number(0), n.number(6))
        return n.op("Div", n.op("Mul", x, gate), n.number(6))
    if kind == "erf gelu":
        half = n.op("Mul", x, n.op("Add", n.op("Erf", n.op("Div", x, n.number(2**0.5))), n.number(1)))
        return n.op("Mul", half, n.number(0.5))
    if kind == "tanh gelu":
        cubed = n.op("Add", x, n.op("Mul", n.op("Pow", x, n.number(3)), n.number(0.044715)))
        tanh = n.op("Tanh", n.op("Mul", cubed, n.number(0.7978846)))
        return n.op("Mul", n.op("Mul", x, n.number(0.5)), n.op("Add", tanh, n.number(1)))
    if kind == "mish":
        return n.op("Mul", x, n.op("Tanh", n.op("Softplus", x)))
    if kind == "prelu":
        slope = n.reals(channels, 1, 1, scale=0.5) if channels else n.reals(1, scale=0.5)
        return n.op("PRelu", x, slope)
    if kind == "Gelu":
        return n.op("Gelu", x, approximate=n.pick([None, "tanh"]))
    if kind == "ThresholdedRelu":  # which is discontinuous for other values of alpha
        return n.op("ThresholdedRelu", x, alpha=0.0)
    if kind == "Shrink":
        return n.op("Shrink", x, lambd=0.2, bias=0.2)
    if kind == "LeakyRelu":
        return n.op("LeakyRelu", x, alpha=n.pick([None, 0.2]))
    return n.op(kind, x)


def activated(n: Network, m: Map) -> Map:
    return Map(activation(n, m.name, m.c), m.c, m.h, m.w)


# ---- blocks: from one feature map to another ----


def conv_block(n: Network, m: Map) -> Map:
    stride = n.pick([1, 1, 1, 2])
    groups = n.pick([1, 1, n.divisor(m.c, 4), m.c])
    out = convolution(n, m, groups * n.integer(1, max(1, 12 // groups)), n.pick([1, 3, 3, 5]), stride, groups)
    if n.chance(0.5):
        out = batch_norm(n, out)
    return activated(n, out) if n.chance(0.8) else out


def residual(n: Network, m: Map) -> Map:
    inner = activated(n, batch_norm(n, convolution(n, m, n.integer(2, 10), n.pick([1, 3]))))
    inner = convolution(n, inner, m.c, n.pick([1, 3]))
    if n.chance(0.3):  # ConvNeXt's layer scale
        inner.name = n.op("Mul", inner.name, n.reals(m.c, 1, 1))
    total = n.op("Add", *n.pick([(m.name, inner.name), (inner.name, m.name)]))
    return activated(n, Map(total, m.c, m.h, m.w)) if n.chance(0.6) else Map(total, m.c, m.h, m.w)


def inverted_residual(n: Network, m: Map) -> Map:
    wide = activated(n, convolution(n, m, 2 * m.c, 1))
    deep = squeeze_excite(n, activated(n, convolution(n, wide, wide.c, 3, 1, wide.c)))
    return Map(n.op("Add", m.name, convolution(n, deep, m.c, 1).name), m.c, m.h, m.w)


def squeeze_excite(n: Network, m: Map) -> Map:
    pooled = n.op("GlobalAveragePool", m.name) if n.chance(0.5) else n.reduce("ReduceMean", m.name, [2, 3])
    squeezed = n.op("Relu", convolution(n, Map(pooled, m.c, 1, 1), max(1, m.c // 2), 1).name)
    excited = convolution(n, Map(squeezed, max(1, m.c // 2), 1, 1), m.c, 1).name
    gate = n.op(n.pick(["Sigmoid", "HardSigmoid"]), excited)
    return Map(n.op("Mul", m.name, gate), m.c, m.h, m.w)


def group_norm(n: Network, m: Map) -> Map:
    n.need(m.h * m.w >= 4)
    groups = n.divisor(m.c, 4)
    scale, bias = n.reals(m.c, low=0.3), n.reals(m.c)
    if n.opset >= 21 and n.chance(0.5):
        name = n.op("GroupNormalization", m.name, scale, bias, num_groups=groups)
        ones, zeros = n.constant(np.ones(groups, np.float32)), n.constant(np.zeros(groups, np.float32))
        rows, whole = n.integers(0, groups, -1), n.integers(0, m.c, m.h, m.w)
        planes = [n.constant(n.constants[each].reshape(m.c, 1, 1)) for each in (scale, bias)]
        n.define(
            name,
            ("Reshape", [m.name, rows], {}),
            ("InstanceNormalization", ["", ones, zeros], {}),
            ("Reshape", ["", whole], {}),
            ("Mul", ["", planes[0]], {}),
            ("Add", ["", planes[1]], {}),
        )
        return Map(name, m.c, m.h, m.w)
    if n.chance(0.3):
        return Map(n.op("InstanceNormalization", m.name, scale, bias), m.c, m.h, m.w)
    rows = n.op("Reshape", m.name, n.integers(0, groups, -1))  # as PyTorch exports it
    ones, zeros = n.constant(np.ones(groups, np.float32)), n.constant(np.zeros(groups, np.float32))
    normal = n.op("Reshape", n.op("InstanceNormalization", rows, ones, zeros), n.op("Shape", m.name))
    scaled = n.op("Mul", normal, n.reals(m.c, 1, 1, low=0.3))
    return Map(n.op("Add", scaled, n.reals(m.c, 1, 1)), m.c, m.h, m.w)


def layer_norm(n: Network, x: str, width: int) -> str:
    """Normalizes over the last dimension."""
    n.need(width >= 3)
    if n.opset >= 17 and n.chance(0.5):
        return n.op("LayerNormalization", x, n.reals(width, low=0.3), n.reals(width), axis=-1, epsilon=1e-3)
    centered = n.op("Sub", x, n.reduce("ReduceMean", x, [-1]))
    variance = n.reduce("ReduceMean", n.op("Pow", centered, n.number(2)), [-1])
    normal = n.op("Div", centered, n.op("Sqrt", n.op("Add", variance, n.number(1e-3))))
    return n.op("Add", n.op("Mul", normal, n.reals(width, low=0.3)), n.reals(width))


def channels_last_norm(n: Network, m: Map) -> Map:
    last = n.op("Transpose", m.name, perm=[0, 2, 3, 1])
    normal = layer_norm(n, last, m.c)
    if n.chance(0.5):  # also with ConvNeXt's dense layers
        wide = activation(n, n.op("MatMul", normal, n.reals(m.c, 2 * m.c, scale=m.c**-0.5)))
        normal = n.op("MatMul", wide, n.reals(2 * m.c, m.c, scale=m.c**-0.5))
    return Map(n.op("Transpose", normal, perm=[0, 3, 1, 2]), m.c, m.h, m.w)


def other_norm(n: Network, m: Map) -> Map:
    kind = n.pick(["LRN", "MeanVarianceNormalization", "rms", "LpNormalization"])
    if kind == "LRN":
        return Map(n.op("LRN", m.name, size=n.pick([1, 3, 5]), alpha=n.pick([None, 0.1]), bias=1.0), m.c, m.h, m.w)
    shifted = n.op("Add", m.name, n.reals(m.c, 1, 1, low=0.5))  # keep norms away from 0
    if kind == "rms":
        square = n.reduce("ReduceMean", n.op("Mul", shifted, shifted), [1])
        name = n.op("Div", shifted, n.op("Sqrt", n.op("Add", square, n.number(1e-2))))
    elif kind == "LpNormalization":
        norm = n.reduce(n.pick(["ReduceL1", "ReduceL2"]), shifted, [1])
        name = n.op("Div", shifted, n.op("Add", norm, n.number(0.5)))
    else:
        n.need(m.h * m.w * n.batch >= 8)
        n.fixed_batch = True  # it mixes images
        name = n.op("MeanVarianceNormalization", m.name)
        axes = {"axes": [0, 2, 3]} if n.opset < 18 else {}
        mean = ["", n.integers(0, 2, 3)] if n.opset >= 18 else [""]
        n.define(
            name,
            ("ReduceMean", [m.name, *mean[1:]], axes),
            ("Sub", [m.name, ""], {}),
            ("Mul", ["", ""], {}),
            ("ReduceMean", mean, axes),
            ("Sqrt", [""], {}),
            ("Add", ["", n.number(1e-9)], {}),
            ("Div", [1, ""], {}),
        )
    return Map(name, m.c, m.h, m.w)


def pool(n: Network, m: Map) -> Map:
    kind = n.pick(["MaxPool", "AveragePool", "LpPool"])
    kernel, stride = n.pick([2, 3]), n.pick([1, 2])
    n.need(min(m.h, m.w) >= kernel)
    pad = n.pick([0, kernel // 2])
    ceil = 1 if kind != "LpPool" and n.chance(0.3) else 0
    out = []
    for size in (m.h, m.w):
        span = size + 2 * pad - kernel
        count = (-(-span // stride) if ceil else span // stride) + 1
        out.append(count - (ceil and (count - 1) * stride >= size + pad))
    attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4}
    if kind != "LpPool":
        attributes["ceil_mode"] = ceil
    if kind == "AveragePool":
        attributes["count_include_pad"] = 0 if ceil else n.pick([0, 1])
    return Map(n.op(kind, m.name, **attributes), m.c, *(int(o) for o in out))


def upsampled(n: Network, m: Map, h: int, w: int) -> str:
    """Resizes the feature map, by sizes computed from shapes or by scales."""
    mode = n.pick(["nearest", "linear", "linear", "cubic"])
    rule = n.pick(["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"])
    if mode == "nearest":
        rule = "asymmetric"
    attributes = {"mode": mode, "coordinate_transformation_mode": rule}
    if mode == "nearest":
        attributes["nearest_mode"] = "floor"
    if mode == "cubic":
        attributes["cubic_coeff_a"] = -0.75
    whole = h % m.h == 0 and w % m.w == 0
    if whole and n.chance(0.5):
        scales = n.constant(np.array([1, 1, h // m.h, w // m.w], np.float32), exact=True)
        return n.op("Resize", m.name, "", scales, **attributes)
    if n.opset >= 18 and n.chance(0.3):
        return n.op("Resize", m.name, "", "", n.integers(h, w), axes=[2, 3], **attributes)
    front = n.slice(n.op("Shape", m.name), 0, 2, 0)
    sizes = n.op("Concat", front, n.integers(h, w), axis=0)
    return n.op("Resize", m.name, "", "", sizes, **attributes)


def transposed(n: Network, m: Map, filters: int, h: int, w: int) -> str:
    """Adds a transposed convolution to twice the size, or one pixel more or less."""
    kernel = n.pick([2, 3, 4])
    groups = n.pick([1, 1, n.divisor(np.gcd(m.c, filters), 4)])
    inputs = [m.name, n.reals(m.c, filters // groups, kernel, kernel, scale=(m.c / groups) ** -0.5)]
    if n.chance(0.5):
        inputs.append(n.reals(filters))
    # Reduces the size from 2s - 2 + kernel to the requested one by pads and output padding.
    attributes = {"strides": [2, 2], "group": groups}
    pads, added = [], []
    for size, wanted in ((m.h, h), (m.w, w)):
        extra = 2 * size - 2 + kernel - wanted
        pads.append(max(0, (extra + 1) // 2))
        added.append(2 * pads[-1] - extra)
        n.need(0 <= added[-1] < 2)
    if n.chance(0.3):
        attributes["output_shape"] = [h, w]
    else:
        attributes |= {"pads": pads * 2, "output_padding": added}
    return n.op("ConvTranspose", *inputs, **attributes)


def u_net(n: Network, m: Map) -> Map:
    n.need(min(m.h, m.w) >= 4)
    if n.chance(0.5):
        down = convolution(n, m, n.integer(2, 10), 3, 2)
    else:
        down = Map(n.op("MaxPool", m.name, kernel_shape=[2, 2], strides=[2, 2]), m.c, m.h // 2, m.w // 2)
    inner = conv_like(n, down)
    if n.chance(0.4):
        filters = n.integer(1, 8)
        up = Map(transposed(n, inner, filters, m.h, m.w), filters, m.h, m.w)
    else:
        up = Map(upsampled(n, inner, m.h, m.w), inner.c, m.h, m.w)
    if n.chance(0.3) and up.c == m.c:
        joined = Map(n.op("Add", m.name, up.name), m.c, m.h, m.w)
    else:
        joined = Map(n.op("Concat", m.name, up.name, axis=1), m.c + up.c, m.h, m.w)
    return convolution(n, joined, n.integer(2, 10), n.pick([1, 3]))


def conv_like(n: Network, m: Map) -> Map:
    return n.pick([conv_block_same, residual, squeeze_excite, conv_block_same])(n, m)


def conv_block_same(n: Network, m: Map) -> Map:
    return activated(n, convolution(n, m, n.integer(2, 10), n.pick([1, 3])))


def shrink_or_grow(n: Network, m: Map) -> Map:
    h, w = n.integer(2, 12), n.integer(2, 12)
    return Map(upsampled(n, m, h, w), m.c, h, w)


def shuffle(n: Network, m: Map) -> Map:
    groups = n.divisor(m.c, 6)
    n.need(1 < groups)
    parts = n.reshape(m.name, groups, m.c // groups, m.h, m.w)
    return Map(n.reshape(n.op("Transpose", parts, perm=[0, 2, 1, 3, 4]), m.c, m.h, m.w), m.c, m.h, m.w)


def split_block(n: Network, m: Map) -> Map:
    n.need(m.c >= 2)
    first = n.integer(1, m.c - 1)
    if n.chance(0.5):
        a, b = n.op("Split", m.name, n.integers(first, m.c - first), outputs=2, axis=1)
    else:
        a, b = n.slice(m.name, 0, first, 1), n.slice(m.name, first, n.pick([m.c, 2**63 - 1]), 1)
    done = conv_block_same(n, Map(b, m.c - first, m.h, m.w))
    return Map(n.op("Concat", *n.pick([(a, done.name), (done.name, a)]), axis=1), first + done.c, m.h, m.w)


def pick_block(n: Network, m: Map) -> Map:
    """Slices with steps, gathered channels, tiles and flipped images."""
    kind = n.pick(["steps", "gather", "reverse", "tile", "focus", "elements"])
    if kind == "steps":
        n.need(m.h >= 3)
        return Map(n.slice(m.name, 1, m.h, 2, 2), m.c, (m.h) // 2, m.w)
    if kind == "gather":
        order = [int(i) for i in n.random.integers(-m.c, m.c, n.integer(1, 8))]
        return Map(n.op("Gather", m.name, n.integers(*order), axis=1), len(order), m.h, m.w)
    if kind == "reverse":
        return Map(n.slice(m.name, -1, -(2**62), 3, -1), m.c, m.h, m.w)
    if kind == "tile":
        n.need(m.c <= 6)
        return Map(n.op("Tile", m.name, n.integers(1, 2, 1, 1)), 2 * m.c, m.h, m.w)
    if kind == "elements":
        order = n.random.integers(0, m.w, (1, m.c, m.h, m.w))
        n.fixed_batch = True
        places = n.constant(np.repeat(order, n.batch, 0).astype(np.int64))
        return Map(n.op("GatherElements", m.name, places, axis=3), m.c, m.h, m.w)
    n.need(m.h % 2 == 0 and m.w % 2 == 0 and m.c <= 4)
    quarters = []
    for i, j in ((0, 0), (1, 0), (0, 1), (1, 1)):
        quarters.append(n.slice(n.slice(m.name, i, m.h, 2, 2), j, m.w, 3, 2))
    return Map(n.op("Concat", *quarters, axis=1), 4 * m.c, m.h // 2, m.w // 2)


def space_depth(n: Network, m: Map) -> Map:
    if m.c % 4 == 0 and m.h * m.w <= 100:
        return Map(
            n.op("DepthToSpace", m.name, blocksize=2, mode=n.pick(["DCR", "CRD"])), m.c // 4, 2 * m.h, 2 * m.w
        )
    n.need(m.h % 2 == 0 and m.w % 2 == 0 and m.c <= 4)
    return Map(n.op("SpaceToDepth", m.name, blocksize=2), 4 * m.c, m.h // 2, m.w // 2)


def padded(n: Network, m: Map) -> Map:
    mode = n.pick(["constant", "reflect", "edge"] + ["wrap"] * (n.opset >= 19))
    pads = [n.integer(0, min(2, size - 1)) for size in (m.h, m.w, m.h, m.w)]
    every = n.integers(0, 0, *pads[:2], 0, 0, *pads[2:])
    inputs = [m.name, every] + ([n.number(n.pick([0, 0.5]))] if mode == "constant" else [])
    wide = Map(n.op("Pad", *inputs, mode=mode), m.c, m.h + pads[0] + pads[2], m.w + pads[1] + pads[3])
    if min(wide.h, wide.w) < 3:
        return wide
    filters = n.integer(2, 8)
    out = n.op("Conv", wide.name, n.reals(filters, m.c, 3, 3, scale=0.6 * m.c**-0.5))
    return Map(out, filters, wide.h - 2, wide.w - 2)


def arithmetic(n: Network, m: Map) -> Map:
    """Continuous functions of one or several numbers."""
    x = n.op("Tanh", m.name) if n.chance(0.5) else m.name
    other = n.op("Mul", x, n.reals(*n.pick([(m.c, 1, 1), (1,), (m.h, 1), (m.w,)]), low=0.2))
    kinds = ["one", "one", "two", "many", "where", "min clip", "log", "divide", "mean of axes", "cumulated", "top"]
    kind = n.pick(kinds)
    if kind == "one":
        name = n.op(n.pick(["Abs", "Neg", "Sin", "Cos", "Erf", "Atan", "Sinh", "Asinh", "Exp"]), n.op("Tanh", x))
    elif kind == "two":
        name = n.op(n.pick(["Sub", "Max", "Min", "Add", "Mul"]), *n.pick([(x, other), (other, x)]))
    elif kind == "many":
        name = n.op(n.pick(["Sum", "Mean", "Max", "Min"]), x, other, n.op("Neg", x))
    elif kind == "where":  # continuous at the boundary
        border = n.number(0.1)
        truth = n.op(n.pick(["Greater", "GreaterOrEqual"]), x, border)
        if n.chance(0.3):
            truth = n.op("Not", n.op(n.pick(["And", "Or"]), truth, n.op("Less", x, border)))
            name = n.op("Mul", n.op("Cast", truth, to=TensorProto.FLOAT), n.op("Sub", x, border))
        else:
            name = n.op("Where", truth, n.op("Add", n.op("Mul", x, n.number(2)), n.number(-0.1)), x)
    elif kind == "min clip":
        name = n.op("Max", n.op("Min", x, n.reals(m.c, 1, 1, low=0.2)), n.number(-0.5))
    elif kind == "log":
        name = n.op("Log", n.op("Add", n.op("Abs", x), n.number(1)))
    elif kind == "divide":
        below = n.op("Add", n.op("Mul", other, other), n.number(1))
        name = n.op("Div", x, below) if n.chance(0.5) else n.op("Mul", x, n.op("Reciprocal", below))
    elif kind == "cumulated":
        name = n.op("CumSum", x, n.constant(np.array(n.pick([1, 2, 3, -1]), np.int64)), reverse=n.pick([0, 1]))
    elif kind == "top":
        k = n.integer(1, m.c)
        values = n.op("TopK", x, n.integers(k), outputs=2, axis=1)[0]
        return Map(values, k, m.h, m.w)
    else:
        kinds = ["ReduceMean", "ReduceMax", "ReduceMin", "ReduceSumSquare", "ReduceL1", "ReduceLogSumExp", "ReduceSum"]
        name = n.op("Sub", x, n.reduce(n.pick(kinds), n.op("Tanh", x), n.pick([[1], [2, 3], [-1], [2]])))
    return Map(name, m.c, m.h, m.w)


def grid_sample(n: Network, m: Map) -> Map:
    n.need(n.opset >= 16 and not n.open_batch)
    n.fixed_batch = True
    h, w = n.integer(1, 8), n.integer(1, 8)
    grid = n.constant(n.random.uniform(-1.2, 1.2, (n.batch, h, w, 2)).astype(np.float32))
    mode = "linear" if n.opset >= 20 else "bilinear"
    padding = n.pick(["zeros", "border", "reflection"])
    name = n.op("GridSample", m.name, grid, mode=mode, padding_mode=padding, align_corners=n.pick([0, 1]))
    return Map(name, m.c, h, w)


def einsum(n: Network, m: Map) -> Map:
    filters = n.integer(1, 8)
    kind = n.pick(["channels", "rows", "outer"])
    if kind == "channels":
        name = n.op("Einsum", m.name, n.reals(filters, m.c, scale=m.c**-0.5), equation="nchw,dc->ndhw")
        return Map(name, filters, m.h, m.w)
    if kind == "rows":
        name = n.op("Einsum", m.name, n.reals(m.h, filters, scale=m.h**-0.5), equation="nchw,hd->ncdw")
        return Map(name, m.c, filters, m.w)
    name = n.op("Einsum", m.name, n.op("Tanh", m.name), equation="nchw,ncvw->nchv")
    return Map(n.op("Mul", name, n.number(1 / m.w)), m.c, m.h, m.h)


def attention(n: Network, m: Map) -> Map:
    tokens = m.h * m.w
    n.need(2 <= tokens <= 100)
    heads = n.pick([1, 2])
    head = n.integer(2, 4)
    width = heads * head
    x = n.op("Transpose", n.reshape(m.name, m.c, tokens), perm=[0, 2, 1])
    normal = layer_norm(n, x, m.c) if m.c >= 3 else x
    joint = n.op("MatMul", normal, n.reals(m.c, 3 * width, scale=m.c**-0.5))
    if n.chance(0.5):
        joint = n.op("Add", joint, n.reals(3 * width))
    parts = n.op("Transpose", n.reshape(joint, tokens, 3, heads, head), perm=[2, 0, 3, 1, 4])
    if n.chance(0.5):
        q, k, v = [n.op("Gather", parts, n.constant(np.array(i, np.int64)), axis=0) for i in range(3)]
    else:
        thirds = n.op("Split", parts, n.integers(1, 1, 1), outputs=3, axis=0)
        q, k, v = [n.op("Squeeze", third, n.integers(0)) for third in thirds]
    q = n.op("Mul", q, n.number(head**-0.5))
    if n.chance(0.4):
        scores = n.op("Einsum", q, k, equation="bhid,bhjd->bhij")
    else:
        scores = n.op("MatMul", q, n.op("Transpose", k, perm=[0, 1, 3, 2]))
    if n.chance(0.4):
        scores = n.op("Add", scores, n.reals(heads, tokens, tokens))
    seen = n.op("MatMul", n.op("Softmax", scores, axis=-1), v)
    seen = n.reshape(n.op("Transpose", seen, perm=[0, 2, 1, 3]), tokens, width)
    x = n.op("Add", x, n.op("MatMul", seen, n.reals(width, m.c, scale=width**-0.5)))
    if n.chance(0.5):
        normal = layer_norm(n, x, m.c) if m.c >= 3 else x
        wide = n.op("Add", n.op("MatMul", normal, n.reals(m.c, 8, scale=m.c**-0.5)), n.reals(8))
        wide = activation(n, wide)
        x = n.op("Add", x, n.op("MatMul", wide, n.reals(8, m.c, scale=0.3)))
    back = n.op("Transpose", x, perm=[0, 2, 1])
    return Map(n.reshape(back, m.c, m.h, m.w), m.c, m.h, m.w)


def second_input(n: Network, m: Map) -> Map:
    """Adds an input that shifts and scales feature maps, or is concatenated to them."""
    n.need(len(n.inputs) < 3)
    name = f"condition{len(n.inputs)}"
    if n.chance(0.5):
        n.inputs[name] = n.random.uniform(-1, 1, (n.batch, 3)).astype(np.float32)
        both = n.op("Gemm", name, n.reals(3, 2 * m.c), n.reals(2 * m.c))
        scale, shift = n.op("Split", n.op("Unsqueeze", both, n.integers(2, 3)), n.integers(m.c, m.c), outputs=2, axis=1)
        return Map(n.op("Add", n.op("Mul", m.name, scale), shift), m.c, m.h, m.w)
    channels = n.integer(1, 3)
    n.inputs[name] = n.random.uniform(-1, 1, (n.batch, channels, m.h, m.w)).astype(np.float32)
    return Map(n.op("Concat", m.name, name, axis=1), m.c + channels, m.h, m.w)


def expand_block(n: Network, m: Map) -> Map:
    """Adds a position for each pixel, the same for all images. Their number is read from the feature map's shape."""
    shape = n.op("Concat", n.size(m.name, 0), n.integers(1, m.h, m.w), axis=0)
    if n.chance(0.5):
        mean = n.reduce("ReduceMean", m.name, [1, 2, 3])
        plane = n.op("Expand", mean, shape)
    else:
        plane = n.op("Expand", n.reduce("ReduceMax", m.name, [1]), n.integers(1, 1, m.h, m.w))
    return Map(n.op("Concat", m.name, plane, axis=1), m.c + 1, m.h, m.w)


BLOCKS: list[tuple[Callable[[Network, Map], Map], float]] = [
    (conv_block, 4), (residual, 3), (inverted_residual, 2), (squeeze_excite, 2), (group_norm, 2),
    (channels_last_norm, 2), (other_norm, 1), (pool, 2), (u_net, 2), (shrink_or_grow, 1), (shuffle, 1.5),
    (split_block, 1.5), (pick_block, 1.5), (space_depth, 1), (padded, 2), (arithmetic, 4), (grid_sample, 1),
    (einsum, 1), (attention, 2), (second_input, 1), (expand_block, 1),
]  # fmt: skip


# ---- quantized blocks: all scales are powers of 2, so that integers stay exact ----


def power(n: Network, low: int, high: int) -> str:
    return n.constant(np.array(2.0 ** n.integer(low, high), np.float32))


def quantized(n: Network, m: Map) -> Map:
    """The first blocks of a quantized network: from the input to a real-valued feature map."""
    signed = n.chance(0.3)
    kind, low, high = (np.int8, -128, 127) if signed else (np.uint8, 0, 255)
    scale, zero = power(n, -6, -4), n.constant(np.array(n.integer(-10, 10) if signed else n.integer(100, 150), kind))
    form = n.pick(["qdq", "qlinear", "integer", "dynamic"])
    filters, kernel = n.integer(1, 8), n.pick([1, 3])
    pad = kernel // 2
    weights = n.constant(n.random.integers(-100, 101, (filters, m.c, kernel, kernel)).astype(np.int8))
    attributes = {"pads": [pad] * 4, "kernel_shape": [kernel] * 2}
    if form == "dynamic":
        whole, scale, zero = n.op("DynamicQuantizeLinear", m.name, outputs=3)
        n.fixed_batch = True  # it mixes images
    else:
        whole = n.op("QuantizeLinear", m.name, scale, zero)
    if form in ("dynamic", "integer"):
        if signed and form == "integer":  # ONNX Runtime does not support this ConvInteger
            wide = n.op("Add", n.op("Cast", whole, to=TensorProto.INT32), n.constant(np.array(128, np.int32)))
            whole = n.op("Cast", wide, to=TensorProto.UINT8)
            zero = n.constant(np.array(n.integer(100, 150), np.uint8))
        sums = n.op("ConvInteger", whole, weights, zero, **attributes)
        real = n.op("Mul", n.op("Cast", sums, to=TensorProto.FLOAT), n.op("Mul", scale, n.number(2.0**-7)))
        return Map(real, filters, m.h, m.w)
    by_map = n.chance(0.5)
    w_scales = (2.0 ** n.random.integers(-8, -5, filters)).astype(np.float32)
    w_scale = n.constant(w_scales, exact=True) if by_map else power(n, -8, -6)
    w_zero = n.constant(np.zeros(filters if by_map else (), np.int8))
    y_scale = power(n, -5, -3)
    y_zero = n.constant(np.array(n.integer(-10, 10) if signed else n.integer(100, 150), kind))
    if form == "qlinear":
        inputs = [whole, scale, zero, weights, w_scale, w_zero, y_scale, y_zero]
        if n.chance(0.6):
            inputs.append(n.constant(n.random.integers(-500, 501, filters).astype(np.int32)))
        whole = n.op("QLinearConv", *inputs, **attributes)
        out = Map(whole, filters, m.h, m.w)
        if min(m.h, m.w) >= 2 and n.chance(0.5):
            out = Map(n.op("MaxPool", whole, kernel_shape=[2, 2], strides=[2, 2]), filters, m.h // 2, m.w // 2)
        return Map(n.op("DequantizeLinear", out.name, y_scale, y_zero), filters, out.h, out.w)
    real = n.op("DequantizeLinear", whole, scale, zero)
    filter_ = n.op("DequantizeLinear", weights, w_scale, w_zero, axis=0 if by_map else None)
    sums = n.op("Conv", real, filter_, **attributes)
    again = n.op("QuantizeLinear", sums, y_scale, y_zero)
    first = Levels(Map(again, filters, m.h, m.w), int(np.log2(n.constants[y_scale])), y_zero)
    return quantized_chain(n, first, kind) if n.chance(0.7) else first.real(n)


@dataclass
class Levels:
    """A quantized feature map. Its scale is 2 to the power of `exponent`."""

    map: Map
    exponent: int
    zero: str

    def real(self, n: Network) -> Map:
        scale = n.constant(np.array(2.0**self.exponent, np.float32), exact=True)
        return Map(n.op("DequantizeLinear", self.map.name, scale, self.zero), self.map.c, self.map.h, self.map.w)


def quantized_chain(n: Network, x: Levels, kind: type) -> Map:
    """Adds more quantized blocks between QuantizeLinear and DequantizeLinear, as quantizers export them."""
    values = [x]
    for _ in range(n.integer(1, 5)):
        x = values[-1]
        m, exponent, zero = x.real(n), x.exponent, None
        block = n.pick(["convolution", "convolution", "depthwise", "add", "join", "pool"])
        if block in ("convolution", "depthwise"):
            kernel, groups = n.pick([1, 3]), m.c if block == "depthwise" else 1
            filters = m.c if block == "depthwise" else n.integer(1, 24)
            weights = n.constant(n.random.integers(-100, 101, (filters, m.c // groups, kernel, kernel)).astype(np.int8))
            w_scales = (2.0 ** n.random.integers(-8, -5, filters)).astype(np.float32)
            filter_ = n.op("DequantizeLinear", weights, n.constant(w_scales, exact=True),
                           n.constant(np.zeros(filters, np.int8)), axis=0)  # fmt: skip
            inputs = [m.name, filter_]
            if n.chance(0.6):
                bias = n.constant(n.random.integers(-500, 501, filters).astype(np.int32))
                inputs.append(n.op("DequantizeLinear", bias, n.constant(w_scales * np.float32(2.0**exponent), exact=True),
                                   n.constant(np.zeros(filters, np.int32)), axis=0))  # fmt: skip
            pads = [kernel // 2] * 4
            y = n.op("Conv", *inputs, pads=pads, group=groups, kernel_shape=[kernel] * 2)
            m = Map(y, filters, m.h, m.w)
            exponent += int(np.round(0.5 * np.log2(x.map.c // groups * kernel * kernel)))
        elif block == "pool":
            if min(m.h, m.w) < 2:
                break
            m = Map(n.op("MaxPool", m.name, kernel_shape=[2, 2], strides=[2, 2]), m.c, m.h // 2, m.w // 2)
            zero = x.zero if n.chance(0.7) else None
        else:
            other = n.pick(values)
            fits = other.map.c == m.c if block == "add" else other.map.c + m.c <= 24
            if not fits or (other.map.h, other.map.w) != (m.h, m.w):
                break
            exponent = max(exponent, other.exponent)
            pair = [m.name, other.real(n).name]
            y = n.op("Add", *pair) if block == "add" else n.op("Concat", *pair, axis=1)
            m = Map(y, m.c if block == "add" else m.c + other.map.c, m.h, m.w)
        if n.chance(0.4):
            m = Map(n.op("Relu", m.name), m.c, m.h, m.w)
        if zero is None:
            low, high = (-20, 20) if kind is np.int8 else (100, 150)
            zero = n.constant(np.array(n.integer(low, high), kind))
        scale = n.constant(np.array(2.0**exponent, np.float32), exact=True)
        values.append(Levels(Map(n.op("QuantizeLinear", m.name, scale, zero), m.c, m.h, m.w), exponent, zero))
    return values[-1].real(n)


def quantized_dense(n: Network, x: str, width: int) -> str:
    """Adds a first dense layer on a flat input, in integers."""
    scale, zero = power(n, -6, -4), n.constant(np.array(n.integer(100, 150), np.uint8))
    whole = n.op("QuantizeLinear", x, scale, zero)
    outputs = n.integer(1, 8)
    weights = n.constant(n.random.integers(-100, 101, (width, outputs)).astype(np.int8))
    w_zero = n.constant(np.array(n.integer(-3, 3), np.int8))
    if n.chance(0.5):
        sums = n.op("MatMulInteger", whole, weights, zero, w_zero)
        return n.op("Mul", n.op("Cast", sums, to=TensorProto.FLOAT), n.number(2.0**-12))
    y_scale, y_zero = power(n, -5, -2), n.constant(np.array(128, np.uint8))
    product = n.op("QLinearMatMul", whole, scale, zero, weights, power(n, -8, -6), w_zero, y_scale, y_zero)
    return n.op("DequantizeLinear", product, y_scale, y_zero)


# ---- heads ----


def head(n: Network, m: Map) -> str:
    kind = n.pick(["map", "pooled", "pooled", "flat", "reduced"])
    if kind == "map":
        return m.name
    if kind == "pooled":
        pooled = n.op(n.pick(["GlobalAveragePool", "GlobalMaxPool"]), m.name)
        flat, width = n.op("Flatten", pooled) if n.chance(0.5) else n.reshape(pooled, m.c), m.c
    elif kind == "reduced":
        kinds = ["ReduceMean", "ReduceMax", "ReduceL2", "ReduceSum", "ReduceLogSumExp"]
        flat, width = n.reduce(n.pick(kinds), m.name, n.pick([[2, 3], [-1, -2]]), False), m.c
    else:
        width = m.c * m.h * m.w
        flat = n.reshape(m.name, -1) if n.chance(0.6) else n.op("Flatten", m.name)
    classes = n.integer(2, 10)
    scale = width**-0.5
    if n.chance(0.5):
        scores = n.op("Gemm", flat, n.reals(classes, width, scale=scale), n.reals(classes), transB=1)
    else:
        scores = n.op("Add", n.op("MatMul", flat, n.reals(width, classes, scale=scale)), n.reals(classes))
    return n.op(n.pick(["Softmax", "LogSoftmax", "Identity", "Sigmoid"]), scores)


def build(seed: int, small: bool) -> Network:
    random = np.random.default_rng((20, seed))
    opset = int(random.integers(13, 23))
    n = Network(random, opset, int(random.integers(1, 4 if small else 21)), bool(random.random() < 0.7))
    side = 8 if small else 12
    c, h, w = n.integer(1, 4), n.integer(3, side), n.integer(3, side)
    n.inputs["image"] = random.uniform(-2, 2, (n.batch, c, h, w)).astype(np.float32)
    m = Map("image", c, h, w)
    if n.chance(0.2):
        m = quantized(n, m)
        n.blocks.append("quantized")
    weights = np.array([weight for _, weight in BLOCKS])
    length, ends = n.integer(1, 4 if small else 8), []
    tries = 0
    while len(n.blocks) < length and tries < 50:
        tries += 1
        before = len(n.nodes), dict(n.constants), dict(n.inputs), n.fixed_batch
        block = BLOCKS[int(random.choice(len(BLOCKS), p=weights / weights.sum()))][0]
        try:
            after = block(n, m)
            if after.c > 24 or after.h * after.w > 400:
                raise Inapplicable
        except Inapplicable:
            del n.nodes[before[0] :]
            n.constants, n.inputs, n.fixed_batch = before[1:]
            continue
        m = after
        n.blocks.append(block.__name__)
        if n.chance(0.15) and len(ends) < 2:
            ends.append(head(n, m))
    ends.append(head(n, m))
    if n.chance(0.1):
        ends.append(quantized_dense(n, n.op("Flatten", "image"), c * h * w))
    n.outputs = list(dict.fromkeys(ends))
    if any(name in n.inputs for name in n.outputs):
        raise Dropped("an output is an input")
    n.expected = run_onnxruntime(model_of(n, defined=True), n.inputs)
    for value in n.expected:
        if value.size == 0 or not np.abs(value).max() <= 1e4:
            raise Dropped("values grew too large")
    return n


def model_of(n: Network, shapes: bool = False, defined: bool = False) -> onnx.ModelProto:
    """Returns the model, with the outputs' shapes if `shapes`, and with nodes replaced by their definitions if
    `defined`.
    """
    open_batch = n.open_batch and not n.fixed_batch
    nodes = [each for node in n.nodes for each in (defined and n.definitions.get(node.output[0]) or [node])]
    read = {name for node in nodes for name in node.input}

    def described(name: str, array: np.ndarray) -> onnx.ValueInfoProto:
        sizes: list[int | str] = list(array.shape)
        if open_batch and sizes:
            sizes[0] = "N"
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)

    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in n.outputs]
    if shapes:
        outputs = [described(name, value) for name, value in zip(n.outputs, n.expected)]
    graph = helper.make_graph(
        nodes,
        "network",
        [described(name, array) for name, array in n.inputs.items()],
        outputs,
        [numpy_helper.from_array(array, name) for name, array in n.constants.items() if name in read],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", n.opset)], ir_version=9)


def run_onnxruntime(model: onnx.ModelProto | Path, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # unfused, as defined
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    source = str(model) if isinstance(model, Path) else model.SerializeToString()
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    wanted = {entry.name for entry in session.get_inputs()}
    return session.run(None, {name: array for name, array in inputs.items() if name in wanted})


def moved(n: Network, relative: float) -> list[float]:
    """Returns how far roundings of this size move each output, relative to its L2 norm."""
    random = np.random.default_rng(5)

    def off(array: np.ndarray, name: str) -> np.ndarray:
        whole = name == "image" and any(node.op_type.endswith("QuantizeLinear") for node in n.nodes)  # rounded first
        if array.dtype != np.float32 or array.ndim == 0 or name in n.exact or whole:
            return array
        return (array * (1 + relative * random.choice([-1.0, 1.0], array.shape))).astype(np.float32)

    shifted = Network(n.random, n.opset, n.batch, n.open_batch, nodes=n.nodes, outputs=n.outputs)
    shifted.definitions = n.definitions
    shifted.constants = {name: off(array, name) for name, array in n.constants.items()}
    shifted.inputs = {name: off(array, name) for name, array in n.inputs.items()}
    model = model_of(shifted, defined=True)
    try:
        rounded = onnx.ModelProto()
        rounded.CopyFrom(model)
        round_each(rounded, shifted.inputs, random)
        values = run_onnxruntime(rounded, shifted.inputs)
    except Exception:  # ONNX Runtime expects a different shape of a ceil_mode pool than it computes
        values = run_onnxruntime(model, shifted.inputs)
    return [error_of(value, expected) for value, expected in zip(values, n.expected)]


def round_each(model: onnx.ModelProto, inputs: dict[str, np.ndarray], random: np.random.Generator) -> None:
    """Changes each value of a model slightly, as another order of summation would, so that cancellation becomes
    visible. Values that are quantized later are exact, and stay unchanged.
    """
    nodes = list(model.graph.node)
    exact: set[str] = set()
    for node in reversed(nodes):
        if "Quantize" in node.op_type or exact.intersection(node.output):
            exact.update(node.input)
    every = onnx.ModelProto()
    every.CopyFrom(model)
    del every.graph.output[:]
    names = [name for node in nodes for name in node.output if name not in exact]
    every.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    values = dict(zip(names, run_onnxruntime(every, inputs)))
    del model.graph.node[:]
    for node in nodes:
        model.graph.node.append(node)
        own, outputs = model.graph.node[-1], list(node.output)
        for i, name in enumerate(outputs):
            value = values.get(name)
            if value is None or value.dtype != np.float32:
                continue
            noise = (1 + SMALL * random.choice([-1.0, 1.0], value.shape)).astype(np.float32)
            own.output[i] = f"{name}.right"
            model.graph.initializer.append(numpy_helper.from_array(noise, f"{name}.noise"))
            model.graph.node.append(helper.make_node("Mul", [f"{name}.right", f"{name}.noise"], [name]))


def error_of(value: np.ndarray, expected: np.ndarray) -> float:
    norm = float(np.linalg.norm(expected.astype(np.float64)))
    return float(np.linalg.norm(value.astype(np.float64) - expected)) / max(norm, 1e-3 * expected.size**0.5)


def tolerances(n: Network, rounding: float) -> list[float]:
    return [2 * each + 2 * rounding for each in moved(n, rounding)]


# ---- saving and checking networks ----


def save(n: Network, folder: Path, name: str) -> int:
    """Writes a network, its inputs and its outputs; returns their size in bytes."""
    for i, array in enumerate(n.inputs.values()):
        np.save(folder / f"{name}.input_{i}.npy", array)
    for i, array in enumerate(n.expected):
        np.save(folder / f"{name}.output_{i}.npy", np.ascontiguousarray(array))
    (folder / f"{name}.onnx").write_bytes(model_of(n, shapes=True).SerializeToString())
    return sum(path.stat().st_size for path in folder.glob(f"{name}.*"))


def run_binary(arguments: list[str]) -> str:
    """Runs a command; returns its error message, or ""."""
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "no answer in 120 s"
    return "" if done.returncode == 0 else f"exit status {done.returncode}: {done.stderr.strip()[:400]}"


def compare(values: list[np.ndarray], n: Network, allowed: list[float]) -> tuple[str, float]:
    worst = 0.0
    for i, (value, expected) in enumerate(zip(values, n.expected)):
        if value.shape != expected.shape:
            return f"output {i} is {value.shape}, not {expected.shape}", np.inf
        error = error_of(value, expected)
        worst = max(worst, error / allowed[i])
        if not error <= allowed[i]:
            return f"output {i} is off by {error:.3g}, allowed are {allowed[i]:.3g}", worst
    return "", worst


def check(binary: str, n: Network, folder: Path, worst: dict[str, float]) -> list[str]:
    """Returns all errors of one network."""
    save(n, folder, "network")
    problems = []
    given = [f"{name}={folder}/network.input_{i}.npy" for i, name in enumerate(n.inputs)]
    model, threads = str(folder / "network.onnx"), n.pick(["1", "2"])
    used = {name for node in n.nodes for name in node.input}
    given = [each for each in given if each.partition("=")[0] in used]
    for plan, math in RUNS:
        allowed = tolerances(n, ROUNDINGS[math])
        out = folder / "outputs"
        problem = run_binary(
            [binary, "infer", model, "--input", *given, "--output", f"{out}/", "--plan", plan, "--math", math]
            + ["--threads", threads]
        )
        if not problem:
            problem, share = compare([np.load(out / f"{name}.npy") for name in n.outputs], n, allowed)
            worst[f"{plan} {math}"] = max(worst.get(f"{plan} {math}", 0), share)
        if problem:
            problems.append(f"{plan} {math}: {problem}")
        shutil.rmtree(out, ignore_errors=True)
    converted = folder / "converted.onnx"
    problem = run_binary([binary, "convert", model, "-o", str(converted)])
    if not problem:
        try:
            values = run_onnxruntime(converted, n.inputs)
            problem, share = compare(values, n, tolerances(n, ROUNDINGS["fp32"]))
            if problem and n.definitions:  # the peer's own error, if it is as large for the original
                peer = run_onnxruntime(model_of(n), n.inputs)
                allowed = [8 * error_of(value, right) + 1e-5 for value, right in zip(peer, n.expected)]
                problem, share = compare(values, n, allowed)
            worst["converted"] = max(worst.get("converted", 0), share)
        except Exception as error:
            problem = f"ONNX Runtime: {str(error)[:300]}"
    if problem:
        problems.append(f"converted: {problem}")
    return problems


def networks(seed: int, small: bool, dropped: collections.Counter[str]):
    while True:
        try:
            yield seed, build(seed, small)
        except Dropped as reason:
            dropped[str(reason)] += 1
        except Exception as error:  # ONNX Runtime rejects it
            dropped[f"ONNX Runtime: {str(error).strip().splitlines()[0]:.90}"] += 1
        seed += 1


def check_all(args: argparse.Namespace) -> int:
    dropped: collections.Counter[str] = collections.Counter()
    blocks: collections.Counter[str] = collections.Counter()
    worst: dict[str, float] = {}
    wrong = []
    source = networks(args.seed if args.only is None else args.only, False, dropped)
    count = args.count if args.only is None else 1
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) if args.only is None else Path(tempfile.mkdtemp(prefix="onnx_network_"))
        for _ in range(count):
            seed, n = next(source)
            blocks.update(n.blocks)
            problems = check(args.check, n, folder, worst)
            for problem in problems:
                wrong.append({"seed": seed, "opset": n.opset, "batch": n.batch, "blocks": n.blocks, "problem": problem})
                print(f"WRONG {seed} (opset {n.opset}, batch {n.batch}, {' '.join(n.blocks)}): {problem}", flush=True)
        if args.only is not None:
            print(f"kept in {folder}")
    print(f"{count} networks, {len({each['seed'] for each in wrong})} wrong")
    print("largest errors, as shares of what is allowed: " + ", ".join(f"{k} {v:.2f}" for k, v in worst.items()))
    for reason, number in dropped.most_common():
        print(f"  {number} dropped: {reason}", file=sys.stderr)
    if args.json:
        record = {"networks": count, "first_seed": args.seed, "wrong": wrong, "worst_share": worst}
        record |= {"blocks": dict(blocks), "dropped": sum(dropped.values()), "onnxruntime": onnxruntime.__version__}
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(record, indent=1) + "\n")
    return 1 if wrong else 0


def write_fixed() -> int:
    """Writes small networks that together contain all blocks."""
    shutil.rmtree(FIXED, ignore_errors=True)
    FIXED.mkdir(parents=True)
    dropped: collections.Counter[str] = collections.Counter()
    shown: collections.Counter[str] = collections.Counter()
    lines, total = [], 0
    for seed, n in networks(1_000_000, True, dropped):
        new = [block for block in n.blocks if shown[block] == 0]
        name = f"network_{len(lines):02d}"
        if not new and len(shown) <= len(BLOCKS):
            continue
        size = save(n, FIXED, name)
        if size > FIXED_BYTES:
            for path in FIXED.glob(f"{name}.*"):
                path.unlink()
            continue
        shown.update(n.blocks)
        total += size
        allowed = " ".join(f"{each:.3g}" for each in tolerances(n, ROUNDINGS["fp32"]))
        lines.append(f"{name} {n.opset} {','.join(n.blocks)} {allowed}\n")
        if len(lines) == FIXED_NETWORKS:
            break
    (FIXED / "networks.txt").write_text("".join(lines))
    missing = [block.__name__ for block, _ in BLOCKS if shown[block.__name__] == 0]
    print(f"{len(lines)} networks, {total} bytes, in {FIXED}; not shown: {missing}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", metavar="BINARY", help="run BINARY on --count networks; exit 1 if one is wrong")
    mode.add_argument("--fixed", action="store_true", help=f"write the committed set, {FIXED.relative_to(ROOT)}")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, metavar="SEED", help="check this network alone, and keep its files")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was found there")
    args = parser.parse_args()
    return write_fixed() if args.fixed else check_all(args)


if __name__ == "__main__":
    sys.exit(main())

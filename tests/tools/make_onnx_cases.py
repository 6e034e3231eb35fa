#!/usr/bin/env python3
"""Generates random small ONNX models of the operators and attributes that convlab imports, with inputs and expected
outputs.

A case is a chain of one to six operators on a 4-D image, opset 7 to 21, sometimes with a branch back to an earlier
value. Its expected output is that of ONNX's reference implementation (with a few operators replaced, see below),
provided that ONNX Runtime agrees; other cases are dropped and counted. Every operator is used in each of its versions,
with attributes present and left out, and constants come in every form that a file can hold.

A folder of cases holds NAME.onnx, NAME.input.npy, NAME.expected.npy and cases.txt, with one line per case:
    NAME OPSET TOLERANCE OPERATOR,OPERATOR,...
An output is right if |output - expected| <= TOLERANCE * max(1, |expected|).

Examples:
    python3 tests/tools/make_onnx_cases.py --count 20 --seed 7 --out /tmp/cases
    python3 tests/tools/make_onnx_cases.py --check build/cpu/bin/convlab --count 200
    python3 tests/tools/make_onnx_cases.py --fixed          (rewrites tests/data/onnx)

Needs the packages numpy, onnx and onnxruntime.
"""

from __future__ import annotations

import argparse
import collections
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, defs, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

ROOT = Path(__file__).resolve().parents[2]
FIXED = ROOT / "tests/data/onnx"
FIXED_BYTES = 400_000  # of the committed set
FIXED_CASES = 100
OPSETS = range(7, 22)
ROUNDING = 2.0**-24  # of one float32 operation, relative
LARGEST = 1e3  # limit for all values of a case, so that a chain of products stays within float32


class Inapplicable(Exception):
    """Raised if the operator does not fit the current value."""


class Dropped(Exception):
    """Raised if no output is agreed on; the text says who rejected the case or which operators disagree."""


# ---- a case under construction ----


@dataclass
class Case:
    random: np.random.Generator
    opset: int
    input: np.ndarray
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    initializers: list[onnx.TensorProto] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)
    features: set[str] = field(default_factory=set)  # operator versions and attribute forms, for the fixed set
    history: list[tuple[str, np.ndarray]] = field(default_factory=list)  # values that a branch can use
    terms: int = 0  # sum of the reduction lengths on the way to an output
    fixed_batch: bool = False  # the batch size is written somewhere in the graph
    keeps_batch: bool = True  # dimension 0 is still the batch
    exact: bool = True  # no rounding so far
    tolerance: float = 0.0
    expected: np.ndarray | None = None
    model: onnx.ModelProto | None = None

    @property
    def name(self) -> str:
        return self.history[-1][0]

    @property
    def value(self) -> np.ndarray:
        return self.history[-1][1]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def rank(self) -> int:
        return self.value.ndim

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def pick(self, options):
        return options[int(self.random.integers(len(options)))]

    def integer(self, low: int, high: int) -> int:
        """Returns a number from low to high, inclusive."""
        return int(self.random.integers(low, high + 1))

    def axis(self, axis: int, rank: int | None = None) -> int:
        """Returns the axis, sometimes counted from the end if the opset supports that."""
        return axis - (rank or self.rank) if self.opset >= 11 and self.chance(0.4) else axis

    def feature(self, text: str) -> None:
        self.features.add(text)

    def need(self, condition: bool) -> None:
        if not condition:
            raise Inapplicable

    def mix_batch(self) -> None:
        self.fixed_batch, self.keeps_batch = True, False

    def fresh(self, stem: str) -> str:
        return f"{stem}{len(self.nodes) + len(self.initializers)}"

    def node(self, op: str, inputs: list[str], outputs: int = 1, **attributes) -> str:
        """Adds a node without the attributes whose value is None. Returns the name of its first output."""
        names = [self.fresh(op.lower())]
        names += [f"{names[0]}_{i}" for i in range(1, outputs)]
        given = {key: value for key, value in attributes.items() if value is not None}
        self.nodes.append(helper.make_node(op, inputs, names, names[0] + "_node", **given))
        self.operators.append(op)
        self.feature(f"{op}-{defs.get_schema(op, self.opset, '').since_version}")
        for key, value in given.items():
            self.feature(f"{op}.{key}" + (f"={value}" if isinstance(value, str) else ""))
        return names[0]

    # -- constants, in every form --

    def reals(self, shape: tuple[int, ...], scale: float = 1.0, low: float = -1.0) -> np.ndarray:
        return (self.random.uniform(low, 1.0, shape) * scale).astype(np.float32)

    def constant(self, array: np.ndarray) -> str:
        if array.dtype == np.float32:
            return self._real_constant(array)
        return self._plain_constant(array)

    def _real_constant(self, array: np.ndarray) -> str:
        if self.chance(0.25):
            self.feature("constant: float16 and Cast")
            name = self._plain_constant(array.astype(np.float16))
            return self.node("Cast", [name], to=TensorProto.FLOAT)
        return self._plain_constant(array)

    def _plain_constant(self, array: np.ndarray) -> str:
        forms = ["initializer"] * 3
        if self.opset >= 9 or array.dtype in (np.float32, np.float16):  # Constant-1 supports floating-point values only
            forms.append("Constant.value")
        if self.opset >= 12 and array.dtype in (np.float32, np.int64) and array.ndim <= 1:
            stem = "float" if array.dtype == np.float32 else "int"
            forms += [f"Constant.value_{stem}" + ("s" if array.ndim else "")] * 2
        form = self.pick(forms)
        if form == "initializer":
            self.initializers.append(self._tensor(array, self.fresh("weight")))
            return self.initializers[-1].name
        if form == "Constant.value":
            return self.node("Constant", [], value=self._tensor(array, ""))
        attribute = form.partition(".")[2]
        return self.node("Constant", [], **{attribute: array.tolist()})

    def _tensor(self, array: np.ndarray, name: str) -> onnx.TensorProto:
        typed = self.chance(0.5)
        self.feature(f"tensor {array.dtype} {'typed' if typed else 'raw'}")
        if not typed:
            return numpy_helper.from_array(array, name)
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        return helper.make_tensor(name, kind, array.shape, array.flatten().tolist())

    # -- the graph so far --

    def advance(self, output: str, terms: int = 0, exact: bool = False) -> None:
        """Makes `output` the current value, by running the graph so far in ONNX Runtime."""
        self.terms += terms
        self.exact = self.exact and exact
        value = run_onnxruntime(self.proto(output, None, False, 8), self.input, self.operators[-1])
        if value.size == 0 or value.size > 20_000:
            raise Dropped("too large or empty")
        if not np.abs(value).max() <= LARGEST:
            raise Dropped("values grew too large")
        self.history.append((output, value))

    def proto(self, output: str, value: np.ndarray | None, symbolic: bool, ir_version: int) -> onnx.ModelProto:
        batch: list[int | str | None] = [self.pick(["N", "batch", None]) if symbolic else self.input.shape[0]]
        inputs = [helper.make_tensor_value_info("image", TensorProto.FLOAT, batch + list(self.input.shape[1:]))]
        if ir_version < 4:  # which also lists each initializer as an input
            inputs += [helper.make_tensor_value_info(w.name, w.data_type, list(w.dims)) for w in self.initializers]
        shape = None if value is None else batch + list(value.shape[1:]) if symbolic else list(value.shape)
        outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)]
        graph = helper.make_graph(self.nodes, "case", inputs, outputs, self.initializers)
        opset = helper.make_opsetid(self.pick(["", "ai.onnx"]) if value is not None else "", self.opset)
        return helper.make_model(graph, opset_imports=[opset], ir_version=ir_version)


# ---- operators ----

Operator = Callable[[Case], None]


def window(c: Case, extra_dilation: bool, pool: bool, ceil: bool) -> tuple[dict, tuple[int, int]]:
    """Returns random attributes of a window that fits the image, sometimes without the defaults, and the kernel's
    sides.
    """
    c.need(c.rank == 4)
    size = c.shape[2:]
    for _ in range(30):
        kernel = [c.integer(1, 5), c.integer(1, 5)]
        strides = c.pick([[1, 1], [c.integer(1, 3), c.integer(1, 3)]])
        auto = c.pick([None, None, None, "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"])
        # ONNX Runtime rejects SAME with dilation in Conv, and ignores the dilation in pooling.
        dilated = extra_dilation and c.chance(0.35) and auto not in ("SAME_UPPER", "SAME_LOWER")
        dilations = [c.integer(1, 3), c.integer(1, 3)] if dilated else [1, 1]
        pads = [c.integer(0, 2) for _ in range(4)] if auto in (None, "NOTSET") and c.chance(0.6) else [0] * 4
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
        if pool and any(p >= k for p, k in zip(pads, kernel * 2)):
            continue  # a max pooling window must not be all padding
        if auto not in ("SAME_UPPER", "SAME_LOWER") and any(
            r > s + a + b for r, s, a, b in zip(reach, size, pads[:2], pads[2:])
        ):
            continue
        attributes = {
            "strides": strides if strides != [1, 1] or c.chance(0.3) else None,
            "dilations": dilations if extra_dilation and (dilations != [1, 1] or c.chance(0.2)) else None,
            "auto_pad": auto,
            "pads": pads if any(pads) or (auto in (None, "NOTSET") and c.chance(0.2)) else None,
            "ceil_mode": c.pick([None, 0, 1, 1]) if ceil and auto in (None, "NOTSET") else None,
        }
        kind = "pool" if pool else "Conv"
        step = ("strided " if strides != [1, 1] else "") + ("dilated " if dilations != [1, 1] else "")
        c.feature(f"{kind} {step}auto_pad={auto}")
        c.feature(f"{kind} {step}pads {'none' if not any(pads) else 'even' if pads[:2] == pads[2:] else 'uneven'}")
        if attributes["ceil_mode"] == 1:
            c.feature("ceil_mode=1")
        return attributes, (kernel[0], kernel[1])
    raise Inapplicable


def conv(c: Case) -> None:
    attributes, kernel = window(c, True, False, False)
    channels = c.shape[1]
    group = c.pick([1, 1, channels, c.pick([g for g in range(1, channels + 1) if channels % g == 0])])
    filters = group * c.integer(1, max(1, 8 // group))
    terms = channels // group * kernel[0] * kernel[1]
    inputs = [c.name, c.constant(c.reals((filters, channels // group, *kernel), 1.7 * terms**-0.5))]
    if c.chance(0.5):
        inputs.append(c.constant(c.reals((filters,))))
    c.feature("Conv bias" if len(inputs) == 3 else "Conv without bias")
    if group > 1:
        c.feature("Conv depthwise" if group == channels else "Conv grouped")
        c.feature(f"Conv groups {attributes['auto_pad']} {'strided' if attributes['strides'] else ''}")
    written_group = group if group > 1 or c.chance(0.3) else None
    kernel_shape = list(kernel) if c.chance(0.7) else None  # otherwise it follows from the filters
    c.advance(c.node("Conv", inputs, kernel_shape=kernel_shape, group=written_group, **attributes), terms)


def max_pool(c: Case) -> None:
    attributes, kernel = window(c, c.opset >= 10, True, c.opset >= 10)
    c.advance(c.node("MaxPool", [c.name], kernel_shape=list(kernel), **attributes), exact=True)


def average_pool(c: Case) -> None:
    attributes, kernel = window(c, c.opset >= 19, True, c.opset >= 10)
    include = c.pick([None, 0, 1, 1])
    if include and attributes["ceil_mode"]:
        c.feature("AveragePool ceil_mode and count_include_pad")
    output = c.node("AveragePool", [c.name], kernel_shape=list(kernel), count_include_pad=include, **attributes)
    c.advance(output, kernel[0] * kernel[1])


def global_average_pool(c: Case) -> None:
    c.need(c.rank == 4)
    c.advance(c.node("GlobalAveragePool", [c.name]), c.shape[2] * c.shape[3])


def batch_normalization(c: Case) -> None:
    c.need(c.rank >= 2)
    channels = (c.shape[1],)
    scale, bias, mean = c.reals(channels), c.reals(channels), c.reals(channels)
    variance = c.reals(channels, 2.0, low=0.2)
    inputs = [c.name, *[c.constant(v) for v in (scale, bias, mean, variance)]]
    training = 0 if c.opset >= 14 and c.chance(0.3) else None
    epsilon, momentum = c.pick([None, 1e-3, 0.1]), c.pick([None, 0.5])
    output = c.node("BatchNormalization", inputs, epsilon=epsilon, momentum=momentum, training_mode=training)
    c.feature(f"BatchNormalization rank {c.rank}")
    c.advance(output, 4)


def unary(op: str, exact: bool) -> Operator:
    def add(c: Case) -> None:
        c.advance(c.node(op, [c.name]), 0 if exact else 8, exact)

    return add


def leaky_relu(c: Case) -> None:
    c.advance(c.node("LeakyRelu", [c.name], alpha=c.pick([None, 0.2, 1.5, -0.5])), 1)


def clip(c: Case) -> None:
    low, high = c.pick([(None, None), (-0.4, None), (None, 0.5), (-0.5, 0.75), (0.0, 6.0)])
    if c.opset < 11:
        output = c.node("Clip", [c.name], min=low, max=high)
    else:
        names = ["" if v is None else c.constant(np.array(v, np.float32).reshape(())) for v in (low, high)]
        while names and names[-1] == "" and c.chance(0.7):
            names.pop()
        output = c.node("Clip", [c.name, *names])
    c.feature(f"Clip {'no ' if low is None else ''}min {'no ' if high is None else ''}max")
    c.advance(output, exact=c.opset < 11)  # values such as 0.75 are exact, but a bound may have been rounded to fp16


def dropout(c: Case) -> None:
    outputs = c.integer(1, 2)  # the unused mask
    if c.opset < 12:
        output = c.node("Dropout", [c.name], outputs, ratio=c.pick([None, 0.25]))
    else:
        inputs = [c.name]
        if c.chance(0.6):
            inputs.append(c.pick(["", c.constant(np.array(0.5, np.float32))]))
            if c.chance(0.5):
                inputs.append(c.constant(np.array(False)))
                c.feature("Dropout training_mode")
        output = c.node("Dropout", inputs, outputs)
    c.advance(output, exact=True)


def cast(c: Case) -> None:
    if c.exact and c.chance(0.7):  # after a sum, a difference in one bit could round to another fp16 value
        c.feature("Cast float32 to float16 and back")
        half = c.node("Cast", [c.name], to=TensorProto.FLOAT16)
        c.advance(c.node("Cast", [half], to=TensorProto.FLOAT), exact=True)
    else:
        c.advance(c.node("Cast", [c.name], to=TensorProto.FLOAT), exact=True)


def binary(op: str) -> Operator:
    def add(c: Case) -> None:
        earlier = [name for name, value in c.history[:-1] if broadcasts(c, value.shape)]
        if c.chance(0.35):
            other = c.pick(earlier + [c.name])
            c.feature(f"{op} of two values")
        else:
            shape = tuple(size if c.chance(0.6) else 1 for size in c.shape)[c.integer(0, c.rank) :]
            if len(shape) == c.rank and shape[0] > 1:
                c.fixed_batch = True
            if c.rank < 4 and c.keeps_batch and not c.fixed_batch and c.chance(0.1):
                shape = (c.integer(1, 2), *[1] * (c.rank - len(shape)), *shape)  # higher rank than the value
                c.mix_batch()
            other = c.constant(c.reals(shape, 1.5))
            c.feature(f"{op} constant of rank {len(shape)} to {c.rank}")
        inputs = [c.name, other]
        if c.chance(0.3):
            inputs.reverse()
        c.advance(c.node(op, inputs), 1)

    return add


def broadcasts(c: Case, shape: tuple[int, ...]) -> bool:
    """Whether an earlier value of this shape broadcasts to the current one without changing the current shape."""
    if len(shape) != c.rank or not c.keeps_batch:
        return False
    return all(a in (1, b) for a, b in zip(shape, c.shape))


def concat(c: Case) -> None:
    axis = c.integer(0, c.rank - 1) if c.chance(0.15) else c.integer(min(1, c.rank - 1), c.rank - 1)
    parts = [c.name]
    for _ in range(c.integer(0, 2)):
        others = np.delete(c.shape, axis).tolist()
        fits = [n for n, v in c.history if v.ndim == c.rank and np.delete(v.shape, axis).tolist() == others]
        source = c.pick(["value", "value", "activation", "constant"])
        if source == "value" and c.keeps_batch:
            parts.append(c.pick(fits))
        elif source == "constant":
            shape = list(c.shape)
            shape[axis] = c.integer(1, 3)
            c.fixed_batch = c.fixed_batch or axis != 0
            parts.append(c.constant(c.reals(tuple(shape))))
        else:
            parts.append(c.node(c.pick(["Relu", "Tanh"]), [c.name]))
    if axis == 0:
        c.mix_batch()
    c.random.shuffle(parts)
    c.feature(f"Concat of {len(parts)}")
    c.feature(f"Concat on axis {axis} of {c.rank}")
    c.advance(c.node("Concat", parts, axis=c.axis(axis)), 4)


def flatten(c: Case) -> None:
    axis = c.pick([None, 1, 1, c.integer(0, c.rank)])
    if axis not in (None, 1):
        c.mix_batch()
    written = axis if axis is None or axis == c.rank else c.axis(axis)
    c.feature(f"Flatten axis {axis}{' from the end' if (written or 0) < 0 else ''}")
    c.advance(c.node("Flatten", [c.name], axis=written), exact=True)


def reshape(c: Case) -> None:
    rest = list(c.shape[1:])
    if c.chance(0.5) and len(rest) > 1:  # join two adjacent axes
        at = c.integer(0, len(rest) - 2)
        rest[at : at + 2] = [rest[at] * rest[at + 1]]
    elif len(rest) < 3:  # split one
        at = c.integer(0, max(0, len(rest) - 1))
        size = rest[at] if rest else 1
        divisor = c.pick([d for d in range(1, size + 1) if size % d == 0])
        rest[at : at + 1] = [divisor, size // divisor]
    else:
        c.random.shuffle(rest)
    target = [c.shape[0], *rest]
    written = list(target)
    zeros = [i for i in range(len(target)) if i < c.rank and target[i] == c.shape[i]]
    allowzero = c.pick([None, 0, 1]) if c.opset >= 14 else None
    if not allowzero:
        for i in zeros:
            written[i] = 0 if c.chance(0.8 if i == 0 else 0.3) else target[i]
    if c.chance(0.5) and target.count(0) == 0:
        at = c.integer(0, len(written) - 1) if written[0] == 0 else 0
        written[at] = -1
    if written[0] > 0:
        c.fixed_batch = True
    c.feature(f"Reshape {'-1 ' if -1 in written else ''}{'0' if 0 in written else ''}")
    if allowzero:
        c.feature("Reshape allowzero=1")
    shape = c.constant(np.array(written, np.int64))
    c.advance(c.node("Reshape", [c.name, shape], allowzero=allowzero), exact=True)


def with_axes(c: Case, op: str, axes: list[int] | None) -> None:
    """Adds a Squeeze or Unsqueeze: axes are an attribute before opset 13, and an input from then on."""
    if axes is None:
        output = c.node(op, [c.name])
        c.feature(f"{op} without axes")
    elif c.opset < 13:
        output = c.node(op, [c.name], axes=axes)
    else:
        output = c.node(op, [c.name, c.constant(np.array(axes, np.int64))])
    if axes and min(axes) < 0:
        c.feature(f"{op} axes from the end")
    c.advance(output, exact=True)


def squeeze(c: Case) -> None:
    ones = [i for i, size in enumerate(c.shape) if size == 1 and i > 0]
    c.need(bool(ones))
    if c.chance(0.2) and c.shape[0] > 1:
        c.fixed_batch = True  # it would also remove a batch of one
        with_axes(c, "Squeeze", None)
    else:
        chosen = sorted(c.random.choice(ones, c.integer(1, len(ones)), replace=False).tolist())
        with_axes(c, "Squeeze", [c.axis(i) for i in chosen])


def unsqueeze(c: Case) -> None:
    c.need(c.rank <= 3)
    added = c.integer(1, 4 - c.rank)
    rank = c.rank + added
    chosen = sorted(c.random.choice(np.arange(1, rank), added, replace=False).tolist())
    with_axes(c, "Unsqueeze", [c.axis(i, rank) for i in chosen])


def transpose(c: Case) -> None:
    if c.chance(0.2):
        perm = None if c.chance(0.5) else c.random.permutation(c.rank).tolist()
        if perm is None or perm[0] != 0:
            c.mix_batch()
    else:
        perm = [0, *(c.random.permutation(c.rank - 1) + 1).tolist()]
    c.feature(f"Transpose rank {c.rank} {'default' if perm is None else 'mixes' if perm[0] else 'keeps'}")
    c.advance(c.node("Transpose", [c.name], perm=perm), exact=True)


def softmax(op: str) -> Operator:
    def add(c: Case) -> None:
        axis = c.pick([None, *range(1, c.rank), c.integer(0, c.rank - 1)])
        c.need(c.rank >= 2 or axis is not None)
        if axis == 0:
            c.mix_batch()
        terms = int(np.prod(c.shape[axis or 1 :])) if c.opset < 13 else c.shape[-1 if axis is None else axis]
        c.feature(f"{op} axis {axis} of {c.rank}, {'flat' if c.opset < 13 else 'one axis'}")
        c.advance(c.node(op, [c.name], axis=None if axis is None else c.axis(axis)), terms + 8)

    return add


def pad(c: Case) -> None:
    mode = c.pick([None, "constant", "reflect", "edge"])
    before, after = [0] * c.rank, [0] * c.rank
    first = 0 if c.chance(0.08) else 1
    for i in range(first, c.rank):
        most = min(3, c.shape[i] - 1) if mode == "reflect" else 3
        if c.chance(0.6):
            before[i], after[i] = c.integer(0, most), c.integer(0, most)
        if mode in (None, "constant") and c.shape[i] > 2 and c.chance(0.15):
            after[i] = -1
            c.feature("Pad negative")
    if before[0] or after[0]:
        c.mix_batch()
    value = c.pick([None, 0.0, 0.5, -1.25]) if mode in (None, "constant") else None
    c.feature(f"Pad {mode}{' with a value' if value is not None else ''}")
    if c.opset < 11:
        c.advance(c.node("Pad", [c.name], mode=mode, pads=before + after, value=value), exact=True)
        return
    axes = None
    if c.opset >= 18 and c.chance(0.5):
        axes = [i for i in range(c.rank) if before[i] or after[i]] or [c.rank - 1]
        before, after = [before[i] for i in axes], [after[i] for i in axes]
        c.feature("Pad axes")
    inputs = [c.name, c.constant(np.array(before + after, np.int64))]
    if value is not None:
        inputs.append(c.constant(np.array(value, np.float32)))
    if axes is not None:
        inputs += [""] * (3 - len(inputs)) + [c.constant(np.array([c.axis(i) for i in axes], np.int64))]
    c.advance(c.node("Pad", inputs, mode=mode), exact=True)


def gemm(c: Case) -> None:
    if c.rank != 2:
        flatten_to_rows(c)
    rows, terms = c.shape
    columns = c.integer(1, 9)
    c.need(terms <= 600)
    data, trans_a = c.name, c.pick([None, 0])
    if c.chance(0.15):
        data, trans_a = c.node("Transpose", [data], perm=[1, 0]), 1
    trans_b = c.pick([None, 0, 1, 1])
    weights = c.reals((terms, columns), 1.7 * terms**-0.5)
    inputs = [data, c.constant(np.ascontiguousarray(weights.T) if trans_b else weights)]
    shapes = [(), (1,), (columns,), (columns,), (1, columns), (1, 1), (rows, columns), (rows, 1)]
    if c.opset < 11 or c.chance(0.8):
        shape = c.pick(shapes)
        c.fixed_batch = c.fixed_batch or (len(shape) == 2 and shape[0] > 1)
        inputs.append(c.constant(c.reals(shape)))
        c.feature(f"Gemm C of {'rows' if shape[:1] == (rows,) and len(shape) == 2 else len(shape)}")
    else:
        c.feature("Gemm without C")
    for key, on in (("transA", trans_a), ("transB", trans_b)):
        c.feature(f"Gemm {key}={on}")
    alpha, beta = c.pick([None, None, 0.5, -1.25]), c.pick([None, None, 0.5, 2.0])
    c.advance(c.node("Gemm", inputs, alpha=alpha, beta=beta, transA=trans_a, transB=trans_b), terms + 1)


def flatten_to_rows(c: Case) -> None:
    c.need(c.rank > 2)
    c.advance(c.node("Flatten", [c.name]), exact=True)


def matmul(c: Case) -> None:
    c.need(c.rank >= 2)
    form = c.pick(["matrix", "matrix", "batches", "vector", "left", "square"])
    if form in ("left", "square") and c.rank < 3:
        form = "matrix"
    terms = c.shape[-1]
    scale = 1.7 * terms**-0.5
    if form == "vector":
        inputs = [c.name, c.constant(c.reals((terms,), scale))]
    elif form == "left":
        terms = c.shape[-2]
        inputs = [c.constant(c.reals((c.integer(1, 5), terms), 1.7 * terms**-0.5)), c.name]
    elif form == "square":
        perm = [*range(c.rank - 2), c.rank - 1, c.rank - 2]
        inputs = [c.name, c.node("Transpose", [c.name], perm=perm)]
    else:
        leading = tuple(size if c.chance(0.6) else 1 for size in c.shape[1:-2]) if form == "batches" else ()
        inputs = [c.name, c.constant(c.reals((*leading, terms, c.integer(1, 6)), scale))]
    c.feature(f"MatMul {form} of rank {c.rank}")
    c.advance(c.node("MatMul", inputs), terms)


OPERATORS: list[tuple[Operator, int]] = [
    (conv, 6), (max_pool, 3), (average_pool, 4), (global_average_pool, 1), (batch_normalization, 2),
    (unary("Relu", True), 1), (unary("Sigmoid", False), 1), (unary("Tanh", False), 1), (unary("Identity", True), 1),
    (leaky_relu, 1), (clip, 2), (dropout, 1), (cast, 1), (binary("Add"), 2), (binary("Mul"), 2), (concat, 2),
    (flatten, 1), (reshape, 2), (squeeze, 2), (unsqueeze, 2), (transpose, 2), (softmax("Softmax"), 2),
    (softmax("LogSoftmax"), 2), (pad, 3), (gemm, 3), (matmul, 3),
]  # fmt: skip
WEIGHTS = np.array([weight for _, weight in OPERATORS], float) / sum(weight for _, weight in OPERATORS)


# ---- expected outputs ----


# The reference lacks the old Softmax, treats the old BatchNormalization as training, does not support negative pads,
# and miscounts some pooling sizes. These replacements implement the standard's text; ONNX Runtime must still agree with
# them.


class FlatSoftmax(OpRun):
    """Softmax before opset 13: over all dimensions from the axis on."""

    op_domain = ""

    def _run(self, x, axis=None):  # noqa: ANN001, ANN202
        axis = next((a.i for a in self.onnx_node.attribute if a.name == "axis"), 1)  # `axis` holds the current default
        rows = x.reshape(int(np.prod(x.shape[: axis if axis >= 0 else axis + x.ndim])), -1).astype(np.float64)
        logarithm = rows - rows.max(1, keepdims=True)
        logarithm -= np.log(np.exp(logarithm).sum(1, keepdims=True))
        result = logarithm if self.onnx_node.op_type == "LogSoftmax" else np.exp(logarithm)
        return (result.reshape(x.shape).astype(x.dtype),)


class InferenceBatchNormalization(OpRun):
    op_domain = ""

    def _run(self, x, scale, bias, mean, variance, epsilon=None, **_):  # noqa: ANN001, ANN202
        scale, bias, mean, variance = (v.reshape(-1, *[1] * (x.ndim - 2)) for v in (scale, bias, mean, variance))
        return ((scale * (x - mean) / np.sqrt(variance + np.float32(epsilon)) + bias).astype(x.dtype),)


class CroppingPad(OpRun):
    op_domain = ""

    def _run(self, x, pads=None, value=None, axes=None, mode=None, **old):  # noqa: ANN001, ANN202
        attributes = {a.name: helper.get_attribute_value(a) for a in self.onnx_node.attribute}
        pads, value = attributes.get("pads", pads), attributes.get("value", value)
        axes = range(x.ndim) if axes is None else [int(a) % x.ndim for a in axes]
        before, after = [0] * x.ndim, [0] * x.ndim
        for i, axis in enumerate(axes):
            before[axis], after[axis] = int(pads[i]), int(pads[i + len(axes)])
        for axis in range(x.ndim):
            keep = slice(max(0, -before[axis]), x.shape[axis] - max(0, -after[axis]))
            x = x[(slice(None),) * axis + (keep,)]
        widths = [(max(0, b), max(0, a)) for b, a in zip(before, after)]
        mode = attributes.get("mode", b"constant").decode()
        more = {"constant_values": np.float32(value or 0.0)} if mode == "constant" else {}
        return (np.pad(x, widths, mode, **more),)


class Pool(OpRun):
    """MaxPool and AveragePool for images."""

    op_domain = ""

    def _run(self, x, auto_pad=None, ceil_mode=None, count_include_pad=None, dilations=None, kernel_shape=None,
             pads=None, storage_order=None, strides=None):  # fmt: skip  # noqa: ANN001, ANN202
        rows, columns = (
            pool_windows(x.shape[2 + i], kernel_shape[i], (strides or [1, 1])[i], (dilations or [1, 1])[i], auto_pad,
                         (pads or [0] * 4)[i::2], bool(ceil_mode))  # fmt: skip
            for i in range(2)
        )
        out = np.empty((*x.shape[:2], len(rows), len(columns)), np.float32)
        for i, (row, rows_padded) in enumerate(rows):
            for j, (column, columns_padded) in enumerate(columns):
                seen = x[:, :, row][:, :, :, column]
                if self.onnx_node.op_type == "MaxPool":
                    out[:, :, i, j] = seen.max((2, 3), initial=-np.inf)
                else:
                    count = rows_padded * columns_padded if count_include_pad else len(row) * len(column)
                    out[:, :, i, j] = seen.sum((2, 3), dtype=np.float64) / count
        return (out,)


def pool_windows(size, kernel, stride, dilation, auto_pad, pads, ceil):  # noqa: ANN001, ANN201
    """Returns each output's window as the indices of its pixels, and its size including padding."""
    reach = (kernel - 1) * dilation + 1
    before, after = pads
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        count = -(-size // stride)
        total = max(0, (count - 1) * stride + reach - size)
        before, after = total // 2, total - total // 2
        if auto_pad == "SAME_LOWER":
            before, after = after, before
    else:
        span = size + before + after - reach
        count = (-(-span // stride) if ceil else span // stride) + 1
        if ceil and (count - 1) * stride >= size + before:
            count -= 1  # a window must not start in the trailing padding
    windows = []
    for output in range(count):
        at = [output * stride - before + k * dilation for k in range(kernel)]
        windows.append(([i for i in at if 0 <= i < size], sum(i < size + after for i in at)))
    return windows


def replaced(opset: int) -> list[type[OpRun]]:
    def named(op: str, kind: type[OpRun]) -> type[OpRun]:
        return type(op, (kind,), {})

    new = [named("MaxPool", Pool), named("AveragePool", Pool), named("Pad", CroppingPad)]
    if opset < 14:
        new.append(named("BatchNormalization", InferenceBatchNormalization))
    if opset < 13:
        new += [named("Softmax", FlatSoftmax), named("LogSoftmax", FlatSoftmax)]
    return new


def run_onnxruntime(model: onnx.ModelProto, image: np.ndarray, operator: str) -> np.ndarray:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # unfused, as defined
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, {"image": image})[0]
    except Exception as error:
        raise Dropped(f"ONNX Runtime refuses {operator}") from error


def run_reference(case: Case) -> np.ndarray:
    try:
        model = onnx.ModelProto()
        model.CopyFrom(case.model)
        model.opset_import[0].domain = ""  # the reference does not know the default domain's alias
        evaluator = ReferenceEvaluator(model, new_ops=replaced(case.opset))
        return evaluator.run(None, {"image": case.input})[0]
    except Exception as error:
        raise Dropped(f"the reference fails on {error!s:.60}") from error


def within(value: np.ndarray, expected: np.ndarray, tolerance: float) -> bool:
    """Written as the condition that must hold, so that NaN fails."""
    if value.shape != expected.shape or value.dtype != np.float32:
        return False
    return bool(np.all(np.abs(value - expected) <= tolerance * np.maximum(1.0, np.abs(expected))))


def finish(case: Case) -> None:
    """Completes the model, and computes its expected output."""
    symbolic = not case.fixed_batch and case.chance(0.6)
    old = case.opset <= 8 and case.chance(0.5)
    case.feature("symbolic batch" if symbolic else "written batch")
    if old:
        case.feature("initializers among the inputs")
    ir_version = 3 if old else max(4, min(10, helper.find_min_ir_version_for([helper.make_opsetid("", case.opset)])))
    case.model = case.proto(case.name, case.value, symbolic, ir_version)
    try:
        onnx.checker.check_model(case.model, full_check=True)
    except Exception as error:
        raise Dropped("ONNX's checker refuses it") from error
    # A sum of n terms has at most n rounding errors of its largest value; 1e-5 covers functions such as tanh.
    largest = max(float(np.abs(value).max()) for _, value in case.history)
    case.tolerance = 1e-5 + ROUNDING * case.terms * largest
    case.expected = run_reference(case)
    ours = run_onnxruntime(case.model, case.input, "the whole model")
    if case.expected.dtype != np.float32 or not within(ours, case.expected, case.tolerance):
        raise Dropped("they disagree on " + ",".join(sorted(set(case.operators) - {"Constant", "Cast"})))


def make(seed: tuple[int, ...], small: bool) -> Case:
    random = np.random.default_rng(seed)
    side, channels = (7, 4) if small else (14, 8)
    shape = (random.integers(1, 4), random.integers(1, channels + 1), *random.integers(1, side + 1, 2))
    image = random.uniform(-2.0, 2.0, shape).astype(np.float32)
    case = Case(random, int(random.choice(OPSETS)), image)
    case.history.append(("image", image))
    length = case.integer(1, 3 if small else 6)
    while len(case.history) <= length:
        try:
            OPERATORS[int(random.choice(len(OPERATORS), p=WEIGHTS))][0](case)
        except Inapplicable:
            continue
    finish(case)
    return case


def cases(seed: int, small: bool, dropped: collections.Counter[str]) -> Iterator[Case]:
    number = 0
    while True:
        try:
            yield make((seed, number), small)
        except Dropped as reason:
            dropped[str(reason)] += 1
        number += 1


# ---- saving and checking cases ----


def save(case: Case, folder: Path, name: str) -> int:
    """Writes the three files of a case; returns their size in bytes."""
    paths = [folder / f"{name}.onnx", folder / f"{name}.input.npy", folder / f"{name}.expected.npy"]
    paths[0].write_bytes(case.model.SerializeToString())
    np.save(paths[1], case.input)
    np.save(paths[2], np.ascontiguousarray(case.expected))
    return sum(path.stat().st_size for path in paths)


def line(case: Case, name: str) -> str:
    return f"{name} {case.opset} {case.tolerance:.3g} {','.join(case.operators)}\n"


def write(chosen: list[Case], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    size = sum(save(case, folder, f"case_{i:03d}") for i, case in enumerate(chosen))
    (folder / "cases.txt").write_text("".join(line(case, f"case_{i:03d}") for i, case in enumerate(chosen)))
    print(f"{len(chosen)} cases, {size} bytes, in {folder}")


def size_of(case: Case) -> int:
    return case.model.ByteSize() + case.input.nbytes + case.expected.nbytes + 256


def choose_fixed(candidates: list[Case]) -> list[Case]:
    """Greedily selects the cases with the most new features per byte."""
    chosen: list[Case] = []
    missing = set().union(*(case.features for case in candidates))
    total = len(missing)
    room = FIXED_BYTES - 10_000  # for cases.txt
    while missing and len(chosen) < FIXED_CASES:
        best = max(candidates, key=lambda case: len(case.features & missing) / (20_000 + size_of(case)))
        if not best.features & missing or size_of(best) > room:
            break
        chosen.append(best)
        missing -= best.features
        room -= size_of(best)
    print(f"{total - len(missing)} of {total} features in {len(chosen)} cases; not shown: {sorted(missing)}")
    return chosen


def check(binary: list[str], count: int, source: Iterator[Case]) -> int:
    """Runs the binary on `count` cases; returns how many failed. Files of failing cases are kept."""
    failed, worst = 0, 0.0
    folder = Path(tempfile.mkdtemp(prefix="onnx_cases_"))
    for number in range(count):
        case, name = next(source), f"case_{number:03d}"
        save(case, folder, name)
        problem, share = run_binary(binary, case, folder, name)
        worst = max(worst, share)
        if problem is None:
            for path in folder.glob(f"{name}.*"):
                path.unlink()
        else:
            failed += 1
            print(f"FAILED {line(case, name).strip()}: {problem}", flush=True)
    print(f"largest error: {worst:.2g} of the tolerance")
    if failed:
        print(f"failing cases are kept in {folder}")
    else:
        shutil.rmtree(folder)
    print(f"{count - failed} passed, {failed} failed")
    return failed


def run_binary(binary: list[str], case: Case, folder: Path, name: str) -> tuple[str | None, float]:
    """Returns the error message (None if there is none), and the largest error as a fraction of the tolerance."""
    output = folder / f"{name}.output.npy"
    command = [binary[0], "infer", str(folder / f"{name}.onnx"), "--input", str(folder / f"{name}.input.npy"),
               "--output", str(output), *binary[1:]]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "no answer in 60 s", 0.0
    if done.returncode != 0:
        return f"exit status {done.returncode}: {done.stderr.strip()[:300]}", 0.0
    value = np.load(output)
    if value.shape != case.expected.shape or value.dtype != np.float32:
        return f"gives {value.dtype} {value.shape}, not float32 {case.expected.shape}", 0.0
    share = np.abs(value - case.expected) / (case.tolerance * np.maximum(1.0, np.abs(case.expected)))
    share = np.nan_to_num(share, nan=np.inf)
    if within(value, case.expected, case.tolerance):
        return None, float(share.max())
    wrong = ~(share <= 1)
    where = tuple(int(i) for i in np.argwhere(wrong)[0])
    problem = f"{wrong.sum()} of {value.size} wrong, first {where}: {value[where]}, not {case.expected[where]}"
    return problem, float(share.max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--out", type=Path, metavar="DIR", help="write --count cases there")
    mode.add_argument("--check", metavar="BINARY", help="run BINARY infer on --count new cases; exit 1 if one fails")
    mode.add_argument("--fixed", action="store_true", help=f"write the committed set, {FIXED.relative_to(ROOT)}")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--arguments", default="", help='more for BINARY infer, such as "--kernel cpu.reference"')
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # numpy's, from inside the reference
    dropped: collections.Counter[str] = collections.Counter()
    source = cases(args.seed, args.fixed, dropped)
    failed = 0
    if args.fixed:
        shutil.rmtree(FIXED, ignore_errors=True)
        write(choose_fixed([next(source) for _ in range(4000)]), FIXED)
    elif args.out:
        write([next(source) for _ in range(args.count)], args.out)
    else:
        failed = check([args.check, *shlex.split(args.arguments)], args.count, source)
    print(f"{sum(dropped.values())} cases were dropped:", file=sys.stderr)
    for reason, count in dropped.most_common():
        print(f"  {count} {reason}", file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

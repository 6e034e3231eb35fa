"""Fixtures of the tests: sessions, images, and a model with two inputs and two outputs."""

from pathlib import Path

import numpy as np
import pytest

import convlab

ROOT = Path(__file__).resolve().parents[2]
SIDE = 86  # of sp25's images, in pixels


@pytest.fixture(scope="session")
def session() -> convlab.Session:
    return convlab.Session(ROOT / "models" / "sp25.onnx", device="cpu")


@pytest.fixture(scope="session")
def images() -> np.ndarray:
    return np.random.default_rng(1).uniform(0, 255, (3, 1, SIDE, SIDE)).astype(np.float32)


def field(number: int, value) -> bytes:
    """Returns an encoded protobuf field: a number below 128, a string, or a message made of the encoded fields."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    data = value.encode() if isinstance(value, str) else b"".join(value)
    assert len(data) < 1 << 14
    return bytes([number << 3 | 2, len(data) & 0x7F | 0x80, len(data) >> 7]) + data


def value_info(name: str, sizes: list) -> list:
    dims = [field(1, [field(1 if isinstance(size, int) else 2, size)]) for size in sizes]
    return [field(1, name), field(2, [field(1, [field(1, 1), field(2, dims)])])]


def node(op: str, inputs: list, output: str) -> list:
    return [*[field(1, name) for name in inputs], field(2, output), field(3, output), field(4, op)]


@pytest.fixture(scope="session")
def pair_file(tmp_path_factory) -> Path:
    """An ONNX file that computes total = a + b and product = a * b, all of shape [N, 3]."""
    graph = [field(1, node("Add", ["a", "b"], "total")), field(1, node("Mul", ["a", "b"], "product")), field(2, "pair")]
    graph += [field(11, value_info(name, ["N", 3])) for name in ("a", "b")]
    graph += [field(12, value_info(name, ["N", 3])) for name in ("total", "product")]
    file = tmp_path_factory.mktemp("models") / "pair.onnx"
    file.write_bytes(b"".join([field(1, 8), field(7, graph), field(8, [field(1, ""), field(2, 17)])]))
    return file


@pytest.fixture(scope="session")
def pair(pair_file) -> convlab.Session:
    return convlab.Session(pair_file, device="cpu")

#!/usr/bin/env python3
"""Writes the checksums that tests/dataset/dataset_resize_test.cc compares with, computed with scikit-image.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install scikit-image
    /tmp/venv/bin/python tests/tools/make_resize_checksums.py

tests/data/resize_checksums.txt: "side crc32" of the 10000 test images of Fashion-MNIST, scaled to that side.
tests/data/resize_noise_checksums.txt: "rows columns minimum side crc32" of noise, which needs no data set.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import numpy as np
from skimage.transform import resize

DATA = Path("/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz")
OUT = Path(__file__).resolve().parent.parent / "data"
SIDES = [1, 7, 27, 28, 29, 33, 48, 56, 64, 70, 72, 100]
# Rows, columns, the smallest pixel value (scikit-image clips to it), and sides.
NOISE = [
    (28, 28, 0, [1, 2, 3, 5, 13, 14, 27, 28, 29, 31, 48, 64, 70, 72, 83, 127]),
    (28, 28, 200, [3, 27, 29, 33, 70, 100]),
    (28, 28, 255, [3, 29, 70]),
    (1, 1, 0, [1, 2, 7]),
    (5, 9, 0, [4, 5, 9, 23]),
    (40, 3, 10, [7, 40, 65]),
]
NOISE_COUNT = 100


def checksum(images: np.ndarray, side: int) -> int:
    crc = 0
    for image in images:
        scaled = resize(image / 256.0, (side, side), order=1, mode="constant", cval=0, anti_aliasing=False) * 256
        crc = zlib.crc32(scaled.astype(np.uint8).tobytes(), crc)
    return crc


def noise(count: int, least: int) -> np.ndarray:
    """Returns least + n % (256 - least) for numbers n of SplitMix64 with seed 1, as in convlab/base/rng.h."""
    mask = (1 << 64) - 1
    state, values = 1, np.empty(count, np.uint8)
    for i in range(count):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        values[i] = least + (z ^ (z >> 31)) % (256 - least)
    return values


def main() -> None:
    images = np.frombuffer(gzip.decompress(DATA.read_bytes()), np.uint8, offset=16).reshape(-1, 28, 28)
    lines = [f"{side} {checksum(images, side):08x}" for side in SIDES]
    (OUT / "resize_checksums.txt").write_text("\n".join(lines) + "\n")

    lines = []
    for rows, columns, least, sides in NOISE:
        images = noise(NOISE_COUNT * rows * columns, least).reshape(-1, rows, columns)
        lines += [f"{rows} {columns} {least} {side} {checksum(images, side):08x}" for side in sides]
    (OUT / "resize_noise_checksums.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

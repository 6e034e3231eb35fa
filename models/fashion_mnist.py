"""Fashion-MNIST as the course's networks see it: the idx.gz files and the resize, in numpy alone."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np

DEFAULT_DATA = Path("/usr/share/datasets/fashion-mnist")
PREFIX = {"train": "train", "test": "t10k"}


def read_idx(path: Path) -> np.ndarray:
    """The uint8 array of one gzipped idx file; ValueError names the file and what is wrong with it."""
    data = gzip.decompress(path.read_bytes())
    zero, kind, rank = struct.unpack_from(">HBB", data)
    if zero != 0 or kind != 8:
        raise ValueError(f"{path}: not an idx file of unsigned bytes")
    shape = struct.unpack_from(f">{rank}I", data, 4)
    start = 4 + 4 * rank
    if len(data) - start != int(np.prod(shape, dtype=np.int64)):
        raise ValueError(f"{path}: {len(data) - start} bytes of data do not fill the shape {shape}")
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)


def load(split: str, data: Path = DEFAULT_DATA) -> tuple[np.ndarray, np.ndarray]:
    """Images uint8 [N, 28, 28] and labels uint8 [N] of the split "train" or "test"."""
    images = read_idx(data / f"{PREFIX[split]}-images-idx3-ubyte.gz")
    labels = read_idx(data / f"{PREFIX[split]}-labels-idx1-ubyte.gz")
    if images.ndim != 3 or labels.shape != images.shape[:1]:
        raise ValueError(f"{data}: images {images.shape} and labels {labels.shape} of '{split}' do not match")
    return images, labels


def resize(images: np.ndarray, side: int) -> np.ndarray:
    """uint8 [N, H, W] scaled to uint8 [N, side, side], byte for byte as scikit-image does for the course:

        (resize(image / 256.0, (side, side), order=1, mode="constant", cval=0, anti_aliasing=False) * 256).astype(uint8)

    Bilinear between pixel centres with zeros around the image. The last step truncates, so the float64 products and
    sums are taken in scipy's order: another order is one unit off here and there.
    """
    count, height, width = images.shape
    if (height, width) == (side, side):
        return images.copy()
    y, y_weight = _taps(height, side)
    x, x_weight = _taps(width, side)
    out = np.empty((count, side, side), np.uint8)
    for start in range(0, count, 500):  # bounds the float64 temporaries
        block = np.pad(images[start : start + 500] / 256.0, ((0, 0), (1, 1), (1, 1)))
        total = np.zeros((len(block), side, side))
        for i in range(2):
            for j in range(2):
                pixel = block[:, y[i]][:, :, x[j]]
                total += pixel * y_weight[i][:, None] * x_weight[j]
        # scikit-image clips to the range of the input, which a rounded sum can leave by one unit in the last place
        low = block[:, 1:-1, 1:-1].min((1, 2), keepdims=True)
        high = block[:, 1:-1, 1:-1].max((1, 2), keepdims=True)
        low = np.where((low > 0) & (total.min((1, 2), keepdims=True) <= 0), 0, low)  # zeros from outside may stay
        out[start : start + 500] = (np.clip(total, low, high) * 256).astype(np.uint8)
    return out


def _taps(size: int, side: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """For each of `side` outputs the two input indices, in an image padded by one, and their weights."""
    centre = (np.arange(side) + 0.5) * (size / side) - 0.5
    first = np.floor(centre)
    fraction = centre - first
    index = first.astype(np.int64) + 1
    return [index, index + 1], [1.0 - fraction, fraction]

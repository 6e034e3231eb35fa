"""The description of a model's inputs and outputs."""

from __future__ import annotations

from typing import NamedTuple


class Value(NamedTuple):
    """An input or an output of a model.

    type: the element type as ONNX Runtime names it, such as "tensor(float)".
    shape: for an input, the sizes, outermost first, with None for a size that the model leaves open, such as the batch
    size. For an output, None: its shape depends on the inputs.
    """

    name: str
    type: str
    shape: list[int | None] | None

"""What a model takes and gives."""

from __future__ import annotations

from typing import NamedTuple


class Value(NamedTuple):
    """An input or an output of a model.

    type: in ONNX Runtime's words, such as "tensor(float)".
    shape: of an input, outermost size first, None for those that the model leaves open, such as the number of images;
    of an output None: it follows from the inputs.
    """

    name: str
    type: str
    shape: list[int | None] | None

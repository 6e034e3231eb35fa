"""What the extension asks PyTorch for; imported only where an array is on a GPU."""

from __future__ import annotations

from typing import Any

from convlab.errors import Error

try:
    import torch
except ImportError as error:
    raise Error(f"outputs on a GPU need PyTorch, which is not available ({error}); pass out") from error

DEFAULT_STREAMS = 0, 1  # PyTorch's name of CUDA's default stream, and CUDA's own


def current_stream(gpu: int) -> int:
    """PyTorch's current stream on that GPU, a cudaStream_t."""
    return torch.cuda.current_stream(gpu).cuda_stream


def empty(shape: tuple[int, ...], type_name: str, gpu: int, stream: Any) -> torch.Tensor:
    """A tensor of undefined elements on that GPU, in memory that belongs to `stream`, so that nothing that was given to
    another one still uses it."""
    dtype, device = getattr(torch, type_name), torch.device("cuda", gpu)
    if stream == current_stream(gpu):
        return torch.empty(shape, dtype=dtype, device=device)
    default = stream in DEFAULT_STREAMS
    with torch.cuda.stream(torch.cuda.default_stream(device) if default else torch.cuda.ExternalStream(stream, device)):
        return torch.empty(shape, dtype=dtype, device=device)

"""PyTorch functions that the extension calls; imported only when an array is on a GPU."""

from __future__ import annotations

from typing import Any

from convlab.errors import Error

try:
    import torch
except ImportError as error:
    raise Error(f"outputs on a GPU need PyTorch, which is not available ({error}); pass out") from error

DEFAULT_STREAMS = 0, 1  # CUDA's default stream in PyTorch, and in CUDA (cudaStreamLegacy)


def current_stream(gpu: int) -> int:
    """Returns PyTorch's current stream on this GPU, a cudaStream_t."""
    return torch.cuda.current_stream(gpu).cuda_stream


def empty(shape: tuple[int, ...], type_name: str, gpu: int, stream: Any) -> torch.Tensor:
    """Returns an uninitialized tensor on this GPU, allocated in `stream`, so that no pending work in another stream
    still uses its memory."""
    dtype, device = getattr(torch, type_name), torch.device("cuda", gpu)
    if stream == current_stream(gpu):
        return torch.empty(shape, dtype=dtype, device=device)
    default = stream in DEFAULT_STREAMS
    with torch.cuda.stream(torch.cuda.default_stream(device) if default else torch.cuda.ExternalStream(stream, device)):
        return torch.empty(shape, dtype=dtype, device=device)

"""Runs PyTorch on a GPU, with cuDNN, torch.compile and CUDA graphs, as bench/gpu_networks.py's reference for convlab.

All times are milliseconds, medians between CUDA events, after a warm-up in which cuDNN has selected its algorithms.
"""

from __future__ import annotations

import functools
import statistics
from pathlib import Path

import torch
from peer_sessions import network_of

REPEAT = 20
MATHS = {"fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16}
LAYOUTS = {"NCHW": torch.contiguous_format, "NHWC": torch.channels_last}


def event_ms(work) -> float:
    for _ in range(3):
        work()
    times = []
    for _ in range(REPEAT):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def choose_math(math: str) -> None:
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = math != "fp32"


def versions() -> dict:
    """Returns the versions of PyTorch and cuDNN, and the GPU."""
    return {"version": f"PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}", "gpu": torch.cuda.get_device_name()}


def fastest(times: dict[str, float]) -> dict:
    """Returns the fastest configuration, and all configurations tried."""
    way = min(times, key=times.__getitem__)
    return {"way": way, "ms": times[way], "tried": times}


def convolution(problem: dict[str, int], math: str) -> dict:
    """Times one convolution without bias in its fastest layout: n, c, h, w, k, r, s, padding p, stride st."""
    choose_math(math)
    times = {}
    for layout, memory in LAYOUTS.items():
        x = torch.rand(problem["n"], problem["c"], problem["h"], problem["w"], device="cuda", dtype=MATHS[math])
        w = torch.rand(problem["k"], problem["c"], problem["r"], problem["s"], device="cuda", dtype=MATHS[math])
        x, w = x.to(memory_format=memory), w.to(memory_format=memory)
        with torch.inference_mode():
            stride, padding = problem.get("st", 1), problem.get("p", 0)
            times[layout] = event_ms(lambda: torch.nn.functional.conv2d(x, w, stride=stride, padding=padding))
    return fastest(times)


class Labels(torch.nn.Module):
    """Computes labels from uint8 images."""

    def __init__(self, network: torch.nn.Module, dtype: torch.dtype, memory) -> None:
        super().__init__()
        self.network, self.dtype, self.memory = network.to(dtype=dtype, memory_format=memory), dtype, memory

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return self.network(pixels.to(self.dtype).contiguous(memory_format=self.memory)).argmax(1)


def replayed(model: torch.nn.Module, pixels: torch.Tensor):
    """Captures the model on these images as a CUDA graph, and returns only its replay."""
    return replayed_with_result(model, pixels)[0]


def replayed_with_result(model: torch.nn.Module, pixels: torch.Tensor) -> tuple:
    """Captures the model on these images as a CUDA graph; returns its replay and the tensor that receives each result.
    """
    for _ in range(3):
        model(pixels)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = model(pixels)
    return graph.replay, result


@functools.cache
def network(path: Path, images: int, math: str, from_host: bool) -> dict:
    """Times uint8 images on the device (or in pinned host memory) to labels there, with every configuration that works.
    """
    choose_math(math)
    times = {}
    for layout, memory in LAYOUTS.items():
        plain = network_of(path).eval().cuda()
        side = plain.input_size
        model = Labels(plain, MATHS[math], memory)
        pixels = torch.randint(0, 256, (images, 1, *side), dtype=torch.uint8)
        on_device = pixels.cuda()
        pinned, labels = pixels.pin_memory(), torch.empty(images, dtype=torch.int64).pin_memory()

        def timed(run, found=None) -> float:
            if not from_host:
                return event_ms(run)

            def whole() -> None:
                on_device.copy_(pinned, non_blocking=True)
                labels.copy_(run() if found is None else (run(), found)[1], non_blocking=True)
                torch.cuda.synchronize()

            return event_ms(whole)

        with torch.inference_mode():
            times[f"{layout}, eager"] = timed(lambda: model(on_device))
            compiled = torch.compile(model)
            times[f"{layout}, compiled"] = timed(lambda: compiled(on_device))
            for name, each in {"eager": model, "compiled": compiled}.items():
                if not from_host:
                    times[f"{layout}, {name}, graph"] = timed(replayed(each, on_device))
        torch.compiler.reset()
    return fastest(times)

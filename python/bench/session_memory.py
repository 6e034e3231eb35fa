#!/usr/bin/env python3
"""Measures the memory of several sessions of one model, in convlab, whose sessions share weights, and in ONNX Runtime.

Each engine runs in its own process, which opens one session after another and runs an input of ones through each. The
output is the increase of the process's memory over its start, in MB. Sizes that the model leaves open are set to 1. On
a GPU, it is the GPU's memory in use as PyTorch reports it, for convlab's sessions only.

    python3 python/bench/session_memory.py net.onnx [--sessions 4] [--device cuda]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

ENGINES = ["convlab", "ONNX Runtime"]


def taken_mb(device: str) -> float:
    if device != "cpu":
        import torch

        free, total = torch.cuda.mem_get_info()
        return (total - free) / 1e6
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


def opener(engine: str, model: str, device: str):
    """Returns a function that opens a session; in convlab, each session after the first is a clone of the first."""
    if engine == "convlab":
        import convlab

        sessions = []

        def open_next():
            sessions.append(sessions[0].clone(threads=1) if sessions else convlab.Session(model, device=device, threads=1))
            return sessions[-1]

        return open_next
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return lambda: onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def measure(engine: str, model: str, count: int, device: str) -> list[float]:
    open_next = opener(engine, model, device)
    before, kept, taken = taken_mb(device), [], []
    for _ in range(count):
        kept.append(open_next())
        feed = {each.name: np.ones([size if isinstance(size, int) else 1 for size in each.shape], np.float32)
                for each in kept[-1].get_inputs()}
        kept[-1].run(None, feed)
        taken.append(taken_mb(device) - before)
    return taken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="an .onnx file of float32 inputs")
    parser.add_argument("--sessions", type=int, default=4)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--engine", choices=ENGINES, help=argparse.SUPPRESS)  # set in the child process that measures one engine
    arguments = parser.parse_args()
    if arguments.engine:
        print(*(f"{each:.0f}" for each in measure(arguments.engine, arguments.model, arguments.sessions, arguments.device)))
        return 0
    print("sessions", *range(1, arguments.sessions + 1), sep="\t")
    for engine in ENGINES if arguments.device == "cpu" else ENGINES[:1]:
        again = [sys.executable, __file__, arguments.model, "--sessions", str(arguments.sessions), "--device", arguments.device,
                 "--engine", engine]
        taken = subprocess.run(again, check=True, capture_output=True, text=True).stdout.split()
        print(engine, *taken, sep="\t")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Measures the overhead of a call from Python: one image through a network with convlab, convlab in C++, ONNX Runtime.

The variants are interleaved, each in its own process. A round's sample is the median of its calls; the output is the
median of the rounds, in microseconds.

    python3 python/bench/call_overhead.py [--model sp25] [--threads 1] [--rounds 9]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import convlab
from convlab._convlab import library_path

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 1.0  # per round
WAYS = ["session(x)", "session(x, out=y)", "session.run(None, {...})", "ONNX Runtime"]


def median_us(call) -> float:
    call()
    samples, end = [], time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        began = time.perf_counter_ns()
        call()
        samples.append(time.perf_counter_ns() - began)
    return statistics.median(samples) / 1e3


def call_of(way: str, model: str, side: int, threads: int):
    """Returns a function without arguments that computes one image."""
    x = np.full((1, 1, side, side), 0.5, np.float32)
    if way == "ONNX Runtime":
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        file = ROOT / "models" / f"{model}.onnx"
        peer = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        feed = {peer.get_inputs()[0].name: x}
        return lambda: peer.run(None, feed)
    session = convlab.Session(model, device="cpu", threads=threads)
    feed, y = {session.get_inputs()[0].name: x}, session(x)
    calls = [lambda: session(x), lambda: session(x, out=y), lambda: session.run(None, feed)]
    return dict(zip(WAYS, calls))[way]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="sp25", help="of those that are shipped (default: the smallest)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)  # set in the child process that measures one variant
    arguments = parser.parse_args()
    model, threads = arguments.model, arguments.threads
    side = convlab.Session(model, device="cpu").get_inputs()[0].shape[-1]
    if arguments.way:
        print(median_us(call_of(arguments.way, model, side, threads)))
        return 0

    with tempfile.TemporaryDirectory() as folder:
        program, library = Path(folder) / "call_overhead", Path(library_path())
        subprocess.run(["c++", "-std=c++20", "-O2", f"-I{ROOT}/include", Path(__file__).with_suffix(".cc"), library,
                        f"-Wl,-rpath,{library.parent}", "-o", program], check=True)
        commands = {"C++": [program, model, str(side), str(threads), str(SECONDS)]}
        again = [sys.executable, __file__, "--model", model, "--threads", str(threads), "--way"]
        commands |= {way: [*again, way] for way in WAYS}
        samples: dict[str, list[float]] = {way: [] for way in commands}
        for _ in range(arguments.rounds):
            for way, command in commands.items():
                samples[way].append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    alone = statistics.median(samples["C++"])
    for way, each in samples.items():
        median = statistics.median(each)
        print(f"{way:26}{median:8.1f} us  {median - alone:+7.1f} us beside C++")
    return 0


if __name__ == "__main__":
    sys.exit(main())

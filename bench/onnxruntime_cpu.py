#!/usr/bin/env python3
"""convlab beside ONNX Runtime on the CPU: one network, machine and number of threads, from images to labels.

Both sides take turns, round by round, so that a change of the machine's speed meets both. A sample is the median of
--repeat passes over all images after a warm-up: convlab's is `network_s` of `convlab run MODEL --json -`; ONNX
Runtime's is session.run over float32 images, batch by batch, and the choice of the largest output. Its images are
scaled and made float32 beforehand, outside the time, and of the batch sizes tried the best counts. Both accuracies
must agree.

Example: python3 bench/onnxruntime_cpu.py --convlab build/cpu/bin/convlab --model fa19 --threads 2 --json /tmp/fa19.json

Needs the packages numpy and onnxruntime.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnxruntime

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "models"))
import fashion_mnist  # noqa: E402

MODELS = ["fa17-high", "fa17-low", "sp18", "fa18", "sp19", "sp19-library", "fa19"]
ACCURACY_SLACK = 0.0005  # rounding may turn a label where two classes tie


def convlab_sample(args: argparse.Namespace, model: str, images: int) -> dict:
    """What one run of convlab says of itself."""
    command = [str(args.convlab), "run", model, "--device", "cpu", "--threads", str(args.threads)]
    command += ["--images", str(images), "--repeat", str(args.repeat), "--data", str(args.data), "--json", "-"]
    command += shlex.split(args.arguments)
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{shlex.join(command)}\nexit status {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


class Onnxruntime:
    """A session on a model of the repository, and the images that it takes."""

    def __init__(self, model: Path, images: np.ndarray, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(model.read_bytes(), options, providers=["CPUExecutionProvider"])
        self.input = self.session.get_inputs()[0]
        side = self.input.shape[2]
        self.images = fashion_mnist.resize(images, side)[:, None].astype(np.float32)

    def classify(self, batch: int) -> np.ndarray:
        labels = np.empty(len(self.images), np.int64)
        for start in range(0, len(self.images), batch):
            scores = self.session.run(None, {self.input.name: self.images[start : start + batch]})[0]
            labels[start : start + batch] = scores.argmax(1)
        return labels

    def sample(self, batch: int, repeat: int) -> float:
        times = []
        for _ in range(repeat):
            start = time.perf_counter()
            self.classify(batch)
            times.append(time.perf_counter() - start)
        return statistics.median(times)


def measure(args: argparse.Namespace, model: str, images: np.ndarray, labels: np.ndarray) -> dict:
    session = Onnxruntime(ROOT / "models" / f"{model}.onnx", images, args.threads)
    accuracy = float((session.classify(args.batch[0]) == labels).mean())  # and the warm-up
    ours: list[dict] = []
    theirs: dict[int, list[float]] = {batch: [] for batch in args.batch}
    for done in range(args.rounds):
        if sys.stderr.isatty():
            print(f"\r{model}: round {done + 1} of {args.rounds}", end="", file=sys.stderr, flush=True)
        time.sleep(0.2)  # ONNX Runtime's threads spin for a while after their last work
        ours.append(convlab_sample(args, model, len(images)))
        for batch in args.batch:
            theirs[batch].append(session.sample(batch, args.repeat))
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    if not abs(ours[0]["accuracy"] - accuracy) <= ACCURACY_SLACK:
        raise SystemExit(f"{model}: convlab's accuracy is {ours[0]['accuracy']}, ONNX Runtime's {accuracy}")
    best = min(theirs, key=lambda batch: statistics.median(theirs[batch]))
    convlab_s = statistics.median(run["network_s"] for run in ours)
    onnxruntime_s = statistics.median(theirs[best])
    return {
        "model": model,
        "images": len(images),
        "threads": args.threads,
        "repeat": args.repeat,
        "convlab": {
            "median_s": convlab_s,
            "samples_s": [run["network_s"] for run in ours],
            "accuracy": ours[0]["accuracy"],
            "math": ours[0].get("math"),
            "plan": ours[0].get("plan"),
            "arguments": args.arguments,
        },
        "onnxruntime": {
            "median_s": onnxruntime_s,
            "batch": best,
            "samples_s": {str(batch): samples for batch, samples in theirs.items()},
            "accuracy": accuracy,
        },
        "speedup": onnxruntime_s / convlab_s,
    }


def machine() -> dict[str, object]:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        processor = platform.processor() or platform.machine()
    return {
        "processor": processor,
        "cores": len(os.sched_getaffinity(0)),
        "load_before": os.getloadavg()[0],
        "onnxruntime": onnxruntime.__version__,
        "python": platform.python_version(),
    }


def print_table(results: list[dict]) -> None:
    head = f"{'model':13} {'images':>6} {'threads':>7} {'convlab ms':>22} {'ONNX Runtime ms':>22} {'batch':>5}"
    print(f"{head} {'speedup':>8}")
    for row in results:
        theirs = row["onnxruntime"]["samples_s"][str(row["onnxruntime"]["batch"])]
        ours = spread(row["convlab"]["samples_s"])
        print(f"{row['model']:13} {row['images']:6} {row['threads']:7} {ours:>22} {spread(theirs):>22} "
              f"{row['onnxruntime']['batch']:5} {row['speedup']:7.2f}x")  # fmt: skip


def spread(samples: list[float]) -> str:
    low, middle, high = (1e3 * value for value in (min(samples), statistics.median(samples), max(samples)))
    return f"{middle:.1f} ({low:.1f}..{high:.1f})"


def find_convlab() -> Path | None:
    found = [path for path in ROOT.glob("build/**/convlab") if path.is_file() and os.access(path, os.X_OK)]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--convlab", type=Path, default=find_convlab(), help="default: the newest in build/")
    parser.add_argument("--model", nargs="+", default=["fa19"], choices=["all", *MODELS], help="default: fa19")
    parser.add_argument("--data", type=Path, default=fashion_mnist.DEFAULT_DATA, help="folder of the four idx.gz")
    parser.add_argument("--images", type=int, default=10000)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of each side (default: all)")
    parser.add_argument("--batch", type=int, nargs="+", default=[100, 1000], help="ONNX Runtime's (default: 100 1000)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=3, help="passes a sample")
    parser.add_argument("--arguments", default="", help='more for convlab run, such as "--batch 1000 --plan folded"')
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample there")
    parser.add_argument("--at-least", type=float, metavar="X", help="exit 1 where convlab is not X times as fast")
    args = parser.parse_args()
    if args.convlab is None or not args.convlab.is_file():
        parser.error("no convlab binary; build it (./run.sh) or name it with --convlab")
    for name in ("images", "threads", "rounds", "repeat"):
        if getattr(args, name) < 1:
            parser.error(f"--{name} must be 1 or more")
    if min(args.batch) < 1:
        parser.error("--batch must be 1 or more")
    return args


def main() -> None:
    args = arguments()
    host = machine()
    if host["load_before"] > 0.5:
        print(f"note: the machine is busy (load {host['load_before']:.1f}); the times will say so", file=sys.stderr)
    images, labels = fashion_mnist.load("test", args.data)
    images, labels = images[: args.images], labels[: args.images]
    results = [measure(args, model, images, labels) for model in (MODELS if "all" in args.model else args.model)]
    print(f"{host['processor']}, {host['cores']} cores; ONNX Runtime {host['onnxruntime']}; median (least..most) of "
          f"{args.rounds} rounds")  # fmt: skip
    print_table(results)
    if args.json:
        args.json.write_text(json.dumps({"machine": host, "results": results}, indent=1) + "\n")
    slow = [row["model"] for row in results if args.at_least and not row["speedup"] >= args.at_least]
    if slow:
        print(f"slower than asked ({args.at_least}x): {', '.join(slow)}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares convlab with ONNX Runtime, PyTorch and OpenVINO on the CPU: same networks, weights, images, machine and
threads.

All engines are measured interleaved, round by round, so a change of the machine's speed affects all of them. A sample
is the median of --repeat passes over all images after a warm-up. convlab's is `network_s` of `convlab run MODEL --json
-`, from uint8 images in memory to labels; a peer's is from fp32 images in memory, which are scaled beforehand and not
timed, to labels. Each peer first tries all its settings and batch sizes on 2000 images, and uses the fastest in the
rounds. All labels must agree except for a few ties, more of them in bf16. A peer that is not installed is skipped with
a message.

    python3 bench/peers.py --models fa19 sp19 --json results/cpu/peers.json
    python3 bench/peers.py --images 1 --batch 1 --repeat 300          # one image
    python3 bench/peers.py --maths fp32 bf16x2 bf16                   # convlab in these arithmetics, for CPUs with AMX
    python3 bench/peers.py --peer-math bf16 --maths bf16              # also the peers that have bf16, in bf16

bench/peer_tables.py writes docs/measured/peers.md's tables from results/cpu. Install what bench/requirements.txt lists,
preferably in its own virtual environment.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import re
import shlex
import statistics
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from peer_sessions import PEERS
from peer_tables import table

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "models"))
import fashion_mnist  # noqa: E402

MODELS = ["fa17-high", "fa17-low", "sp18", "fa18", "sp19", "sp19-library", "fa19", "sp25"]
# Share of labels that rounding may change, where two classes (nearly) tie.
TIES = {"fp32": 0.0005, "bf16x2": 0.0005, "bf16": 0.01}
TRIED_IMAGES = 2000  # for comparing settings and batch sizes


def variants(maths: list[str]) -> dict[str, str]:
    """Returns the ways to run convlab, and their arguments."""
    found = {}
    for math in maths:
        name = "convlab" if math == "fp32" else f"convlab {math}"
        found[name] = f"--math {math}"
        found[f"{name} folded"] = f"--math {math} --plan folded"
    return found


def serve(pipe, peer: str, model: str, images: np.ndarray, threads: int, math: str) -> None:
    """A peer in its own process: answers (setting, batch, images, repeat) with each pass's seconds, and the labels."""
    sessions: dict[str, object] = {}

    def classify(setting: str, batch: int, count: int) -> np.ndarray:
        if setting not in sessions:
            sessions[setting] = PEERS[peer](Path(model), threads, setting, math)
        scores = [sessions[setting].scores(images[at : min(at + batch, count)]) for at in range(0, count, batch)]
        return np.concatenate([each.argmax(1) for each in scores])

    for setting, batch, count, repeat in iter(pipe.recv, None):
        try:
            labels = classify(setting, batch, count)  # also the warm-up
            seconds = []
            for _ in range(repeat):
                start = time.perf_counter()
                classify(setting, batch, count)
                seconds.append(time.perf_counter() - start)
            pipe.send((seconds, labels))
        except Exception as error:  # pass on whatever a library raises
            pipe.send((f"{type(error).__name__}: {error}", None))


class Peer:
    """One library on one model."""

    def __init__(self, name: str, model: str, images: np.ndarray, threads: int, math: str) -> None:
        context = multiprocessing.get_context("spawn")
        self.name, (self.pipe, end) = name, context.Pipe()
        path = str(ROOT / "models" / f"{model}.onnx")
        self.process = context.Process(target=serve, args=(end, name, path, images, threads, math), daemon=True)
        self.process.start()
        self.images = len(images)
        self.best: tuple[str, int] | None = None
        self.samples: list[float] = []
        self.tried: dict[str, float] = {}

    def sample(self, setting: str, batch: int, count: int, repeat: int) -> tuple[float, np.ndarray]:
        """The median of seconds for the first `count` images, and their labels."""
        self.pipe.send((setting, batch, count, repeat))
        seconds, labels = self.pipe.recv()
        if labels is None:
            raise RuntimeError(seconds)
        return statistics.median(seconds), labels

    def try_all(self, batches: list[int]) -> np.ndarray:
        """Finds the best setting and batch on some images; labels all images with it."""
        count = min(self.images, TRIED_IMAGES)
        for setting in PEERS[self.name].settings:
            for batch in batches:
                try:
                    seconds, _ = self.sample(setting, batch, count, 2)
                except RuntimeError as error:
                    print(f"{self.name}, {setting}, batch {batch}: {error}", file=sys.stderr)
                    continue
                self.tried[f"{setting}, batch {batch}"] = seconds
                if self.best is None or seconds < self.tried["{}, batch {}".format(*self.best)]:
                    self.best = setting, batch
        if self.best is None:
            raise SystemExit(f"{self.name}: no setting works")
        return self.sample(*self.best, self.images, 1)[1]

    def stop(self) -> None:
        self.pipe.send(None)
        self.process.join()


def convlab_sample(args: argparse.Namespace, model: str, arguments: str) -> dict:
    """Returns the result of one run of convlab."""
    command = [str(args.convlab), "run", model, "--device", "cpu", "--threads", str(args.threads)]
    command += ["--images", str(args.images), "--repeat", str(args.repeat), "--data", str(args.data), "--json", "-"]
    done = subprocess.run(command + shlex.split(arguments), capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{shlex.join(command)}\nexit status {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def measure(args: argparse.Namespace, model: str, names: list[str], originals: np.ndarray) -> dict:
    ways = variants(args.maths)
    expected = np.array(convlab_sample(args, model, "--math fp32")["labels"])
    first = {name: convlab_sample(args, model, arguments) for name, arguments in ways.items()}
    images = fashion_mnist.resize(originals, side_of(next(iter(first.values()))))[:, None].astype(np.float32)
    peers = [Peer(name, model, images, args.threads, args.peer_math) for name in names]
    differing = {name: int((np.array(run["labels"]) != expected).sum()) for name, run in first.items()}
    ties = {name: TIES[run["math"]] for name, run in first.items()} | {peer.name: TIES[args.peer_math] for peer in peers}
    for peer in peers:
        differing[peer.name] = int((peer.try_all(args.batch) != expected).sum())
    ours: dict[str, list[float]] = {name: [] for name in ways}
    for done in range(args.rounds):
        if sys.stderr.isatty():
            print(f"\r{model}: round {done + 1} of {args.rounds}", end="", file=sys.stderr, flush=True)
        for name, arguments in ways.items():
            ours[name].append(convlab_sample(args, model, arguments)["network_s"])
        for peer in peers:
            peer.samples.append(peer.sample(*peer.best, peer.images, args.repeat)[0])
            time.sleep(0.2)  # threads of these libraries spin for a while after their last work
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    for peer in peers:
        peer.stop()
    wrong = [f"{name} in {count}" for name, count in differing.items() if count > ties[name] * len(images)]
    if wrong:
        raise SystemExit(f"{model}: labels differ from convlab's: {', '.join(wrong)} of {len(images)} images")
    rows = [{"name": name, "samples_s": samples, "arguments": ways[name]} for name, samples in ours.items()]
    for peer in peers:
        setting, batch = peer.best
        rows.append({"name": peer.name, "samples_s": peer.samples, "setting": setting, "batch": batch,
                     "version": PEERS[peer.name].version(), "tried_s": peer.tried})  # fmt: skip
    for row in rows:
        row["median_s"] = statistics.median(row["samples_s"])
        row["labels_differing"] = differing[row["name"]]
    return {"model": model, "images": len(images), "threads": args.threads, "repeat": args.repeat,
            "accuracy": {name: run["accuracy"] for name, run in first.items()}, "rows": rows}  # fmt: skip


def side_of(run: dict) -> int:
    """Returns the side of the first convolution's images, from "n10000_c1h70w70_k12r5s5"."""
    problem = next(layer["problem"] for layer in run["layers"] if layer["problem"])
    return int(re.search(r"h(\d+)w", problem)[1])


def machine() -> dict[str, object]:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
        amx = any("amx_bf16" in line for line in lines)
    except (OSError, StopIteration):
        processor, amx = platform.processor() or platform.machine(), False
    return {"processor": processor, "amx": amx, "cores": len(os.sched_getaffinity(0)), "load_before": os.getloadavg()[0],
            "python": platform.python_version(), "when": datetime.now(timezone.utc).isoformat(timespec="seconds")}  # fmt: skip


def find_convlab() -> Path | None:
    found = [path for path in ROOT.glob("build/**/convlab") if path.is_file() and os.access(path, os.X_OK)]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--convlab", type=Path, default=find_convlab(), help="default: the newest in build/")
    parser.add_argument("--models", nargs="+", default=["fa17-high", "sp19", "fa18", "fa19"], choices=["all", *MODELS])
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--data", type=Path, default=fashion_mnist.DEFAULT_DATA, help="folder of the four idx.gz")
    parser.add_argument("--images", type=int, default=10000)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of each side (default: all)")
    parser.add_argument("--batch", type=int, nargs="+", default=[32, 100, 1000], help="to try with each peer")
    parser.add_argument("--maths", nargs="+", default=["fp32"], choices=list(TIES), help="of convlab")
    parser.add_argument("--peer-math", default="fp32", choices=["fp32", "bf16"], help="of the peers that have it")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=3, help="passes a sample")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample there")
    args = parser.parse_args()
    if args.convlab is None or not args.convlab.is_file():
        parser.error("no convlab binary found; build it with ./run.sh, or pass --convlab")
    if min(args.images, args.threads, args.rounds, args.repeat, *args.batch) < 1:
        parser.error("--images, --threads, --batch, --rounds and --repeat must be 1 or more")
    return args


def main() -> int:
    args = arguments()
    host = machine()
    if host["load_before"] > 0.5:
        print(f"note: the machine is busy (load {host['load_before']:.1f}); times will be unreliable", file=sys.stderr)
    names = [name for name in args.peers if PEERS[name].version() is not None and args.peer_math in PEERS[name].maths]
    for name in set(args.peers) - set(names):
        print(f"note: {name} is not installed or has no {args.peer_math}; skipped", file=sys.stderr)
    if not names:
        raise SystemExit("no peer is installed; see bench/requirements.txt")
    images = fashion_mnist.load("test", args.data)[0][: args.images]
    models = MODELS if "all" in args.models else args.models
    saved = {"machine": host, "peer_math": args.peer_math, "results": [measure(args, model, names, images) for model in models]}
    print(table(saved))
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(saved, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

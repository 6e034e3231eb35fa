#!/usr/bin/env python3
"""Measures small requests at a steady load: convlab, with and without batching, compared with ONNX Runtime.

    python3 bench/serve.py measure results/serving/mine.json [--model fa19] [--seconds 3] [--rates 500,1000,2000]
    python3 bench/serve.py write              docs/guide/serving.md and docs/guide/serving.svg, from results/serving
    python3 bench/serve.py write --check      exits with status 1 if the page is out of date

Requests of one image arrive at independent random times (a Poisson process), whether or not earlier ones are done, and
client threads pass them to one session. A request's latency starts at its scheduled arrival. Each engine runs alone in
its own process, interleaved, and the page shows the median of the rounds. Needs the modules convlab (`pip install .`),
numpy and onnxruntime; the picture needs matplotlib.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

from pages import ROOT, publish, read_record, table

RESULTS = ROOT / "results" / "serving"
PAGE = ROOT / "docs/guide" / "serving.md"
PICTURE = ROOT / "docs/guide" / "serving.svg"

CLIENTS = 32  # threads that wait for results
TOGETHER = 16  # largest batch
ENGINES = {  # Records use these names; the page uses NAMES
    "ONNX Runtime": ("onnxruntime", 0),
    "convlab": ("convlab", 0),
    "convlab, gathers 1 ms": ("convlab", 1000),
    "convlab, gathers 4 ms": ("convlab", 4000),
}
NAMES = {"convlab, gathers 1 ms": "convlab, batch wait 1 ms", "convlab, gathers 4 ms": "convlab, batch wait 4 ms"}


def open_session(engine: str, wait_us: int, model: str):
    if engine == "onnxruntime":
        import onnxruntime

        return onnxruntime.InferenceSession(str(ROOT / "models" / f"{model}.onnx"), providers=["CPUExecutionProvider"])
    import convlab

    return convlab.Session(str(ROOT / "models" / f"{model}.onnx"), device="cpu", batch_wait_us=wait_us, batch_images=TOGETHER)


def serve(engine: str, wait_us: int, model: str, rate: float, seconds: float) -> dict:
    """Measures one engine at one load: answered requests per second, and latencies in milliseconds."""
    import numpy

    session = open_session(engine, wait_us, model)
    name, shape = session.get_inputs()[0].name, [1, *session.get_inputs()[0].shape[1:]]
    image = {name: numpy.random.default_rng(1).random(shape, dtype=numpy.float32)}
    chance = random.Random(7)
    comes, when = [], 0.0
    while when < seconds:
        when += chance.expovariate(rate)
        comes.append(when)
    latencies = [0.0] * len(comes)
    lock, taken = threading.Lock(), iter(range(len(comes)))

    def client(begin: float) -> None:
        while True:
            with lock:
                request = next(taken, None)
            if request is None:
                return
            at = begin + comes[request]
            if (early := at - time.perf_counter()) > 0:
                time.sleep(early)
            session.run(None, image)
            latencies[request] = time.perf_counter() - at

    def at_once(work) -> None:
        threads = [threading.Thread(target=work) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    session.run(None, image)
    at_once(lambda: [session.run(None, image) for _ in range(20)])
    begin = time.perf_counter() + 0.05
    at_once(lambda: client(begin))
    took = time.perf_counter() - begin
    latencies.sort()
    return {
        "answered_per_s": len(comes) / took,
        "p50_ms": latencies[len(latencies) // 2] * 1e3,
        "p99_ms": latencies[len(latencies) * 99 // 100] * 1e3,
    }


def measure(args: argparse.Namespace) -> int:
    rates = [float(rate) for rate in args.rates.split(",")]
    rounds: dict[tuple[float, str], list[dict]] = {}
    for turn in range(args.rounds):
        for rate in rates:
            for name, (engine, wait_us) in ENGINES.items():
                command = [sys.executable, __file__, "serve", engine, str(wait_us), args.model, str(rate), str(args.seconds)]
                result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
                rounds.setdefault((rate, name), []).append(result)
                print(f"round {turn + 1}, {rate:.0f} requests/s, {name}: {result['answered_per_s']:.0f}/s, "
                      f"p50 {result['p50_ms']:.2f} ms, p99 {result['p99_ms']:.2f} ms", file=sys.stderr)
    rows = [
        {"offered_per_s": rate, "engine": name, **{key: statistics.median(each[key] for each in results) for key in results[0]}}
        for (rate, name), results in rounds.items()
    ]
    processor = next(line.split(": ")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    record = {"model": args.model, "processor": processor, "threads": len(os.sched_getaffinity(0)), "clients": CLIENTS, "together": TOGETHER,
              "seconds": args.seconds, "rounds": args.rounds, "rows": rows}
    args.file.parent.mkdir(parents=True, exist_ok=True)
    args.file.write_text(json.dumps(record, indent=1) + "\n")
    return 0


def page(record: dict) -> str:
    rows = []
    for rate in sorted({row["offered_per_s"] for row in record["rows"]}):
        cells = [f"{rate:.0f}"]
        for name in ENGINES:
            row = next(row for row in record["rows"] if row["offered_per_s"] == rate and row["engine"] == name)
            kept_up = row["answered_per_s"] >= 0.95 * rate
            cells.append(f"{row['p50_ms']:.2f} / {row['p99_ms']:.2f}" if kept_up else f"{row['answered_per_s']:.0f} of {rate:.0f}/s")
        rows.append(cells)
    return "\n".join([
        "# Small requests",
        "",
        "For engineers who serve a network: the latency of many one-image requests at a steady load, with and without batching.",
        "",
        "Any threads may call one session. By default it computes their calls one after another. With `batch_wait_us` (C and Python) or",
        "`batch_wait` (C++), it batches calls of few images that arrive at about the same time: the first call waits at most this long for others, or",
        "until `batch_images` images have arrived. This pays if a batch costs less than its images one by one, and a lone call pays the",
        "wait, as the columns show. Batching is therefore off by default.",
        "",
        f"Independent one-image requests to {record['model']} arrive at a steady rate from {record['clients']} threads of a Python program; {record['processor']},",
        f"{record['threads']} threads; batches of at most {record['together']} images. Each cell is the median / 99th percentile of the latency in ms, from the scheduled arrival;",
        f"medians of {record['rounds']} rounds, each engine alone in its process, interleaved. If an engine answers fewer than 95 % of the requests in time, the",
        "cell is the rate that it answers. The program's own threads share the processor with the engine.",
        "",
        *table(["requests/s", *[f"{NAMES.get(name, name)}, ms" for name in ENGINES]], rows),
        "",
        "![Latency over load](serving.svg)",
        "",
        "`bench/serve.py` measures this, and writes this page.",
        "",
    ])


def draw(record: dict) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "convlab"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    for name in ENGINES:
        rows = sorted((row for row in record["rows"] if row["engine"] == name), key=lambda row: row["offered_per_s"])
        line = axes.plot([row["answered_per_s"] for row in rows], [row["p50_ms"] for row in rows], marker="o", label=NAMES.get(name, name))[0]
        axes.plot([row["answered_per_s"] for row in rows], [row["p99_ms"] for row in rows], linestyle=":", color=line.get_color())
    axes.set(xscale="log", yscale="log", xlabel="answered requests per second", ylabel="latency, ms (solid: median, dotted: 99th percentile)")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None})


def write(args: argparse.Namespace) -> int:
    record = json.loads(next(iter(sorted(RESULTS.glob("*.json")))).read_text())
    if not args.check:
        draw(record)
    return publish({PAGE: page(record)}, args.check)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("file", type=Path)
    measuring.add_argument("--model", default="fa19")
    measuring.add_argument("--seconds", type=float, default=3)
    measuring.add_argument("--rounds", type=int, default=3)
    measuring.add_argument("--rates", default="250,500,1000,2000,4000")
    writing = commands.add_parser("write")
    writing.add_argument("--check", action="store_true")
    serving = commands.add_parser("serve")
    for name, kind in [("engine", str), ("wait_us", int), ("model", str), ("rate", float), ("seconds", float)]:
        serving.add_argument(name, type=kind)
    args = parser.parse_args()
    if args.command == "serve":
        print(json.dumps(serve(args.engine, args.wait_us, args.model, args.rate, args.seconds)))
        return 0
    return measure(args) if args.command == "measure" else write(args)


if __name__ == "__main__":
    sys.exit(main())

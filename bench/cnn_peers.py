#!/usr/bin/env python3
"""Compares convlab with ONNX Runtime and OpenVINO on well-known CNNs: same files, inputs, machine and threads.

Each engine runs alone in its own process. Engines are interleaved round by round, so a change of the machine's speed
affects all of them. A run loads the network, makes one warm-up pass, then repeats passes for --seconds; its time is the
median pass, from float32 inputs in memory to outputs in memory. A network's time is the median of its runs. An engine
with several settings runs with each, and its best one counts. Outputs are compared with ONNX Runtime's on the
unmodified CPU: where 8-bit products are summed in 16 bits, which overflow, its quantized outputs differ.

Memory is a process's peak (VmHWM in Linux) up to its last pass, minus what it held (VmRSS) after its input was loaded
and before the network was. This excludes Python with NumPy and the engine's library for the peers, and the started
program for convlab; both figures are recorded with the difference. The smallest of an engine's runs counts. After its
last pass, `convlab infer --repeat` measures the machine for the table that it prints, which needs 200 MiB; the memory
it reports is from before.

    python3 bench/cnn_peers.py FOLDER --json results/cnn/mine.json         # FOLDER: from bench/cnn_networks.py
    python3 bench/cnn_peers.py FOLDER --networks resnet50 --batches 1 --rounds 5
    python3 bench/cnn_peers.py FOLDER --networks resnet50_int8 mobilenet_v2_int8

    python3 bench/cnn_peers.py FOLDER --as avx2                            # see bench/as_processor.c
    python3 bench/cnn_peers.py FOLDER --as avx2 --networks resnet50_int7 mobilenet_v2_int7

Install what bench/requirements.txt lists, and torchvision for bench/cnn_networks.py.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from cnn_networks import NETWORKS, QUANTIZED, image_size
from cnn_page import PEERS, geometric_mean

ROOT = Path(__file__).resolve().parents[1]
FLAGS = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16")  # of /proc/cpuinfo; each implies those before it
REFERENCE = "ONNX Runtime, as the processor is"
SETTINGS = {"convlab": [""], "ONNX Runtime": ["default"], "OpenVINO": ["LATENCY", "THROUGHPUT"]}
# Relative L2 error against ONNX Runtime in fp32. Weights are random, and bf16 rounding errors grow from layer to layer:
# Inception v3 is off by 0.18 here and by 0.21 in OpenVINO, the others by 0.002 to 0.12.
LARGEST_ERROR = {"fp32": 1e-4, "bf16": 0.3}
LARGEST_ERROR_OF_QUANTIZED = 0.2  # one changed rounding changes all later layers


def resident(field: str) -> int:
    """Returns this process's resident memory in bytes: VmRSS is current, VmHWM the peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def memory(before: int, most: int) -> dict:
    return {"memory": most - before, "memory_before": before, "memory_most": most}


def peer_turn(spec: dict) -> dict:
    """Runs a peer in its own process."""
    x = np.load(spec["input"])
    if spec["engine"] in ("ONNX Runtime", REFERENCE):
        import onnxruntime

        before = resident("VmRSS")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = spec["threads"]
        options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(spec["network"], options, providers=["CPUExecutionProvider"])
        run = lambda: session.run(None, {"x": x})[0]  # noqa: E731
        version = onnxruntime.__version__
    else:
        import openvino

        before = resident("VmRSS")
        core = openvino.Core()
        model = core.read_model(spec["network"])
        model.reshape({"x": list(x.shape)})
        hint = {"fp32": "f32", "bf16": "bf16"}[spec["math"]]
        parts = 1
        options = {"INFERENCE_PRECISION_HINT": hint, "INFERENCE_NUM_THREADS": spec["threads"], "PERFORMANCE_HINT": spec["setting"]}
        if spec["setting"] == "THROUGHPUT":  # one stream per thread, each with its share of the images
            parts = min(spec["threads"], len(x))
            options["NUM_STREAMS"] = parts
            model.reshape({"x": [len(x) // parts, *x.shape[1:]]})
        compiled = core.compile_model(model, "CPU", options)
        requests = [compiled.create_infer_request() for _ in range(parts)]
        shares = np.split(x, parts)

        def run() -> np.ndarray:
            for request, share in zip(requests, shares):
                request.start_async({0: share}, share_inputs=True)
            for request in requests:
                request.wait()
            return np.concatenate([request.get_output_tensor().data for request in requests])

        version = openvino.__version__.split("-")[0]
    y = run()
    seconds = []
    end = time.perf_counter() + spec["seconds"]
    while time.perf_counter() < end or len(seconds) < 3:
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    np.save(spec["output"], y)
    return {"seconds": statistics.median(seconds), **memory(before, resident("VmHWM")), "version": version}


def convlab_turn(spec: dict) -> dict:
    # A short first run determines how many passes fit into the time.
    def run(repeat: int) -> dict:
        command = [spec["convlab"], "infer", spec["network"], "--input", spec["input"], "--output", spec["output"], "--json", "-",
                   "--threads", str(spec["threads"]), "--math", spec["math"], "--repeat", str(repeat), "--device", "cpu"]
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)

    version = subprocess.run([spec["convlab"], "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    found = run(max(3, int(spec["seconds"] / run(3)["network_s"])))
    return {"seconds": found["network_s"], **memory(found["memory_before_kb"] * 1024, found["memory_most_kb"] * 1024), "version": version}


def turn(spec: dict) -> dict:
    if spec["engine"] == "convlab":
        return convlab_turn(spec)
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"} if spec["engine"] == REFERENCE else None
    done = subprocess.run([sys.executable, __file__, "--turn", json.dumps(spec)], capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise RuntimeError(f"{spec['engine']}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def measure(spec: dict, rounds: int) -> dict:
    """Measures all engines on one network and batch size."""
    turns: dict[tuple[str, str], list[dict]] = {}
    outputs = {}
    with tempfile.TemporaryDirectory() as folder:
        spec = {**spec, "output": f"{folder}/y.npy"}
        turn({**spec, "engine": REFERENCE, "seconds": 0})
        wanted = np.load(spec["output"])
        for _ in range(rounds):
            for engine in ("convlab", *PEERS[spec["math"]]):
                for setting in SETTINGS[engine]:
                    if engine == "OpenVINO" and setting == "THROUGHPUT" and spec["batch"] < spec["threads"]:
                        continue
                    turns.setdefault((engine, setting), []).append(turn({**spec, "engine": engine, "setting": setting}))
                    outputs[engine] = np.load(spec["output"])
    engines = {}
    for engine in outputs:
        of_engine = {setting: each for (name, setting), each in turns.items() if name == engine}
        best = min(of_engine, key=lambda setting: statistics.median(one["seconds"] for one in of_engine[setting]))
        seconds = [one["seconds"] for one in of_engine[best]]
        smallest = min(of_engine[best], key=lambda one: one["memory"])
        error = np.linalg.norm(outputs[engine] - wanted) / np.linalg.norm(wanted)
        quantized = Path(spec["network"]).stem in QUANTIZED
        if not error <= (LARGEST_ERROR_OF_QUANTIZED if quantized else LARGEST_ERROR[spec["math"]]):
            if engine == "convlab":
                raise RuntimeError(f"{engine} on {spec['network']}: relative L2 error {error:.2g}")
            print(f"{engine} on {spec['network']}: relative L2 error {error:.2g}")
        engines[engine] = {"version": of_engine[best][0]["version"], "setting": best, "seconds": statistics.median(seconds),
                           "turns": seconds, **{key: smallest[key] for key in ("memory", "memory_before", "memory_most")}, "error": float(error)}
    return engines


def show_processor(args: argparse.Namespace, folder: str) -> None:
    """With --as, lets programs that start from now on see that processor."""
    if args.as_processor is None:
        return
    library = f"{folder}/as_processor.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, str(ROOT / "bench/as_processor.c")], check=True)
    os.environ["CONVLAB_AS"] = args.as_processor
    os.environ["LD_PRELOAD"] = library
    if subprocess.run(["true"]).returncode != 0:
        raise SystemExit("--as needs a processor and a system that let programs trap CPUID: cpuid_fault in /proc/cpuinfo")


def machine(as_processor: str | None) -> dict:
    info = Path("/proc/cpuinfo").read_text()
    name = next((line.split(":")[1].strip() for line in info.splitlines() if line.startswith("model name")), platform.machine())
    flags = next((line for line in info.splitlines() if line.startswith("flags")), "").split()
    shown = FLAGS[: FLAGS.index(as_processor) + 1] if as_processor else FLAGS
    return {"cpu": name, "cores": os.cpu_count(), "has": [flag for flag in shown if flag in flags], "as": as_processor}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of all scripts that measure these networks."""
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), metavar="NAME")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--math", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--convlab", default=str(ROOT / "build/cpu/bin/convlab"), metavar="PROGRAM")
    parser.add_argument("--as", dest="as_processor", choices=["avx2", "avx512_vnni"], help="show all engines a processor that ends there")
    parser.add_argument("--json", type=Path, metavar="FILE")


def new_record(kind: str, args: argparse.Namespace) -> dict:
    """Returns the members that every Record of these networks begins with."""
    return {"kind": kind, "time": datetime.now(timezone.utc).isoformat(timespec="seconds"), "machine": machine(args.as_processor), "threads": args.threads,
            "math": args.math, "rounds": args.rounds}


def save(record: dict, path: Path | None) -> None:
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record, indent=1) + "\n")


def save_pictures(path: str, random: np.random.Generator, network: str, batch: int) -> None:
    """Saves random images of the network's size."""
    size = image_size(network)
    np.save(path, random.uniform(-1, 1, (batch, 3, size, size)).astype(np.float32))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="networks that bench/cnn_networks.py made")
    add_options(parser)
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 16], metavar="N")
    parser.add_argument("--seconds", type=float, default=1.0, help="of passes in a turn")
    parser.add_argument("--turn", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.turn:
        print(json.dumps(peer_turn(json.loads(args.turn))))
        return
    if args.folder is None:
        parser.error("give the folder of networks that bench/cnn_networks.py made")
    random = np.random.default_rng(5)
    record = {**new_record("cnn_peers", args), "networks": []}
    with tempfile.TemporaryDirectory() as folder:
        show_processor(args, folder)
        for batch in args.batches:
            ratios = []
            for name in args.networks:
                path = f"{folder}/x.npy"
                save_pictures(path, random, name, batch)
                spec = {"network": str(args.folder / f"{name}.onnx"), "input": path, "batch": batch, "threads": args.threads, "math": args.math,
                        "seconds": args.seconds, "convlab": args.convlab}
                engines = measure(spec, args.rounds)
                peers = PEERS[args.math]
                best = min(peers, key=lambda engine: engines[engine]["seconds"])
                ratios.append(engines[best]["seconds"] / engines["convlab"]["seconds"])
                smallest = min(engines[peer]["memory"] for peer in peers)
                record["networks"].append({"network": name, "batch": batch, "engines": engines, "times": ratios[-1]})
                times = "  ".join(f"{engine} {1e3 * engines[engine]['seconds']:.2f}" for engine in engines)
                print(f"{name:16} batch {batch:2}  ms: {times}  times: {ratios[-1]:.2f}  memory: {engines['convlab']['memory'] / smallest:.2f}", flush=True)
            print(f"geometric mean, batch {batch}: {geometric_mean(ratios):.2f}, least {min(ratios):.2f}", flush=True)
            save(record, args.json)


if __name__ == "__main__":
    main()

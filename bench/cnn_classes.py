#!/usr/bin/env python3
"""Measures which classes of layers take a CNN's time on this CPU, and how close each class is to the machine's limits.

`convlab infer` times each step, and `convlab explain` reports its minimum time: its arithmetic at the highest measured
rate of multiply-adds, or its memory traffic, whichever takes longer. Winograd kernels multiply less than is counted
here, so 3x3 filters may exceed 100 %.

    python3 bench/cnn_classes.py FOLDER --json results/cnn/classes.json    # FOLDER: from bench/cnn_networks.py
    python3 bench/cnn_classes.py FOLDER --networks resnet50 --batch 16
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from cnn_peers import add_options, new_record, save, save_pictures, show_processor

CLASSES = ("first", "3x3", "1x1", "other convolutions", "depthwise", "dense", "joins, pools and the rest")


def class_of(step: dict) -> str:
    """Returns a step's class, from its convolution's text, such as n2_c12h33w33_k24r5s5_p1_st2_g1, or its operator."""
    if not step["problem"]:
        return "dense" if step["op"].startswith(("Gemm", "MatMul")) else CLASSES[-1]
    sizes = {key: int(value) for key, value in re.findall(r"([a-z]+)(\d+)", step["problem"])}
    if sizes.get("g", 1) > 1 and sizes["g"] == sizes["c"]:
        return "depthwise"
    if sizes["c"] < 8:
        return "first"
    if sizes["h"] == sizes["w"] == 1:
        return "dense"
    return {(3, 3): "3x3", (1, 1): "1x1"}.get((sizes["r"], sizes["s"]), "other convolutions")


def output_of(command: list[str]) -> dict:
    return json.loads(subprocess.run([*command, "--json", "-"], capture_output=True, text=True, check=True).stdout)


def measure(name: str, args: argparse.Namespace) -> dict[str, dict]:
    """Returns, by class, the measured seconds and the minimum seconds."""
    network, device = str(args.folder / f"{name}.onnx"), ["--threads", str(args.threads), "--math", args.math, "--device", "cpu"]
    with tempfile.TemporaryDirectory() as folder:
        save_pictures(f"{folder}/x.npy", np.random.default_rng(5), name, args.batch)
        rounds = []
        for _ in range(args.rounds):  # interleaved: a change of the machine's speed affects both
            plan = output_of([args.convlab, "explain", network, "-n", str(args.batch), *device])["steps"]
            times = output_of([args.convlab, "infer", network, "--input", f"{folder}/x.npy", "--output", f"{folder}/y.npy",
                               "--batch", str(args.batch), "--repeat", str(args.repeat), *device])["layers"]
            if [step["name"] for step in plan] != [step["name"] for step in times]:
                raise SystemExit(f"{name}: explain and infer have other steps")
            rounds.append(list(zip(plan, times)))
    found = {each: {"s": 0.0, "bound_s": 0.0} for each in CLASSES}
    for of_step in zip(*rounds):
        entry = found[class_of(of_step[0][0])]
        entry["s"] += statistics.median(time["op_time_s"] for _, time in of_step)
        entry["bound_s"] += statistics.median(step["bound_s"] for step, _ in of_step)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="networks that bench/cnn_networks.py made")
    add_options(parser)
    parser.add_argument("--batch", type=int, default=1, metavar="N", help="images, computed together")
    parser.add_argument("--repeat", type=int, default=20, help="passes in a round")
    args = parser.parse_args()
    record = {**new_record("cnn_classes", args), "batch": args.batch, "networks": {}}
    with tempfile.TemporaryDirectory() as folder:
        show_processor(args, folder)
        for name in args.networks:
            record["networks"][name] = found = measure(name, args)
            whole = sum(entry["s"] for entry in found.values())
            print(f"{name}, batch {args.batch}: {1e3 * whole:.2f} ms")
            for each, entry in found.items():
                if entry["s"] > 0:
                    print(f"  {each:26} {1e3 * entry['s']:8.3f} ms  {entry['s'] / whole:4.0%} of the time  {entry['bound_s'] / entry['s']:4.0%} of the bound",
                          flush=True)
            save(record, args.json)


if __name__ == "__main__":
    main()

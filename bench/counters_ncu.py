#!/usr/bin/env python3
"""Compares the GPU's counters from convlab with those from ncu, for a network's convolutions, kernel by kernel.

Each named kernel of the ladder runs both convolutions of MODEL, layer by layer: once under `convlab profile
--counters`, and once as `convlab run` under ncu, which leaves clocks and caches alone, as convlab does. (By default ncu
flushes the caches before each kernel, so less is written back to memory while the kernel runs.) The GPU kernels of one
pass are matched by name and order. Prints the largest difference in percentage points, and writes both figures of every
metric.

Example: python3 bench/counters_ncu.py --convlab build/cuda/bin/convlab --json counters.json cuda.basic cuda.shared_tile

Needs ncu and an NVIDIA GPU with permission to read its counters.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

METRICS = [
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
]


def short_name(name: str) -> str:
    """"convolve" for "void convlab::(anonymous namespace)::convolve<5>(float const*)"."""
    name = re.split(r"[<(]", name.replace("(anonymous namespace)::", ""))[0]
    return re.split(r"[: ]", name)[-1]


def ours(arguments: argparse.Namespace, kernel: str) -> list[dict]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "profile.json"
        command = [arguments.convlab, "profile", *run_arguments(arguments, kernel), "--counters", "--json", str(path)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        utilisation = json.loads(path.read_text())["utilisation"]
    if utilisation["refusal"]:
        sys.exit("no counters: " + utilisation["refusal"])
    return utilisation["kernels"]


def of_ncu(arguments: argparse.Namespace, kernel: str) -> list[dict]:
    """Returns ncu's counters in launch order; weights are packed before the first pass."""
    command = ["ncu", "--clock-control", "none", "--cache-control", "none", "--csv", "--kernel-name-base", "function",
               "--metrics", ",".join(METRICS), "--launch-count", "40", arguments.convlab, "run",
               *run_arguments(arguments, kernel)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = output[output.index('"ID"'):].splitlines()
    kernels: dict[str, dict] = {}
    for row in csv.DictReader(lines):
        each = kernels.setdefault(row["ID"], {"name": row["Kernel Name"], "metrics": {}})
        each["metrics"][row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
    return list(kernels.values())


def run_arguments(arguments: argparse.Namespace, kernel: str) -> list[str]:
    chosen = [arguments.model, "-n", str(arguments.images), "--device", "cuda", "--plan", "layers", "--kernel", kernel]
    return chosen + (["--data", arguments.data] if arguments.data else [])


def matched(mine: list[dict], theirs: list[dict]) -> list[tuple[dict, dict]]:
    wanted = [short_name(each["name"]) for each in mine]
    names = [short_name(each["name"]) for each in theirs]
    for begin in range(len(names) - len(wanted) + 1):
        if names[begin:begin + len(wanted)] == wanted:
            return list(zip(mine, theirs[begin:]))
    sys.exit(f"ncu saw {names}, which has no pass of {wanted}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="+", metavar="KERNEL")
    parser.add_argument("--convlab", required=True, metavar="BINARY")
    parser.add_argument("--model", default="fa19")
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--data", default="")
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()

    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], check=True,
                         capture_output=True, text=True).stdout.strip()
    rows = []
    print(f"{'kernel':26}{'layer':8}{'function':30}" + "".join(f"{metric.split('.')[0]:>32}" for metric in METRICS))
    for kernel in arguments.kernels:
        for mine, theirs in matched(ours(arguments, kernel), of_ncu(arguments, kernel)):
            if not mine["part"].startswith("conv"):
                continue
            both = {name: {"convlab": mine["metrics"][name], "ncu": theirs["metrics"][name]} for name in METRICS}
            function = short_name(mine["name"])
            rows.append({"kernel": kernel, "layer": mine["part"], "function": function, "limit": mine["limit"],
                         "metrics": both})
            print(f"{kernel:26}{mine['part']:8}{function:30}" +
                  "".join(f"{each['convlab']:22.2f} /{each['ncu']:8.2f}" for each in both.values()))
    worst = max(abs(each["convlab"] - each["ncu"]) for row in rows for each in row["metrics"].values())
    print(f"convlab / ncu, percent; the largest difference is {worst:.2f} points")
    if arguments.json:
        result = {"gpu": gpu, "model": arguments.model, "images": arguments.images, "worst_difference_points": worst,
                  "rows": rows}
        Path(arguments.json).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()

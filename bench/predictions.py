#!/usr/bin/env python3
"""Writes what `convlab predict` expects of each step of the ladder on a GPU, before it is measured.

    python3 bench/predictions.py BINARY [--machine RECORD.json]     results/predictions/MACHINE.json

Uses simt's counts for fa19's two convolutions at 10000 images; the GPU is that of the Records. bench/ladder.py shows
the predictions next to the times of the same folder in docs/measured/ladder.md. Needs no GPU and takes a few minutes.
With nvcc in PATH, occupancy uses actual register counts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from gpu_common import now
from ladder import KERNELS, Kernel
from pages import ROOT

IMAGES = 10000
KEPT = ["kernel", "from", "problem", "device", "ms", "from_ms", "ratio", "limit", "from_limit", "why"]


def predict(binary: str, kernel: Kernel, machine: Path) -> tuple[list[dict], str]:
    """Returns the predictions for both layers, or the reason why there are none."""
    command = [binary, "predict", kernel.name, "--from", kernel.after, "--model", "fa19", "-n", str(IMAGES),
               "--machine", str(machine), "--device", "simt", "--json", "-"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 2 and "unknown kernel" in done.stderr:
        return [], "it is bound to a chip, and simt does not run it"
    if done.returncode != 0:
        return [], done.stderr.strip().splitlines()[-1].removeprefix("convlab: error: ")
    steps = json.loads(done.stdout)["predictions"]
    return [{name: round(step[name], 6) if isinstance(step[name], float) else step[name] for name in KEPT} for step in steps], ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="a convlab that has simt")
    parser.add_argument("--machine", type=Path, default=ROOT / "results/nvidia-h200/fa19.json", help="Records of the GPU")
    arguments = parser.parse_args()
    kernels = sorted((Kernel(path) for path in KERNELS.glob("ladder/*.cu")), key=lambda kernel: kernel.rung)
    predictions, missing = [], []
    for kernel in kernels:
        if not kernel.after.startswith("cuda."):
            continue  # the first rung
        steps, reason = predict(arguments.binary, kernel, arguments.machine)
        print(f"{kernel.name}: {[step['ratio'] for step in steps] or reason}", flush=True)
        predictions += steps
        if not steps:
            missing.append({"kernel": kernel.name, "reason": reason})
    target = ROOT / "results/predictions" / f"{arguments.machine.resolve().parent.name}.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps({"when": now(), "predictions": predictions, "not_predicted": missing}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

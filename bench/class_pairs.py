#!/usr/bin/env python3
"""Tests whether a class's ranking separates kernels that differ in speed, and only those.

    python3 bench/class_pairs.py BINARY [--device cpu|cuda|cuda:N] [--kernel FILE] [--slower FILE] [--count N] [-o FILE.json]

Creates a class, submits one kernel 20 times and a slower one 20 times, each under its own name, in random order, and
lets a worker judge them. Prints how many pairs of the same kernel have a winner, that is, 95 % confidence intervals
that do not overlap, and in how many pairs of both kernels the slower one has the lower rank. Without files, both are
the script's own simple kernel, and the slower one recomputes 3 % of the images. Exit status 1 if more than 5 % of the
same pairs have a winner, or the slower kernel ranks lower in less than 90 % of the others.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from itertools import combinations, product
from pathlib import Path

PARAMETERS = "const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S"
MOST_WINNERS, LEAST_BEHIND = 0.05, 0.9

# Recomputed results are not stored, because two threads would race; the compiler cannot know that.
ELEMENT = """
  const float* pixels = x + (n % N) * C * H * W;
  float sum = 0;
  for (int c = 0; c < C; ++c)
    for (int r = 0; r < R; ++r)
      for (int s = 0; s < S; ++s) sum += pixels[(c * H + p + r) * W + q + s] * w[((k * C + c) * R + r) * S + s];
  if (n < N || sum == 1e30f) y[(((n % N) * K + k) * P + p) * Q + q] = sum;
"""

CPU = f"""
void convolve({PARAMETERS}) {{
  const int P = H - R + 1, Q = W - S + 1;
#pragma omp parallel for collapse(2)
  for (int n = 0; n < IMAGES(N); ++n)
    for (int k = 0; k < K; ++k)
      for (int p = 0; p < P; ++p)
        for (int q = 0; q < Q; ++q) {{
          {ELEMENT}
        }}
}}
"""

GPU = f"""
__global__ void convolve_kernel({PARAMETERS}) {{
  const int P = H - R + 1, Q = W - S + 1;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= IMAGES(N) * K * P * Q) return;
  const int q = i % Q, p = i / Q % P, k = i / Q / P % K, n = i / Q / P / K;
  {ELEMENT}
}}

void convolve({PARAMETERS}) {{
  const int outputs = IMAGES(N) * K * (H - R + 1) * (W - S + 1), threads = 128;
  convolve_kernel<<<(outputs + threads - 1) / threads, threads>>>(x, w, y, N, C, H, W, K, R, S);
}}
"""


def own_kernel(device: str, percent: int) -> str:
    """Returns a kernel that computes `percent` more images than there are: the first ones again."""
    images = f"#define IMAGES(N) ((N) + ((N) * {percent} + 50) / 100)"
    return f"// As slow as {100 + percent} % of the images.\n{images}\n{CPU if device == 'cpu' else GPU}"


def run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\nexit status {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def judged(binary: str, folder: Path, arguments: argparse.Namespace, kernels: dict[str, Path]) -> list[dict]:
    """Returns each submission's entry in the ranking; `kernel` says which kernel it is."""
    root = str(folder / "class")
    new = ["new", root, "--assignment", arguments.assignment, "--device", arguments.device, "--show-names"]
    run([binary, "class", *new, *(["--images", str(arguments.images)] if arguments.images else [])])
    if arguments.timing_s:
        settings = Path(root, "class.toml")
        settings.write_text(re.sub(r"timing_s = .*", f"timing_s = {arguments.timing_s}", settings.read_text()))
    names = [f"{kernel} {i + 1}" for kernel in kernels for i in range(arguments.count)]
    random.Random(arguments.seed).shuffle(names)
    for name in names:
        run([binary, "class", "submit", root, str(kernels[name.split()[0]]), "--as", name])
    run([binary, "class", "work", root, "--until-empty"])
    for each in json.loads(run([binary, "class", "history", root, "--json", "-"]))["submissions"]:
        if each["verdict"] != "PASSED":
            raise SystemExit(f"{each['name']}: {each['verdict']} at {each['failed_at']}: {each['reason']}")
    entries = json.loads(run([binary, "class", "ranking", root, "--json", "-"]))["entries"]
    return [each | {"kernel": each["name"].split()[0]} for each in entries]


def apart(one: dict, other: dict) -> bool:
    return one["high"] < other["low"] or other["high"] < one["low"]


def share(count: int, of: int) -> str:
    return f"{count} of {of} pairs ({count / of:.1%})"


def report(entries: list[dict]) -> dict:
    same = [each for each in entries if each["kernel"] == "same"]
    slower = [each for each in entries if each["kernel"] == "slower"]
    result: dict = {"entries": entries}
    ratios = sorted(each["ratio"] for each in same)
    print(f"the same kernel: ratios from {ratios[0]:.4f} to {ratios[-1]:.4f}")
    pairs = list(combinations(same, 2))
    if pairs:
        winners = sum(apart(*pair) for pair in pairs)
        result |= {"pairs": len(pairs), "winners": winners}
        print(f"one wins at the 95 % level in {share(winners, len(pairs))}")
    if slower:
        ratios = sorted(each["ratio"] for each in slower)
        pairs = list(product(slower, same))
        behind = sum(one["rank"] > other["rank"] for one, other in pairs)
        result |= {"mixed_pairs": len(pairs), "slower_behind": behind}
        print(f"the slower one: ratios from {ratios[0]:.4f} to {ratios[-1]:.4f}")
        print(f"the slower one has the lower rank in {share(behind, len(pairs))}")
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--device", default="cuda", help="cpu, cuda (default) or cuda:N")
    parser.add_argument("--kernel", type=Path, help="a kernel file (default: the script's own, and a slower one)")
    parser.add_argument("--slower", type=Path, help="one that is slower (default with --kernel: none)")
    parser.add_argument("--count", type=int, default=20, help="submissions of each (default 20)")
    parser.add_argument("--assignment", default="fa19", help="of which (default fa19)")
    parser.add_argument("-n", "--images", type=int, help="images in each layer (default: the class's)")
    parser.add_argument("--timing-s", type=int, help="limit of a submission's timing (default: the class's)")
    parser.add_argument("--seed", type=int, default=1, help="of the order in which they are handed in (default 1)")
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kernels = {"same": arguments.kernel, "slower": arguments.slower}
        if not arguments.kernel:
            suffix = "cc" if arguments.device == "cpu" else "cu"
            for percent, kernel in ((0, "same"), (3, "slower")):
                kernels[kernel] = kernels[kernel] or folder / f"{kernel}.{suffix}"
                if not kernels[kernel].exists():
                    kernels[kernel].write_text(own_kernel(arguments.device, percent))
        kernels = {kernel: file for kernel, file in kernels.items() if file}
        result = report(judged(str(Path(arguments.binary).absolute()), folder, arguments, kernels))
    if arguments.output:
        about = {"when": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "device": arguments.device,
                 "assignment": arguments.assignment, "images": arguments.images}
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(json.dumps(about | result, indent=1) + "\n")
    right = result.get("winners", 0) <= MOST_WINNERS * result.get("pairs", 0)
    return 0 if right and result.get("slower_behind", 0) >= LEAST_BEHIND * result.get("mixed_pairs", 0) else 1


if __name__ == "__main__":
    sys.exit(main())

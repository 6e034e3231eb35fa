#!/usr/bin/env python3
"""README.md's tables: convlab's times beside others', from the measurements that docs/peers.md, docs/cnn_peers.md,
docs/gpu_networks.md and docs/ladder.md show in full.

    python3 bench/front_page.py              # writes it
    python3 bench/front_page.py --check      # exit status 1 where it would change
"""

from __future__ import annotations

import argparse
import json
import sys

from cnn_page import arithmetic, batches, geometric_mean, processor, records, times
from gpu_common import ms as milliseconds
from pages import ROOT, between, publish, table

RESULTS = ROOT / "results"
README = ROOT / "README.md"


def ms(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else milliseconds(value)


def on_cpu(file: str, what: str) -> list[str]:
    """fa19 on a CPU, every layer computed, beside the fastest peer."""
    saved = json.loads((RESULTS / "cpu" / file).read_text())
    rows = next(result["rows"] for result in saved["results"] if result["model"] == "fa19")
    ours = next(row for row in rows if row["name"] == "convlab")["median_s"]
    peer = min((row for row in rows if "arguments" not in row), key=lambda row: row["median_s"])
    return [what, ms(1e3 * ours), f"{peer['name']}: {ms(1e3 * peer['median_s'])}", f"{peer['median_s'] / ours:.1f}"]


def on_gpu(work: str, math: str, what: str) -> list[str]:
    saved = json.loads((RESULTS / "networks" / "nvidia-h200.json").read_text())
    row = next(row for row in saved["rows"] if (row["work"], row["math"]) == (work, math))
    ours, theirs = row["convlab"]["ms"], row["peer"]["ms"]
    return [what, ms(ours), f"PyTorch: {ms(theirs)}", f"{theirs / ours:.1f}"]


def rung(kernel: str, what: str) -> list[str]:
    """The course's two convolutions by one rung of the ladder, beside cuDNN in the same class of arithmetic."""
    records = {(record["kernel"], record["problem"]): record for record in json.loads((RESULTS / "nvidia-h200" / "fa19.json").read_text())}
    problems = ["n10000_c1h70w70_k12r5s5", "n10000_c12h33w33_k24r5s5"]
    ours, theirs = (sum(records[name, problem]["op_ms"]["median"] for problem in problems) for name in [kernel, "cudnn"])
    return [what, ms(ours), f"cuDNN: {ms(theirs)}", f"{theirs / ours:.1f}"]


def on_networks() -> list[list[str]]:
    """Well-known CNNs on CPUs, a row for each machine, arithmetic and batch."""
    rows = []
    for record in records("cnn_peers"):
        for batch in batches(record):
            of_all = times(record, batch)
            rows.append([f"{processor(record)}, {arithmetic(record)}", f"{batch}", f"{len(of_all)}", f"{geometric_mean(of_all):.2f}", f"{min(of_all):.2f}"])
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 1 where README.md would change")
    rows = [
        on_cpu("amd-epyc-avx2.json", "the course's network, 10000 images, two cores with AVX2"),
        on_cpu("amd-epyc-avx2-one-image.json", "one image there"),
        on_gpu("fa19 network, fused", "fp32", "10000 images on an H200, fp32"),
        on_gpu("fa19 network, fused", "fp16", "the same in fp16"),
        rung("cuda.tensor_core_3xfp16", "the fastest rung of the ladder: its two convolutions, fp32"),
    ]
    lines = table(["", "convlab, ms", "the best of the others, ms", "times as fast"], rows)
    networks = table(["well-known CNNs on two cores", "batch", "networks", "times as fast, geometric mean", "least"], on_networks())
    text = between(README.read_text(), "table", lines)
    return publish({README: between(text, "networks", networks)}, parser.parse_args().check)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Writes README.md's table of convlab's times compared with others', from the measurements that docs/measured/peers.md,
docs/measured/cnn_peers.md, docs/measured/gpu_networks.md and docs/measured/ladder.md show in full.

    python3 bench/front_page.py              # writes the table
    python3 bench/front_page.py --check      # exits with status 1 if it is out of date
"""

from __future__ import annotations

import argparse
import sys

from cnn_page import PEERS, arithmetic, geometric_mean, records
from gpu_common import ms as milliseconds
from pages import ROOT, between, publish, read_record, table

RESULTS = ROOT / "results"
README = ROOT / "README.md"


def row(what: str, ours_ms: float, theirs_ms: float, engine: str) -> list[str]:
    return [what, ms(ours_ms), f"{ms(theirs_ms)} ({engine})", f"{theirs_ms / ours_ms:.2f}"]


def ms(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else milliseconds(value)


def on_cpu(file: str, what: str) -> list[str]:
    """Returns the row of fa19 on a CPU, with every layer computed, compared with the fastest peer."""
    saved = read_record(RESULTS / "cpu" / file)
    rows = next(result["rows"] for result in saved["results"] if result["model"] == "fa19")
    ours = next(each for each in rows if each["name"] == "convlab")["median_s"]
    peer = min((each for each in rows if "arguments" not in each), key=lambda each: each["median_s"])
    return row(what, 1e3 * ours, 1e3 * peer["median_s"], peer["name"])


def on_gpu(work: str, math: str, what: str) -> list[str]:
    saved = read_record(RESULTS / "networks" / "nvidia-h200.json")
    found = next(each for each in saved["rows"] if (each["work"], each["math"]) == (work, math))
    return row(what, found["convlab"]["ms"], found["peer"]["ms"], "PyTorch")


def rung(kernel: str, what: str) -> list[str]:
    """Returns the row of the course's two convolutions by one rung of the ladder, compared with cuDNN in the same
    arithmetic.
    """
    found = {(record["kernel"], record["problem"]): record for record in read_record(RESULTS / "nvidia-h200" / "fa19.json")}
    problems = ["n10000_c1h70w70_k12r5s5", "n10000_c12h33w33_k24r5s5"]
    ours, theirs = (sum(found[name, problem]["op_ms"]["median"] for problem in problems) for name in [kernel, "cudnn"])
    return row(what, ours, theirs, "cuDNN")


def on_networks(math: str, limited_to: str | None, what: str, cores: int = 2, batch: int = 1) -> list[str]:
    """Returns geometric means over the well-known CNNs of one Record, compared with the faster peer of each network."""
    record = next(each for each in records("cnn_peers")
                  if (arithmetic(each), each["machine"]["as"], each["machine"]["cores"]) == (math, limited_to, cores))  # fmt: skip
    peers = PEERS[record["math"]]
    engines = [each["engines"] for each in record["networks"] if each["batch"] == batch]
    ours = geometric_mean([1e3 * each["convlab"]["seconds"] for each in engines])
    theirs = geometric_mean([1e3 * min(each[peer]["seconds"] for peer in peers) for each in engines])
    return row(f"{len(engines)} {what}", ours, theirs, " or ".join(peers))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with status 1 if README.md is out of date")
    rows = [
        on_cpu("amd-epyc-avx2.json", "the course's network, 10000 images, 2 cores with AVX2, fp32"),
        on_cpu("amd-epyc-avx2-one-image.json", "the course's network, 1 image, 2 cores with AVX2, fp32"),
        on_gpu("fa19 network, fused", "fp32", "the course's network, 10000 images, H200, fp32"),
        on_gpu("fa19 network, fused", "fp16", "the course's network, 10000 images, H200, fp16"),
        rung("cuda.tensor_core_3xfp16", "its two convolutions, fastest fp32 rung of the ladder, H200"),
        on_networks("bf16", None, "well-known CNNs, batch 1, 2 cores with AMX, bf16*"),
        on_networks("fp32", "avx2", "well-known CNNs, batch 1, 2 cores with AVX2, fp32*"),
        on_networks("int8", "avx2", "well-known CNNs, batch 1, 2 cores with AVX2, int8*"),
    ]
    lines = table(["what", "convlab, ms", "best of the others, ms", "speedup"], rows)
    lines += ["", "\\* Geometric means; each network is compared with the faster engine of those in parentheses. AVX2 in these rows: a Xeon with CPUID",
              "limited to AVX2."]
    return publish({README: between(README.read_text(), "table", lines)}, parser.parse_args().check)


if __name__ == "__main__":
    sys.exit(main())

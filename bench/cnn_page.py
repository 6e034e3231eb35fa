#!/usr/bin/env python3
"""Makes docs/cnn_peers.md from the Records of bench/cnn_peers.py and bench/cnn_classes.py in results/cnn.

    python3 bench/cnn_page.py                writes it
    python3 bench/cnn_page.py --check        exit status 1 if the Records give another

Needs only Python.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys

from pages import ROOT, publish, table

PAGE = ROOT / "docs" / "cnn_peers.md"
PEERS = {"fp32": ("ONNX Runtime", "OpenVINO"), "bf16": ("OpenVINO",)}  # ONNX Runtime has no bf16


def records(kind: str) -> list[dict]:
    """In the order of their files' names."""
    found = [json.loads(path.read_text()) for path in sorted((ROOT / "results" / "cnn").glob("*.json"))]
    return [record for record in found if record["kind"] == kind]


def arithmetic(record: dict) -> str:
    names = [row["network"] for row in record["networks"]]
    quantized = {"int8": "int8", "int7": "int8, weights of 7 bits"}
    return next((text for kind, text in quantized.items() if all(name.endswith(f"_{kind}") for name in names)), record["math"])


def processor(record: dict) -> str:
    has = record["machine"]["has"]
    best = next(name for flag, name in (("amx_bf16", "AMX"), ("avx512_vnni", "AVX512-VNNI"), ("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in has)
    seen = "seen as one that ends at " if record["machine"].get("as") else ""
    return f"{record['machine']['cpu']} of {record['machine']['cores']} cores, {seen}{best}"


def batches(record: dict) -> list[int]:
    return sorted({row["batch"] for row in record["networks"]})


def times(record: dict, batch: int) -> list[float]:
    return [row["times"] for row in record["networks"] if row["batch"] == batch]


def geometric_mean(values: list[float]) -> float:
    return math.exp(statistics.mean(map(math.log, values)))


def ms(seconds: float) -> str:
    return f"{1e3 * seconds:.0f}" if seconds >= 0.1 else f"{1e3 * seconds:.3g}"


def cells(row: dict, peers: tuple[str, ...]) -> list[str]:
    """A network at one batch: each engine's time, how many times as fast, memory beside the smaller peer."""
    engines = row["engines"]
    smallest = min(engines[peer]["memory"] for peer in peers)
    return [*(ms(engines[engine]["seconds"]) for engine in ("convlab", *peers)), f"{row['times']:.2f}",
            f"{engines['convlab']['memory'] / smallest:.2f}"]  # fmt: skip


def turns(record: dict) -> str:
    """Of each engine; networks whose turns differ much may have more."""
    counts = [len(row["engines"][engine]["turns"]) for row in record["networks"] for engine in ("convlab", *PEERS[record["math"]])]
    least, most = min(counts), max(counts)
    return f"{least} turns" if least == most else f"{least} to {most} turns"


def errors(record: dict) -> str:
    """Each engine's largest error."""
    of = {name: max(row["engines"][name]["error"] for row in record["networks"]) for name in ("convlab", *PEERS[record["math"]])}
    return ", ".join(f"{name} {error:.1g}" for name, error in of.items())


def peers_section(record: dict) -> list[str]:
    engines, peers = record["networks"][0]["engines"], PEERS[record["math"]]
    versions = ", ".join(f"{name} {engines[name]['version']}" for name in ("convlab", *peers))
    lines = [f"## {processor(record)}: {arithmetic(record)}", "",
             f"{record['threads']} threads, {turns(record)} of each engine, {record['time'][:10]}; {versions}. Largest errors: {errors(record)}.", ""]  # fmt: skip
    for batch in batches(record):
        of_all = times(record, batch)
        rows = [[row["network"], *cells(row, peers)] for row in record["networks"] if row["batch"] == batch]
        rows.append(["geometric mean", *[""] * (1 + len(peers)), f"{geometric_mean(of_all):.2f}, least {min(of_all):.2f}", ""])
        lines += [*table([f"batch {batch}", "convlab, ms", *(f"{peer}, ms" for peer in peers), "times", "memory"], rows), ""]
    return lines


def classes_section(record: dict) -> list[str]:
    classes = list(next(iter(record["networks"].values())))
    rows = []
    for name, found in record["networks"].items():
        whole = sum(entry["s"] for entry in found.values())
        rows.append([name, ms(whole),
                     *("" if found[each]["s"] == 0 else f"{found[each]['s'] / whole:.0%}, {found[each]['bound_s'] / found[each]['s']:.0%}" for each in classes)])  # fmt: skip
    return [f"### {processor(record)}: {record['math']}, batch {record['batch']}, {record['threads']} threads", "",
            *table(["network", "ms", *classes], rows), ""]  # fmt: skip


def page() -> str:
    lines = ["# Well-known CNNs on a CPU, beside others", "",
             "Made by `bench/cnn_page.py` from the Records in `results/cnn`. Each engine runs alone in a process of its own, in turns, on the same",
             "files, inputs and threads (`bench/cnn_peers.py` tells how). `times`: how many times as fast as the faster peer convlab is.",
             "Errors are relative L2 beside what ONNX Runtime gives in fp32 on the processor as it is; of quantized networks, beside its quantized",
             "outputs: where products of 8 bits are summed in 16, as they are without dot products of bytes, they overflow in the others. For such",
             "processors ONNX Runtime's quantizer advises weights of 7 bits (`reduce_range`), with which nothing overflows.",
             "`memory`: convlab's largest beside that of the smaller peer, each without the program and its libraries. Machines are shared:",
             "the ratios say more than the milliseconds.", ""]  # fmt: skip
    for record in records("cnn_peers"):
        lines += peers_section(record)
    classes = records("cnn_classes")
    if classes:
        lines += ["## What takes the time, and what limits it", "",
                  "By class of layer: its share of the network's time, and how much of that the machine's bound would take: arithmetic at the best",
                  "rate of multiply-adds that two threads showed, or its bytes from memory (`bench/cnn_classes.py`). Winograd's method multiplies less than is",
                  "counted, so that 3x3 may pass 100 %; what lies in a cache may, too.", ""]  # fmt: skip
        for record in classes:
            lines += classes_section(record)
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 1 where the page would change")
    return publish({PAGE: page()}, parser.parse_args().check)


if __name__ == "__main__":
    sys.exit(main())

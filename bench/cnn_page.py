#!/usr/bin/env python3
"""Writes docs/measured/cnn_peers.md from the Records of bench/cnn_peers.py and bench/cnn_classes.py in results/cnn.

    python3 bench/cnn_page.py                writes the page
    python3 bench/cnn_page.py --check        exits with status 1 if the page is out of date

Needs only Python.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys

from pages import ROOT, publish, read_record, table

PAGE = ROOT / "docs/measured/cnn_peers.md"
CLASSES = {"first": "first convolution", "joins, pools and the rest": "concatenation, pooling and others"}  # Records have older names
PEERS = {"fp32": ("ONNX Runtime", "OpenVINO"), "bf16": ("OpenVINO",)}  # ONNX Runtime has no bf16


def records(kind: str) -> list[dict]:
    """Returns the Records of this kind, ordered by file name."""
    found = [read_record(path) for path in sorted((ROOT / "results" / "cnn").glob("*.json"))]
    return [record for record in found if record["kind"] == kind]


def arithmetic(record: dict) -> str:
    names = [row["network"] for row in record["networks"]]
    quantized = {"int8": "int8", "int7": "int8 with 7-bit weights"}
    return next((text for kind, text in quantized.items() if all(name.endswith(f"_{kind}") for name in names)), record["math"])


def processor(record: dict) -> str:
    has = record["machine"]["has"]
    best = next(name for flag, name in (("amx_bf16", "AMX"), ("avx512_vnni", "AVX512-VNNI"), ("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in has)
    limited = "CPUID limited to " if record["machine"].get("as") else ""
    cpu = record["machine"]["cpu"].replace("(R)", "").replace(" Processor", "")
    return f"{cpu}, {record['machine']['cores']} cores, {limited}{best}"


def batches(record: dict) -> list[int]:
    return sorted({row["batch"] for row in record["networks"]})


def times(record: dict, batch: int) -> list[float]:
    return [row["times"] for row in record["networks"] if row["batch"] == batch]


def geometric_mean(values: list[float]) -> float:
    return math.exp(statistics.mean(map(math.log, values)))


def ms(seconds: float) -> str:
    return f"{1e3 * seconds:.0f}" if seconds >= 0.1 else f"{1e3 * seconds:.3g}"


def cells(row: dict, peers: tuple[str, ...]) -> list[str]:
    """Returns a network's row for one batch size: each engine's time, the speedup over the faster peer, and the memory
    relative to the smaller peer.
    """
    engines = row["engines"]
    smallest = min(engines[peer]["memory"] for peer in peers)
    return [*(ms(engines[engine]["seconds"]) for engine in ("convlab", *peers)), f"{row['times']:.2f}",
            f"{engines['convlab']['memory'] / smallest:.2f}"]  # fmt: skip


def turns(record: dict) -> str:
    """Returns how many measurements each engine has; networks with a large spread may have more."""
    counts = [len(row["engines"][engine]["turns"]) for row in record["networks"] for engine in ("convlab", *PEERS[record["math"]])]
    least, most = min(counts), max(counts)
    return f"{least} runs" if least == most else f"{least} to {most} runs"


def errors(record: dict) -> str:
    """Returns each engine's largest error."""
    of = {name: max(row["engines"][name]["error"] for row in record["networks"]) for name in ("convlab", *PEERS[record["math"]])}
    return ", ".join(f"{name} {error:.1g}" for name, error in of.items())


def peers_section(record: dict) -> list[str]:
    engines, peers = record["networks"][0]["engines"], PEERS[record["math"]]
    versions = ", ".join(f"{name} {engines[name]['version']}" for name in ("convlab", *peers))
    lines = [f"## {processor(record)}: {arithmetic(record)}", "",
             f"{record['threads']} threads, {turns(record)} per engine, {record['time'][:10]}; {versions}. Largest relative L2 errors: {errors(record)}.", ""]  # fmt: skip
    for batch in batches(record):
        of_all = times(record, batch)
        rows = [[row["network"], *cells(row, peers)] for row in record["networks"] if row["batch"] == batch]
        rows.append(["geometric mean", *[""] * (1 + len(peers)), f"{geometric_mean(of_all):.2f}", ""])
        rows.append(["minimum", *[""] * (1 + len(peers)), f"{min(of_all):.2f}", ""])
        lines += [*table([f"batch {batch}", "convlab, ms", *(f"{peer}, ms" for peer in peers), "speedup", "memory ratio"], rows), ""]
    return lines


def classes_section(record: dict) -> list[str]:
    classes = list(next(iter(record["networks"].values())))
    rows = []
    for name, found in record["networks"].items():
        whole = sum(entry["s"] for entry in found.values())
        rows.append([name, ms(whole),
                     *("" if found[each]["s"] == 0 else f"{100 * found[each]['s'] / whole:.0f} ({100 * found[each]['bound_s'] / found[each]['s']:.0f})" for each in classes)])  # fmt: skip
    return [f"### {processor(record)}: {record['math']}, batch {record['batch']}, {record['threads']} threads", "",
            *table(["network", "time, ms", *[f"{CLASSES.get(each, each)}, %" for each in classes]], rows), ""]  # fmt: skip


def page() -> str:
    lines = ["# Well-known CNNs on a CPU", "",
             "For engineers who choose an engine: the latency and memory of convlab on well-known CNNs, compared with ONNX Runtime and OpenVINO. In",
             "bf16 only OpenVINO is compared, because ONNX Runtime has no bf16 on CPUs.", "",
             "Each engine runs alone in its own process, interleaved with the others, with the same files, inputs and threads",
             "(`bench/cnn_peers.py`). *Speedup*: the time of the faster other engine divided by convlab's; below 1, convlab is slower. *Memory ratio*:",
             "convlab's peak memory divided by that of the smaller other engine, each without program and libraries. The machines are shared with other",
             "work, so the ratios are more reliable than the milliseconds.", "",
             "*CPUID limited to* AVX2 or AVX512-VNNI: the processor has more, but all engines are shown one with this instruction set.", "",
             "Errors are relative to the output of ONNX Runtime in fp32 on the unlimited processor; for quantized networks, to its output of the quantized",
             "network. Without VNNI, the other engines sum 8-bit products in 16 bits, which overflows. For these processors, ONNX Runtime's quantizer",
             "recommends 7-bit weights (`reduce_range`), with which nothing overflows.", "",
             "`bench/cnn_page.py` writes this page from the Records in `results/cnn`.", ""]  # fmt: skip
    for record in records("cnn_peers"):
        lines += peers_section(record)
    classes = records("cnn_classes")
    if classes:
        lines += ["## Time by class of layer, and its roofline bound", "",
                  "Each cell is the class's share of the network's time, in %, and in parentheses its roofline bound as a share of the measured time, in",
                  "%. The bound is the arithmetic at the highest rate of multiply-adds that two threads reached, or the bytes from memory, whichever takes",
                  "longer (`bench/cnn_classes.py`). It may exceed 100 % for 3x3 filters, because Winograd needs fewer multiplications than are counted, and",
                  "for data that stays in a cache.", ""]  # fmt: skip
        for record in classes:
            lines += classes_section(record)
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with status 1 if the page is out of date")
    return publish({PAGE: page()}, parser.parse_args().check)


if __name__ == "__main__":
    sys.exit(main())

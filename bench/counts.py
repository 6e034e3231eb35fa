#!/usr/bin/env python3
"""Compares simt's counts with a GPU's hardware counters, for the ladder's kernels on fa19's convolutions.

    python3 bench/counts.py measure BINARY FOLDER [--data DIR]   FOLDER/counts.json and FOLDER/shared.txt; on a GPU
    python3 bench/counts.py write [--check]                      docs/measured/counts.md from results/counts/

`measure` needs ncu, nvcc and an NVIDIA GPU with permission to read its counters, and takes about three minutes. It also
runs bench/shared_patterns.cu, whose counters tests/warps compares with simt's counts.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gpu_common import now, output_of
from pages import ROOT, publish, read_record, table

RESULTS = ROOT / "results/counts"
PAGE = ROOT / "docs/measured/counts.md"
IMAGES = 2
LADDER = 40  # rungs from here on are not part of the ladder: kProductionRung in convlab/kernels/kernel.h

GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
WAVEFRONTS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
PATTERN_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
PATTERN_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
INSTRUCTIONS = "smsp__sass_inst_executed_op_shared_{}.sum"
FLOPS = {f"smsp__sass_thread_inst_executed_op_{name}_pred_on.sum": flops
         for name, flops in (("fadd", 1), ("fmul", 1), ("ffma", 2))}  # fmt: skip

# A figure's name, its path in simt's JSON, and the GPU counters whose sum it equals.
FIGURES = [
    ("global load requests", ("global", "load", "requests"), [GLOBAL.format("requests", "ld")]),
    ("global load sectors", ("global", "load", "sectors"), [GLOBAL.format("sectors", "ld")]),
    ("global store requests", ("global", "store", "requests"), [GLOBAL.format("requests", "st")]),
    ("global store sectors", ("global", "store", "sectors"), [GLOBAL.format("sectors", "st")]),
    ("atomic requests", ("global", "atomic", "requests"), [GLOBAL.format("requests", op) for op in ("red", "atom")]),
    ("shared load requests", ("shared", "load", "requests"), [INSTRUCTIONS.format("ld")]),
    ("shared load wavefronts", ("shared", "load", "wavefronts"), [WAVEFRONTS.format("ld")]),
    ("shared store requests", ("shared", "store", "requests"), [INSTRUCTIONS.format("st")]),
    ("shared store wavefronts", ("shared", "store", "wavefronts"), [WAVEFRONTS.format("st")]),
]  # fmt: skip

# The reason why a kernel's figure differs. Every difference needs one.
REASONS = {
    ("cuda.unroll_gemm", "shared load"): "nvcc loads four adjacent weights at once: 7 loads instead of 25",
    ("cuda.fused_unroll_gemm", "shared load"): "nvcc loads two adjacent weights at once: 13 loads instead of 25",
    ("cuda.per_layer", "shared load"): "nvcc loads four adjacent weights at once: 7 loads instead of 25",
    ("cuda.half2", "shared load"): "nvcc loads two adjacent half2 weights at once",
    ("cuda.half2", "flops"): "half2 products have their own counter, op_hfma: 6,641,152 in conv2, four flops each. simt counts 6,537,216 half2 products; nvcc also uses this instruction to move constants",
    ("cuda.winograd", "flops"): "the two compilers omit different products by the transforms' constants 1, -1 and 0",
    ("cuda.fft", "flops"): "nvcc omits the product by the sign, 1 or -1, of each stage: one flop per stage and thread",
    ("cuda.tensor_core", "flops"): "tensor core products are not scalar instructions: simt counts them, these counters do not",
    ("cuda.tensor_core", "shared store"): "if a condition selects one of two values, the host's compiler branches and stores twice; nvcc selects and stores once",
    ("cuda.wmma_tf32", "flops"): "tensor core products are not scalar instructions: simt counts them, these counters do not",
    ("cuda.wmma_tf32", "shared"): "CUDA does not document a fragment's layout across lanes: simt assumes row by row; the GPU uses another one, and stores two results of a lane at once",
    ("cuda.cp_async", "shared store"): "an asynchronous copy writes to shared memory without a store instruction, so this counter omits it",
}  # fmt: skip


def counters_of(command: list[str], most: int) -> list[dict]:
    """Returns ncu's counters of a program's first launches, in order."""
    metrics = ",".join(sorted({name for _, _, names in FIGURES for name in names} | set(FLOPS)
                              | {pattern.format(op) for pattern in (PATTERN_WAVEFRONTS, PATTERN_CONFLICTS) for op in ("ld", "st")}))
    ncu = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--launch-count", str(most), "--metrics", metrics]
    done = subprocess.run([*ncu, *command], capture_output=True, text=True)
    start = done.stdout.find('"ID"')
    if start < 0:
        sys.exit(f"{' '.join(command)} under ncu: {done.stdout[-500:]}{done.stderr[-500:]}")
    return [row for row in csv.DictReader(done.stdout[start:].splitlines()) if row["ID"]]


def figure(row: dict, name: str) -> int:
    return int(float((row.get(name) or "0").replace(",", "")))


def function_of(kernel: str) -> str:
    """"convolve" for "void convlab::<unnamed>::convolve<5>(const float *)"."""
    plain = kernel.removeprefix("void ").replace("(anonymous namespace)::", "").replace("<unnamed>::", "")
    return re.sub(r"(Three)?(Tf32|Fp16),.*", "", re.split(r"[<(]", plain)[0].split("::")[-1])


def of_gpu(row: dict) -> dict[str, int]:
    figures = {name: sum(figure(row, each) for each in counters) for name, _, counters in FIGURES}
    return figures | {"flops": sum(flops * figure(row, name) for name, flops in FLOPS.items())}


def of_simt(counted: dict) -> dict[str, int]:
    figures = {name: counted["memory"].get(space, {}).get(access, {}).get(what, 0) // counted["launches"]
               for name, (space, access, what), _ in FIGURES}  # fmt: skip
    return figures | {"flops": counted["flops"] // counted["launches"]}


def run_of(kernel: str, options: list[str]) -> list[str]:
    return ["fa19", "-n", str(IMAGES), "--plan", "layers", "--kernel", kernel, *options]


def counted_by_simt(binary: str, kernel: str, options: list[str]) -> list[dict]:
    return output_of([binary, "profile", *run_of(kernel, options), "--device", "simt", "--counters", "--json", "-"])["kernels"]


def compared_with_gpu(binary: str, kernel: str, options: list[str], counts: list[dict]) -> list[dict]:
    launches = counters_of([binary, "run", *run_of(kernel, options), "--device", "cuda"], 24)
    rows = []
    for counted in counts:
        function, grid = counted["function"].split("<")[0], f"({', '.join(map(str, counted['grid']))})"
        same = [row for row in launches if function_of(row["Kernel Name"]) == function and row["Grid Size"] == grid]
        if not same:
            sys.exit(f"{kernel}: the GPU launched no {function} of {grid} blocks")
        rows.append({"kernel": kernel, "layer": counted["layer"], "function": function, "grid": grid,
                     "simt": of_simt(counted), "gpu": of_gpu(same[0])})  # fmt: skip
    return rows


def measure_patterns() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "patterns")
        subprocess.run(["nvcc", "-std=c++17", "-arch=native", "-o", program, str(ROOT / "bench/shared_patterns.cu")], check=True)
        patterns = subprocess.run([program, "print"], check=True, capture_output=True, text=True).stdout.splitlines()
        launches = counters_of([program], len(patterns))
    lines = []
    for pattern, row in zip(patterns, launches, strict=True):
        op = "ld" if pattern.startswith("load") else "st"
        lines.append(f"{pattern} {figure(row, PATTERN_WAVEFRONTS.format(op))} {figure(row, PATTERN_CONFLICTS.format(op))}")
    return lines


def measure(arguments: argparse.Namespace) -> int:
    arguments.folder.mkdir(parents=True, exist_ok=True)
    binary = str(Path(arguments.binary).absolute())
    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], check=True,
                         capture_output=True, text=True).stdout.splitlines()[0]  # fmt: skip
    head = ["# One warp's accesses to shared memory by a GPU's counters (bench/counts.py): access, bytes a lane, lanes in hexadecimal,",
            "# for each lane the index that it accesses, in units of its bytes; wavefronts, bank conflicts."]  # fmt: skip
    (arguments.folder / "shared.txt").write_text("\n".join([*head, *measure_patterns()]) + "\n")
    saved = {"gpu": gpu, "when": now(), "images": IMAGES, "counts": []}
    options = ["--data", arguments.data] if arguments.data else []
    kernels = [kernel["name"] for kernel in output_of([binary, "list", "kernels", "--json", "-"])["kernels"]
               if kernel["device"] == "simt" and 0 < kernel["rung"] < LADDER]  # fmt: skip
    with ThreadPoolExecutor() as pool:
        counts = pool.map(lambda kernel: counted_by_simt(binary, kernel, options), kernels)
    for kernel, counted in zip(kernels, counts, strict=True):
        rows = compared_with_gpu(binary, kernel, options, counted)
        saved["counts"] += rows
        differing = sum(row["simt"][name] != row["gpu"][name] for row in rows for name in row["gpu"])
        print(f"{kernel}: {sum(len(row['gpu']) for row in rows)} figures, {differing} differ", flush=True)
        (arguments.folder / "counts.json").write_text(json.dumps(saved, indent=1) + "\n")
    return 0


def reason_for(kernel: str, name: str) -> str:
    found = [words for (begin, what), words in REASONS.items() if kernel.startswith(begin) and name.startswith(what)]
    if not found:
        sys.exit(f"{kernel}: '{name}' differs from the GPU's, and REASONS does not explain it")
    return found[0]


def differences(rows: list[dict]) -> list[list[str]]:
    lines = []
    for row in rows:
        for name, gpu in row["gpu"].items():
            if (simt := row["simt"][name]) != gpu:
                lines.append([f"`{row['kernel']}`", f"{row['layer']}, `{row['function']}`", name, f"{simt:,}", f"{gpu:,}",
                              reason_for(row["kernel"], name)])  # fmt: skip
    return lines


def write(check: bool) -> int:
    saved = read_record(RESULTS / "nvidia-h200.json")
    rows = saved["counts"]
    names = list(rows[0]["gpu"])
    used = [(row, name) for row in rows for name in names if row["gpu"][name] or row["simt"][name]]
    same = [(row, name) for row, name in used if row["gpu"][name] == row["simt"][name]]
    totals = [[name, str(sum(each == name for _, each in used)), str(sum(each == name for _, each in same))] for name in names]
    patterns = sum(not line.startswith("#") for line in (RESULTS / "nvidia-h200-shared.txt").read_text().splitlines())
    page = [
        "# Counts without a GPU, compared with a GPU's counters", "",
        "For students who profile without a GPU: how far to trust `convlab profile --device simt --counters`, which counts memory accesses per",
        f"source line as a GPU's hardware counters do. This page compares its counts with those of an {saved['gpu'].split(',')[0]}, read by ncu:",
        f"{len({row['kernel'] for row in rows})} rungs of the ladder, fa19's two convolutions, {saved['images']} images ({saved['when'][:10]}). `bench/counts.py` measures, and writes this page.", "",
        f"{len(same)} of {len(used)} counts are exactly equal:", "",
        *table(["counter", "kernels and layers that use it", "exactly equal"], totals), "",
        "The others differ because the compilers differ, or because a hardware counter omits something:", "",
        *table(["kernel", "layer, function", "counter", "simt", "GPU", "reason"], differences(rows)), "",
        "Bank conflicts are wavefronts beyond the minimum that a request needs. The GPU's own counter of bank conflicts also counts requests",
        "that wait for other L1 traffic, a few in ten thousand and a different number in every run, so this page compares wavefronts.",
        f"The number of wavefronts per request was measured on the same GPU for {patterns} access patterns of 4, 8 or 16 bytes per lane",
        "(`bench/shared_patterns.cu`); a test compares simt's rule with each of them.", "",
        "simt follows each lane through the basic blocks of the code, and reconverges lanes where loops end and branches join",
        "(`convlab/warps/lockstep.h`). Register counts come from nvcc if it is installed. [`convlab predict`](../guide/predict.md) turns the counts into times.", ""]  # fmt: skip
    return publish({PAGE: "\n".join(page)}, check)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("measure")
    one.add_argument("binary")
    one.add_argument("folder", type=Path)
    one.add_argument("--data", help="folder of the images")
    two = commands.add_parser("write")
    two.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    return write(arguments.check) if arguments.command == "write" else measure(arguments)


if __name__ == "__main__":
    sys.exit(main())

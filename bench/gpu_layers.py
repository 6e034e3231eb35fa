#!/usr/bin/env python3
"""Compares convlab with PyTorch on single layers of well-known CNNs on a GPU, with warm caches.

    python3 bench/gpu_layers.py measure BINARY results/layers_gpu/mine.json
    python3 bench/gpu_layers.py measure BINARY FILE --maths fp16 --layers 3x3,64-64,56     # some of them
    python3 bench/gpu_layers.py write              docs/measured/gpu_layers.md, from results/layers_gpu
    python3 bench/gpu_layers.py write --check      exits with status 1 if the page is out of date

Each engine runs alone in its own process. convlab's time is that of its own kernel for the arithmetic, hot, from nhwc
to nhwc; for first layers, from nchw images. PyTorch's is a convolution without bias, in the faster of its two layouts.
Both are replayed as one CUDA graph of many convolutions. An existing file is extended.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path

from gpu_common import ms, now, output_of, rows_of, with_row
from pages import ROOT, publish, table

RESULTS = ROOT / "results" / "layers_gpu"
PAGE = ROOT / "docs/measured/gpu_layers.md"

IMAGES = 64
MANY = 10  # convolutions per CUDA graph
LAYERS = {
    "ResNet, first: 7x7/2, 3-64, 224": "n64_c3h224w224_k64r7s7_p3_st2",
    "VGG, first: 3x3, 3-64, 224": "n64_c3h224w224_k64r3s3_p1",
    "AlexNet, first: 11x11/4, 3-64, 224": "n64_c3h224w224_k64r11s11_p2_st4",
    "MobileNet, first: 3x3/2, 3-32, 224": "n64_c3h224w224_k32r3s3_p1_st2",
    "1x1, 64-64, 56": "n64_c64h56w56_k64r1s1",
    "3x3, 64-64, 56": "n64_c64h56w56_k64r3s3_p1",
    "1x1, 256-128, 56": "n64_c256h56w56_k128r1s1",
    "3x3/2, 128-128, 56": "n64_c128h56w56_k128r3s3_p1_st2",
    "3x3, 128-128, 28": "n64_c128h28w28_k128r3s3_p1",
    "3x3, 256-256, 14": "n64_c256h14w14_k256r3s3_p1",
    "1x1, 256-1024, 14": "n64_c256h14w14_k1024r1s1",
    "3x3, 512-512, 7": "n64_c512h7w7_k512r3s3_p1",
    "1x1, 512-2048, 7": "n64_c512h7w7_k2048r1s1",
    "VGG 3x3, 64-64, 224": "n64_c64h224w224_k64r3s3_p1",
    "VGG 3x3, 128-128, 112": "n64_c128h112w112_k128r3s3_p1",
    "VGG 3x3, 256-256, 56": "n64_c256h56w56_k256r3s3_p1",
    "depthwise 3x3, 96, 112, /2": "n64_c96h112w112_k96r3s3_p1_st2_g96",
    "depthwise 3x3, 144, 56": "n64_c144h56w56_k144r3s3_p1_g144",
    "depthwise 5x5, 240, 28": "n64_c240h28w28_k240r5s5_p2_g240",
    "depthwise 3x3, 384, 14": "n64_c384h14w14_k384r3s3_p1_g384",
}
NAMES = {**{f"{each}, first": f"{each} first layer: " for each in ("ResNet", "VGG", "AlexNet", "MobileNet")}, "VGG": "VGG: ", "depthwise": "depthwise "}
BOUNDS = {"cache": "L2"}  # the page's name for the limit of a Record
MATHS = ("fp16", "tf32", "fp32")


def numbers_of(problem: str) -> dict[str, int]:
    return {name: int(value) for name, value in re.findall(r"([a-z]+)(\d+)", problem)}


def peers(problems: list[str], math: str) -> dict[str, dict]:
    """Returns PyTorch's milliseconds for each problem, in the faster layout."""
    import torch
    import torch_gpu

    torch_gpu.choose_math(math)
    kind, found = torch_gpu.MATHS[math], {}
    for problem in problems:
        sizes, times = numbers_of(problem), {}
        groups = sizes.get("g", 1)
        for layout, memory in torch_gpu.LAYOUTS.items():
            x = torch.rand(sizes["n"], sizes["c"], sizes["h"], sizes["w"], device="cuda", dtype=kind).contiguous(memory_format=memory)
            w = torch.rand(sizes["k"], sizes["c"] // groups, sizes["r"], sizes["s"], device="cuda", dtype=kind).contiguous(memory_format=memory)

            def many(images, w=w, sizes=sizes, groups=groups):
                for _ in range(MANY):
                    torch.nn.functional.conv2d(images, w, stride=sizes.get("st", 1), padding=sizes.get("p", 0), groups=groups)

            with torch.inference_mode():
                times[layout] = torch_gpu.event_ms(torch_gpu.replayed(many, x)) / MANY
        found[problem] = {**torch_gpu.fastest(times), **torch_gpu.versions()}
    return found


def kernel_of(problem: str, math: str) -> str:
    """Returns convlab's nhwc kernel for a row's arithmetic."""
    sizes = numbers_of(problem)
    if sizes.get("g", 1) > 1:
        return "cuda.nhwc_depthwise" if math == "fp16" else "cuda.nhwc_depthwise_fp32"
    of_math = "3xfp16" if math == "fp32" else math
    return f"cuda.nhwc_hopper_{'first' if sizes['c'] == 3 else 'igemm'}_{of_math}"


def measured(binary: str, problems: list[str], math: str, seconds: float) -> dict[str, dict]:
    """Returns the Record of convlab's own nhwc kernel for each problem."""
    found: dict[str, dict] = {}
    for kernel in sorted({kernel_of(problem, math) for problem in problems}):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as shapes:
            shapes.write("".join(problem + "\n" for problem in problems if kernel_of(problem, math) == kernel))
            shapes.flush()
            command = [binary, "bench", "--device", "cuda", "--kernel", kernel, "--shapes", shapes.name,
                       "--seconds", str(seconds), "--graph", str(MANY), "--json", "-"]
            for record in output_of(command):
                if "graph_ms" in record and record["kernel"] == kernel:
                    found[record["problem"]] = {"kernel": kernel, "ms": record["graph_ms"]["median"],
                                                "bound_ms": record["bound_ms"], "limit": record["limit"]}
    return found


def measure(arguments: argparse.Namespace) -> None:
    rows = rows_of(arguments.json)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    layers = {layer: problem for layer, problem in LAYERS.items()
              if not arguments.layers or layer.replace(" ", "") in arguments.layers}
    for math in arguments.maths:
        problems = list(layers.values())
        ours = measured(arguments.binary, problems, math, arguments.seconds)
        theirs = output_of([sys.executable, __file__, "peers", math, *problems])
        for layer, problem in layers.items():
            row = {"layer": layer, "problem": problem, "math": math, "when": now(), "convlab": ours[problem], "peer": theirs[problem]}
            rows = with_row(rows, row, "layer", "math")
            print(f"{layer}, {math}: {ms(row['convlab']['ms'])} ms by {row['convlab']['kernel']}, PyTorch {ms(row['peer']['ms'])} ms: "
                  f"speedup {row['peer']['ms'] / row['convlab']['ms']:.2f}", flush=True)
        arguments.json.write_text(json.dumps({"kind": "gpu_layers", "rows": rows}, indent=1) + "\n")


def shape(row: dict) -> list[str]:
    """Returns a row's layer ("VGG first layer: 3x3"), input channels, output channels and image size."""
    sizes = numbers_of(row["problem"])
    name = next((words for begin, words in NAMES.items() if row["layer"].startswith(begin)), "")
    stride = f", stride {sizes['st']}" if "st" in sizes else ""
    return [f"{name}{sizes['r']}x{sizes['s']}{stride}", str(sizes["c"]), str(sizes["k"]), str(sizes["h"])]


def section(path: Path) -> list[str]:
    rows = rows_of(path)
    order = list(LAYERS)
    cells = []
    for row in sorted(rows, key=lambda row: (MATHS.index(row["math"]), order.index(row["layer"]))):
        ours, theirs = row["convlab"], row["peer"]["ms"]
        cells.append([*shape(row), row["math"], f"`{ours['kernel']}`", ms(ours["ms"]), ms(theirs), f"{theirs / ours['ms']:.2f}",
                      f"{100 * ours['bound_ms'] / ours['ms']:.0f}", BOUNDS.get(ours["limit"], ours["limit"])])
    header = ["layer", "C", "K", "H = W", "math", "kernel", "convlab, ms", "PyTorch, ms", "speedup", "of roofline bound, %", "bound by"]
    first = rows[0]
    return [f"## {first['peer']['gpu']}", "", f"Batch {IMAGES}, compared with {first['peer']['version']} ({first['when'][:10]}).", "",
            *table(header, cells), ""]


def write(check: bool) -> int:
    page = [
        "# Layers of well-known CNNs on a GPU", "",
        "For engineers who tune kernels: the time of single convolutions of well-known CNNs, compared with PyTorch and with the roofline bound.", "",
        "Times are medians of hot kernels, each engine alone in its own process. convlab's kernels read and write nhwc; those of first layers read nchw",
        "fp32 images. PyTorch runs a convolution without bias on tensors of the row's type, in the faster of nchw and nhwc. Both engines replay",
        f"{MANY} convolutions as one CUDA graph. C is the number of input channels, K of output channels. The roofline bound is the time that memory, L2",
        "or arithmetic needs at the rates measured on the same GPU.",
        "`bench/gpu_layers.py` measures, and writes this page.", "",
        *[line for path in sorted(RESULTS.glob("*.json")) for line in section(path)]]
    return publish({PAGE: "\n".join(page).rstrip() + "\n"}, check)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("binary")
    measuring.add_argument("json", type=Path)
    measuring.add_argument("--layers", nargs="+", help="names without blanks (default: all)")
    measuring.add_argument("--maths", nargs="+", default=MATHS, choices=MATHS)
    measuring.add_argument("--seconds", type=float, default=0.2, help="duration of a series of samples")
    peering = commands.add_parser("peers", help="PyTorch alone, for measure")
    peering.add_argument("math", choices=MATHS)
    peering.add_argument("problems", nargs="+")
    writing = commands.add_parser("write")
    writing.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.command == "write":
        return write(arguments.check)
    if arguments.command == "measure":
        measure(arguments)
    else:
        print(json.dumps(peers(arguments.problems, arguments.math)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares convlab's production kernels and whole networks on a GPU with PyTorch in the same run, and writes the page.

    python3 bench/gpu_networks.py measure BINARY results/networks/nvidia-h200.json [--data DIR] [--only WORDS]
    python3 bench/gpu_networks.py scaling BINARY results/scaling/2-nvidia-h200.json [--data DIR]     one GPU against all
    python3 bench/gpu_networks.py write                 docs/measured/gpu_networks.md, from these files
    python3 bench/gpu_networks.py write --check         exits with status 1 if the page is out of date

`measure` needs PyTorch, the package onnx and a GPU; it takes about five minutes. A convolution's time is that of a hot
kernel in `convlab bench`. A network's is `convlab run`'s device_network_s (from images to labels, both in the GPU's
memory) or network_s (both in the host's memory, the median of several processes). PyTorch's time is the fastest of two
layouts, eager or compiled, with and without CUDA graphs. `scaling` needs two GPUs or more, and mpirun
(bench/gpu_scaling.py).
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from pathlib import Path

import gpu_scaling
from gpu_common import ms, now, output_of
from pages import ROOT, publish, read_record
from pages import table as markdown

RESULTS = ROOT / "results" / "networks" / "nvidia-h200.json"
SCALING = ROOT / "results" / "scaling"
PAGE = ROOT / "docs/measured/gpu_networks.md"

CONV = {
    "fa19 conv1": "n10000_c1h70w70_k12r5s5",
    "fa19 conv2": "n10000_c12h33w33_k24r5s5",
    "fa18 conv1": "n10000_c1h72w72_k12r7s7",
    "fa18 conv2": "n10000_c12h33w33_k24r7s7",
}
KERNELS = {
    "fp32": ("cuda.first_layer_3xfp16", "cuda.nchw_hopper_3xfp16"),
    "tf32": ("cuda.first_layer_1xfp16", "cuda.deep_layer_1xfp16"),
}


# Physical pages differ from process to process, which changes the bus's speed by a few percent.
HOST_PROCESSES = 7


def convolutions(layers: list[str], math: str) -> dict:
    """Returns a row of convolutions, each by the production kernel for first or for deep layers; float32 in and out."""
    first, deep = KERNELS[math]
    parts = [[first if each.endswith("conv1") else deep, CONV[each]] for each in layers]
    return {"work": " + ".join(layers), "kind": "conv", "math": math, "parts": parts}


def well_known(name: str, problem: str) -> dict:
    """Returns a row for a well-known network's first layer, by the fastest kernel."""
    return {"work": f"{name}'s first layer, {problem}", "kind": "conv", "math": "fp32", "parts": [["cuda.*", problem]]}


def network(model: str, math: str, plan: str, images: int = 10000, scale: str = "host", host: bool = False) -> dict:
    side = {"host": "70x70", "device": "28x28"}[scale]  # where images are scaled to the model's size
    where = f", {side} images from the host" if host else f", {images} images" if images != 10000 else ""
    work = f"{model} network, {plan}{where}"
    return {"work": work, "kind": "network", "model": model, "math": math, "plan": plan, "images": images, "scale": scale, "host": host}


# The measurements, in the order of the table.
ROWS = [
    convolutions(["fa19 conv1"], "fp32"),
    convolutions(["fa19 conv2"], "fp32"),
    convolutions(["fa19 conv1", "fa19 conv2"], "tf32"),
    convolutions(["fa18 conv1", "fa18 conv2"], "fp32"),
    network("fa19", "fp16", "fused"),
    network("fa19", "fp16", "folded"),
    network("fa19", "fp32", "fused"),
    network("fa19", "fp16", "folded", host=True),
    network("fa19", "fp16", "folded", host=True, scale="device"),
    network("fa19", "fp16", "folded", images=100),
    well_known("AlexNet", "n256_c3h224w224_k64r11s11_p2_st4"),
    well_known("VGG-16", "n64_c3h224w224_k64r3s3_p1"),
    well_known("ResNet-50", "n256_c3h224w224_k64r7s7_p3_st2"),
]


def measured(binary: str, row: dict, data: str) -> dict:
    """Returns convlab's time in milliseconds, and the kernels that computed it."""
    if row["kind"] == "conv":
        parts = []
        for kernel, problem in row["parts"]:
            command = [binary, "bench", "--device", "cuda", "--math", row["math"], "--kernel", kernel, "--problem", problem]
            # Status 1: a kernel, perhaps a library's, was wrong; it has no Record.
            records = output_of([*command, "--seconds", "0.3", "--samples", "50", "--json", "-"], accepted=(0, 1))
            ours = [each for each in records if each["kernel"].startswith("cuda.")]
            if not ours:
                raise SystemExit(f"{' '.join(command)}: no kernel of convlab was timed")
            record = min(ours, key=lambda each: each["hot_ms"]["median"])
            keys = ["kernel", "problem", "hot_ms", "bound_ms", "limit", "machine", "build"]
            parts.append({key: record[key] for key in keys})
        return {"ms": sum(part["hot_ms"]["median"] for part in parts), "bound_ms": sum(part["bound_ms"] for part in parts), "parts": parts}
    command = [binary, "run", row["model"], "--device", "cuda", "--math", row["math"], "--plan", row["plan"]]
    command += ["--images", str(row["images"]), "--scale", row["scale"], "--repeat", "50", "--json", "-", *data.split()]
    results = [output_of(command) for _ in range(HOST_PROCESSES if row["host"] else 1)]
    layers = [{key: each[key] for key in ("name", "kernel", "op_time_s")} for each in results[0]["layers"]]
    samples = [1e3 * each["network_s" if row["host"] else "device_network_s"] for each in results]
    return {"ms": statistics.median(samples), "samples_ms": samples, "accuracy": results[0]["accuracy"], "layers": layers}


def peer(row: dict) -> dict:
    import torch_gpu

    if row["kind"] == "conv":
        parts = []
        for _, problem in row["parts"]:
            sizes = {name: int(size) for name, size in re.findall(r"(st|[nchwkrsp])(\d+)", problem)}
            parts.append(torch_gpu.convolution(sizes, row["math"]))
        return {"ms": sum(part["ms"] for part in parts), "way": " + ".join(part["way"] for part in parts), "parts": parts}
    return torch_gpu.network(ROOT / "models" / f"{row['model']}.onnx", row["images"], row["math"], row["host"])


def measure(arguments: argparse.Namespace) -> None:
    import torch_gpu

    data = f"--data {arguments.data}" if arguments.data else ""
    rows = []
    for row in ROWS:
        if arguments.only and arguments.only not in row["work"]:
            continue
        ours, theirs = measured(arguments.binary, row, data), peer(row)
        rows.append({**row, "convlab": ours, "peer": theirs})
        print(f"{row['work']}, {row['math']}: {ours['ms']:.4f} ms, PyTorch {theirs['ms']:.4f} ms ({theirs['way']}): "
              f"speedup {theirs['ms'] / ours['ms']:.1f}", flush=True)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    versions = torch_gpu.versions()
    arguments.json.write_text(json.dumps({
        "gpu": versions["gpu"], "peer": versions["version"], "when": now(), "rows": rows}, indent=1) + "\n")


def table(rows: list[dict], limits: dict[str, str]) -> list[str]:
    header = ["work", "math", "convlab, ms", "PyTorch, ms", "speedup", "what limits convlab"]
    cells = []
    for row in rows:
        ours, theirs = row["convlab"]["ms"], row["peer"]["ms"]
        limit = limits.get(f"{row['work']}, {row['math']}", "-")
        cells.append([row["work"], row["math"], ms(ours), ms(theirs), f"{theirs / ours:.1f}", limit])
    return markdown(header, cells)


def limits() -> dict[str, str]:
    """Returns what limits each row, by its name and math, from bench/pages/gpu_limits.md, which is written by hand."""
    found = re.findall(r"^- (.+?): (.+)$", (ROOT / "bench/pages/gpu_limits.md").read_text(), flags=re.MULTILINE)
    return dict(found)


def write(check: bool) -> int:
    saved = read_record(RESULTS)
    page = [
        "# The course's networks on a GPU", "",
        f"For engineers who choose an engine: convlab's production kernels and the course's networks on an {saved['gpu']}, compared with PyTorch.", "",
        f"{saved['peer']} runs in its fastest combination of layout, torch.compile and CUDA graphs. Times are medians, both engines",
        f"measured in one run ({saved['when'][:10]}), with 10000 images unless the row says otherwise. `bench/gpu_networks.py` measures, and writes this page.", "",
        *table(saved["rows"], limits()), "",
        "Convolutions read and write fp32 nchw; fp32 means a relative L2 error of at most 1e-6, tf32 an error as large as TF32's. Networks compute",
        "labels from uint8 pixels, both in the GPU's memory unless the row says \"from the host\". `folded` computes the second convolution and the",
        "following dense layer as one linear map (`convlab run --plan folded`). The last three rows are first layers of well-known networks, with",
        "convlab's fastest kernel for each; cuDNN is faster there. [Layers of well-known CNNs](gpu_layers.md) compares nhwc kernels.", "",
        *gpu_scaling.section(SCALING)]
    return publish({PAGE: "\n".join(page)}, check)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("measure")
    one.add_argument("binary")
    one.add_argument("json", type=Path)
    one.add_argument("--data", help="folder of the images")
    one.add_argument("--only", help="rows whose names contain these words")
    two = commands.add_parser("scaling")
    two.add_argument("binary")
    two.add_argument("json", type=Path)
    two.add_argument("--data", help="folder of the images")
    three = commands.add_parser("write")
    three.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.command == "write":
        return write(arguments.check)
    {"measure": measure, "scaling": gpu_scaling.measure}[arguments.command](arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())

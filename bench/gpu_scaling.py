"""Compares one GPU with all GPUs of a host: what `bench/gpu_networks.py scaling` measures, and its tables.

The GPUs split the images in two ways: `--device cuda:all`, one process with a thread per GPU, and ranks under mpirun,
one process per GPU. A sample is the time of one launch, from images to labels, both in the host's memory: the median of
its passes; with ranks, that of the slowest rank. One GPU and both ways are measured interleaved, so a change of the
machine's speed affects all. Ranks start when they are ready, not together: passes run for seconds, so most of a rank's
passes overlap with the others'.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
from pathlib import Path

from gpu_common import ms, now, output_of, text_of
from pages import table

ROUNDS = 5  # launches of each way
TIES = 0.0005  # share of labels that rounding may change: two classes (nearly) tie, and other batch sizes use other kernels
ROWS = [  # model, arithmetic, plan, copies of 10000 images, passes
    ("fa19", "fp16", "folded", 10, 1500),
    ("fa19", "fp16", "folded", 50, 300),
    ("fa19", "fp16", "fused", 10, 700),
    ("fa19", "fp32", "fused", 10, 250),
]


WAYS = {"one": "cuda:0", "threads": "cuda:all", "ranks": "cuda"}  # the --device of each


def launched(command: list[str], way: str, gpus: int) -> dict:
    """Returns the result of one launch; with ranks, the merged result."""
    command = [*command, "--device", WAYS[way]]
    if way != "ranks":
        return output_of([*command, "--json", "-"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "all.json"
        text_of(["mpirun", "--bind-to", "none", "-n", str(gpus), *command, "--json", str(path)])
        merged = json.loads(path.read_text())
    return {**merged, "network_s": merged["seconds"]}


def measured(binary: str, gpus: int, model: str, math: str, plan: str, copies: int, passes: int, data: list[str]) -> dict:
    command = [binary, "run", model, "--math", math, "--plan", plan, "--copies", str(copies), "--repeat", str(passes), *data]
    runs: dict[str, list[dict]] = {way: [] for way in WAYS}
    for _ in range(ROUNDS):
        for way in WAYS:
            runs[way].append(launched(command, way, gpus))
    first = runs["one"][0]
    turned = max(sum(a != b for a, b in zip(first["labels"], each["labels"], strict=True)) for results in runs.values() for each in results)
    if turned > TIES * first["images"]:
        raise SystemExit(f"{model}, {math}, {plan}: {turned} labels differ from run to run; the runs cannot be compared")
    row = {"model": model, "math": math, "plan": plan, "images": first["images"], "passes": passes, "accuracy": first["accuracy"],
           "turned_labels": turned, "one_in_its_memory_ms": 1e3 * statistics.median(each["device_network_s"] for each in runs["one"])}
    for way, results in runs.items():
        samples = [1e3 * each["network_s"] for each in results]
        row[way] = {"ms": statistics.median(samples), "samples_ms": samples}
    return {**row, "devices": runs["threads"][0]["devices"], "shares": runs["ranks"][0]["shares"],
            "machine": first["machine"], "build": first["build"]}


def measure(arguments: argparse.Namespace) -> None:
    gpus = sum(each["name"].removeprefix("cuda:").isdigit()
               for each in output_of([arguments.binary, "list", "devices", "--json", "-"])["devices"])
    if gpus < 2:
        raise SystemExit("scaling needs two or more GPUs; see 'convlab list devices'")
    if not shutil.which("mpirun"):
        raise SystemExit("mpirun is not installed; try: apt-get install openmpi-bin")
    data = ["--data", arguments.data] if arguments.data else []
    rows = []
    for model, math, plan, copies, passes in ROWS:
        row = measured(arguments.binary, gpus, model, math, plan, copies, passes, data)
        rows.append(row)
        print(f"{model}, {plan}, {math}, {row['images']} images: one GPU {ms(row['one']['ms'])} ms, "
              f"{gpus} GPUs by threads {ms(row['threads']['ms'])} ms, by ranks {ms(row['ranks']['ms'])} ms", flush=True)
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps({"when": now(), "scaling": rows}, indent=1) + "\n")


def section(folder: Path) -> list[str]:
    """Returns a Markdown table for each file in the folder."""
    lines = []
    for path in sorted(folder.glob("*.json")):
        saved = json.loads(path.read_text())
        devices = saved["scaling"][0]["devices"]
        header = ["network", "math", "images", "one GPU, ms", "threads, ms", "speedup", "ranks, ms", "speedup", "one GPU, images in its memory, ms"]
        rows = []
        for row in saved["scaling"]:
            one, threads, ranks = (row[way]["ms"] for way in WAYS)
            rows.append([f"{row['model']}, {row['plan']}", row["math"], str(row["images"]), ms(one), ms(threads), f"{one / threads:.2f}",
                         ms(ranks), f"{one / ranks:.2f}", ms(row["one_in_its_memory_ms"])])
        lines += [
            f"## {len(devices)} GPUs of one host", "",
            f"`convlab run` with `--device cuda:0`; with `--device cuda:all` (one process, a thread per GPU); and with {len(devices)} ranks under mpirun.",
            f"From images to labels, both in the host's memory; medians of {len(saved['scaling'][0]['one']['samples_ms'])} launches each, interleaved",
            f"({saved['when'][:10]}). `bench/gpu_networks.py scaling` measures.", "",
            *[f"- {each['name']}: {each['description']}" for each in devices], "",
            *table(header, rows)]
        lines.append("")
    return lines

"""One GPU against all GPUs of a host: what `bench/gpu_networks.py scaling` measures, and the tables of it.

All GPUs share out the images in two ways: by `--device cuda:all`, one process with a thread for each, and by ranks
under mpirun, a process for each. A sample is the time of one launch, images in the host's memory to labels there: the
median of its passes, of ranks the longest share's. One GPU and both ways take turns, so that a change of the machine's
speed meets all. Ranks begin when they are ready, and not together: passes go on for seconds, so that most of a rank's
are made beside the others'.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
from pathlib import Path

from gpu_common import ms, now, output_of, text_of

ROUNDS = 5  # launches of each way
TIES = 0.0005  # share of labels that rounding may turn: two classes (nearly) tie, and other batch sizes take other kernels
ROWS = [  # model, arithmetic, plan, copies of 10000 images, passes
    ("fa19", "fp16", "folded", 10, 1500),
    ("fa19", "fp16", "folded", 50, 300),
    ("fa19", "fp16", "fused", 10, 700),
    ("fa19", "fp32", "fused", 10, 250),
]


WAYS = {"one": "cuda:0", "threads": "cuda:all", "ranks": "cuda"}  # the --device of each


def launched(command: list[str], way: str, gpus: int) -> dict:
    """The result of one launch, of ranks the one of all."""
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
        raise SystemExit(f"{model}, {math}, {plan}: {turned} labels differ from run to run; there is nothing to compare")
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
        raise SystemExit("scaling is measured where there are two GPUs or more; 'convlab list devices' shows what is here")
    if not shutil.which("mpirun"):
        raise SystemExit("there is no mpirun, which starts the ranks: apt-get install openmpi-bin")
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
    """A table for each file in the folder, as Markdown; nothing if there is none."""
    lines = []
    for path in sorted(folder.glob("*.json")):
        saved = json.loads(path.read_text())
        devices = saved["scaling"][0]["devices"]
        lines += [
            f"## {len(devices)} GPUs of one host", "",
            f"`convlab run` with `--device cuda:0`, with `--device cuda:all` (one process, a thread for each GPU), and by {len(devices)}",
            f"ranks under mpirun, images in the host's memory to labels there, medians of {len(saved['scaling'][0]['one']['samples_ms'])} launches each, in turns",
            f"({saved['when'][:10]}); `bench/gpu_networks.py scaling` measures.", "",
            *[f"- {each['name']}: {each['description']}" for each in devices], "",
            "| network | math | images | one GPU, ms | by threads, ms | times as fast | by ranks, ms | times as fast | one GPU, images in its memory, ms |",
            "|---|---|---|---|---|---|---|---|---|"]
        for row in saved["scaling"]:
            one, threads, ranks = (row[way]["ms"] for way in WAYS)
            lines.append(f"| {row['model']}, {row['plan']} | {row['math']} | {row['images']} | {ms(one)} | {ms(threads)} | {one / threads:.2f} | "
                         f"{ms(ranks)} | {one / ranks:.2f} | {ms(row['one_in_its_memory_ms'])} |")
        lines.append("")
    return lines

"""One GPU against all GPUs of a host: what `bench/gpu_networks.py scaling` measures, and the tables of it.

A sample is `network_s` of one process of `convlab run` (the median of its passes): images in the host's memory to
labels there. Processes on one GPU and on all take turns, so that a change of the machine's speed meets both.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path

from gpu_common import ms, now, output_of

PASSES, ROUNDS = 20, 5  # passes of a process; processes of each way
TIES = 0.0005  # share of labels that rounding may turn: two classes (nearly) tie, and other batch sizes take other kernels
ROWS = [("fa19", "fp16", "folded", 10), ("fa19", "fp16", "folded", 50), ("fa19", "fp16", "fused", 10), ("fa19", "fp32", "fused", 10)]  # times 10000 images
WAYS = {"one": "cuda:0", "all": "cuda:all"}


def measured(binary: str, model: str, math: str, plan: str, copies: int, data: list[str]) -> dict:
    command = [binary, "run", model, "--math", math, "--plan", plan, "--copies", str(copies), "--repeat", str(PASSES), "--json", "-", *data]
    runs: dict[str, list[dict]] = {way: [] for way in WAYS}
    for _ in range(ROUNDS):
        for way, device in WAYS.items():
            runs[way].append(output_of([*command, "--device", device]))
    first = runs["one"][0]
    turned = max(sum(a != b for a, b in zip(first["labels"], each["labels"], strict=True)) for each in runs["one"] + runs["all"])
    if turned > TIES * first["images"]:
        raise SystemExit(f"{model}, {math}, {plan}: {turned} labels differ from run to run; there is nothing to compare")
    row = {"model": model, "math": math, "plan": plan, "images": first["images"], "accuracy": first["accuracy"], "turned_labels": turned}
    for way, results in runs.items():
        row[way] = {"ms": 1e3 * statistics.median(each["network_s"] for each in results),
                    "device_ms": 1e3 * statistics.median(each["device_network_s"] for each in results),
                    "samples_ms": [1e3 * each["network_s"] for each in results],
                    "devices": results[0]["devices"]}
    return {**row, "machine": first["machine"], "build": first["build"]}


def measure(arguments: argparse.Namespace) -> None:
    listed = output_of([arguments.binary, "list", "devices", "--json", "-"])["devices"]
    if all(each["name"] != WAYS["all"] for each in listed):
        raise SystemExit("scaling is measured where there are two GPUs or more; 'convlab list devices' shows what is here")
    data = ["--data", arguments.data] if arguments.data else []
    rows = []
    for model, math, plan, copies in ROWS:
        row = measured(arguments.binary, model, math, plan, copies, data)
        rows.append(row)
        print(f"{model}, {plan}, {math}, {row['images']} images: one GPU {ms(row['one']['ms'])} ms, "
              f"{len(row['all']['devices'])} GPUs {ms(row['all']['ms'])} ms", flush=True)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps({"when": now(), "scaling": rows}, indent=1) + "\n")


def section(folder: Path) -> list[str]:
    """A table for each file in the folder, as Markdown; nothing if there is none."""
    lines = []
    for path in sorted(folder.glob("*.json")):
        saved = json.loads(path.read_text())
        devices = saved["scaling"][0]["all"]["devices"]
        lines += [
            f"## {len(devices)} GPUs of one host", "",
            f"`convlab run --device {WAYS['all']}` against `--device {WAYS['one']}`, images in the host's memory to labels",
            f"there, medians of {len(saved['scaling'][0]['all']['samples_ms'])} processes each, in turns ({saved['when'][:10]}); "
            f"`bench/gpu_networks.py scaling` measures.", "",
            *[f"- {each['name']}: {each['description']}" for each in devices], "",
            f"| network | math | images | one GPU, ms | {len(devices)} GPUs, ms | times as fast | of {len(devices)} | one GPU, images in its memory, ms |",
            "|---|---|---|---|---|---|---|---|"]
        for row in saved["scaling"]:
            times = row["one"]["ms"] / row["all"]["ms"]
            lines.append(f"| {row['model']}, {row['plan']} | {row['math']} | {row['images']} | {ms(row['one']['ms'])} | {ms(row['all']['ms'])} | "
                         f"{times:.2f} | {100 * times / len(devices):.0f} % | {ms(row['one']['device_ms'])} |")
        lines.append("")
    return lines

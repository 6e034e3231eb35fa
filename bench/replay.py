#!/usr/bin/env python3
"""Judges and times a decade of students' kernel files with today's convlab, and compares them with the ladder and
cuDNN.

    python3 bench/replay.py judge BINARY LIST.tsv FILES WORK --device cuda|simt [--jobs N] [--limit SECONDS]
    python3 bench/replay.py time BINARY LIST.tsv FILES WORK [--data DIR] [--repeat N] [--jobs N]
    python3 bench/replay.py collect LIST.tsv WORK results/replay/nvidia-h200.json

LIST.tsv has a line per file, with the columns path, generation and techniques. FILES/001/PATH is the file of the first
line, next to the headers that it includes, and so on. `judge` runs `convlab verify` on each file. `time` runs each
correct file alone in its semester's network on a GPU, and also rungs of the ladder and cuDNN. Both keep their results
in WORK and continue from there. `collect` writes the Record, which contains no names, and bench/replay_page.py the
page. On an H200 with 16 cores, judging 257 files takes 3 minutes and timing them 4.
"""

from __future__ import annotations

import argparse
import csv
import json
import statistics
import subprocess
import sys
import tempfile
import time
from bisect import bisect_right
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gpu_common import now, output_of

IMAGES = 2000
MODELS = {"fa17": "fa17-high", "sp18": "sp18", "fa18": "fa18", "sp19": "sp19", "fa19": "fa19", "sp25": "sp25"}
LAYERS = ("conv1", "conv2")
BESIDE = ("cuda.basic", "cuda.register_tile", "cuda.tensor_core_fp16", "cuda.tensor_core_3xfp16", "cudnn")


def read_list(path: Path) -> list[dict]:
    with path.open() as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [{**row, "number": f"{number:03d}"} for number, row in enumerate(rows, 1)]


def keep(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value) + "\n")


# ---- judging ----


def verdict_of(arguments: argparse.Namespace, row: dict) -> str:
    kept = arguments.work / arguments.device / f"{row['number']}.json"
    if kept.exists():
        return json.loads(kept.read_text())["verdict"]
    file = arguments.files / row["number"] / row["path"]
    if not file.exists():
        sys.exit(f"{file} is not there")
    command = [arguments.binary, "verify", str(file), "--device", arguments.device, "--threads", "1",
               "--time-limit", str(arguments.limit), "--json", "-"]  # fmt: skip
    began = time.monotonic()
    verdict = output_of(command, (0, 1, 2))["files"][0]
    verdict["judged_s"] = time.monotonic() - began
    keep(kept, verdict)
    return verdict["verdict"]


def judge(arguments: argparse.Namespace) -> int:
    began = time.monotonic()
    rows = read_list(arguments.list)
    verdicts: dict[str, int] = {}
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for done, verdict in enumerate(pool.map(lambda row: verdict_of(arguments, row), rows), 1):
            verdicts[verdict] = verdicts.get(verdict, 0) + 1
            if done % 20 == 0 or done == len(rows):
                print(f"{done} of {len(rows)} files, {time.monotonic() - began:.0f} s: {verdicts}", flush=True)
    return 0


# ---- timing ----


def layer_times(arguments: argparse.Namespace, model: str, kernel: str) -> dict:
    """Returns, by layer, the milliseconds in GPU kernels, whichever phase of the call launches them, and in copies: the
    median of the passes after the first.
    """
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        command = [arguments.binary, "profile", model, "--kernel", kernel, "--device", "cuda", "--plan", "layers", "--csv",
                   "-n", str(IMAGES), "--repeat", str(arguments.repeat + 1), "--trace", str(trace)]  # fmt: skip
        command += ["--data", arguments.data] if arguments.data else []
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=arguments.limit)
        if done.returncode != 0:
            return {"refused": done.stderr.strip()[-300:]}
        events = json.loads(trace.read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    times = {}
    for layer in LAYERS:
        # A part begins where the host launches its work, which may run after the part's end.
        begins = sorted(each["ts"] for each in events if each.get("cat") == "layer" and each["name"] == layer)
        passes = [{"kernel": 0.0, "copy": 0.0, "launches": 0} for _ in begins]
        for each in events:
            if each.get("cat") in ("kernel", "copy") and each["args"].get("layer") == layer:
                sums = passes[max(bisect_right(begins, each["ts"]) - 1, 0)]
                sums[each["cat"]] += each["dur"] * 1e-3
                sums["launches"] += each["cat"] == "kernel"
        if passes:
            warm = passes[1:] or passes
            times[layer] = {f"{what}_ms": statistics.median(each[what] for each in warm) for what in ("kernel", "copy")}
            times[layer]["launches"] = warm[0]["launches"]
    return times


def named_semester(verdict: dict) -> str:
    return {"mini-dnn": "sp25"}.get(verdict["semester"], verdict["semester"])


def compile_all(arguments: argparse.Namespace, files: list[Path]) -> None:
    """Compiles the files into convlab's cache, in parallel, so that nothing compiles during timing."""
    command = [arguments.binary, "verify", "--device", "cuda", "--threads", "1", "-n", "1", "--time-limit", str(arguments.limit)]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(lambda file: subprocess.run([*command, str(file)], capture_output=True), files))


def time_files(arguments: argparse.Namespace) -> int:
    began = time.monotonic()
    for semester, model in MODELS.items():
        kept = arguments.work / "times" / f"{semester}.json"
        if not kept.exists():
            keep(kept, {kernel: layer_times(arguments, model, kernel) for kernel in BESIDE})
            print(f"{semester}: the ladder, {time.monotonic() - began:.0f} s", flush=True)
    wanted = []
    for row in read_list(arguments.list):
        kept = arguments.work / "times" / f"{row['number']}.json"
        verdict = json.loads((arguments.work / "cuda" / f"{row['number']}.json").read_text())
        if verdict["verdict"] == "PASSED" and not kept.exists():
            wanted.append((arguments.files / row["number"] / row["path"], MODELS[named_semester(verdict)], kept))
    compile_all(arguments, [file for file, _, _ in wanted])
    for done, (file, model, kept) in enumerate(wanted, 1):
        try:
            keep(kept, layer_times(arguments, model, str(file)))
        except subprocess.TimeoutExpired:
            keep(kept, {"refused": f"it took more than {arguments.limit:.0f} s"})
        if done % 20 == 0 or done == len(wanted):
            print(f"{done} of {len(wanted)} files timed, {time.monotonic() - began:.0f} s", flush=True)
    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], check=True,
                         capture_output=True, text=True).stdout.splitlines()[0]  # fmt: skip
    keep(arguments.work / "machine.json", {"gpu": gpu, "when": now(), "repeat": arguments.repeat})
    return 0


# ---- collecting ----


def of_verdict(path: Path) -> dict | None:
    """Returns the members of a verdict that the study keeps: no names, no texts."""
    if not path.exists():
        return None
    verdict = json.loads(path.read_text())
    counted = [case for case in verdict["cases"] if case["counts"]]
    awkward = [case["verdict"] for case in verdict["cases"] if not case["counts"]]
    return {
        "verdict": verdict["verdict"],
        "faults": sorted({fault["kind"] for case in counted for fault in case.get("faults", [])}),
        "awkward": {each: awkward.count(each) for each in sorted(set(awkward))},
        "seconds": round(verdict["judged_s"], 1),
    }


def collect(arguments: argparse.Namespace) -> int:
    teams: dict[str, int] = {}
    files = []
    for row in read_list(arguments.list):
        number = row["number"]
        on_gpu = json.loads((arguments.work / "cuda" / f"{number}.json").read_text())
        times = arguments.work / "times" / f"{number}.json"
        files.append({
            "number": int(number),
            "team": teams.setdefault(row["repo"], len(teams) + 1),
            "generation": row["generation"].split("(")[0],
            "kind": on_gpu.get("kind", ""),
            "semester": named_semester(on_gpu) if on_gpu.get("semester") else "",
            "techniques": [each for each in row["techniques"].split(",") if each not in ("", "-")],
            "math": next((case["math"] for case in on_gpu["cases"] if case.get("math")), ""),
            "gpu": of_verdict(arguments.work / "cuda" / f"{number}.json"),
            "simt": of_verdict(arguments.work / "simt" / f"{number}.json"),
            "times": json.loads(times.read_text()) if times.exists() else None,
        })  # fmt: skip
    machine = json.loads((arguments.work / "machine.json").read_text())
    ladder = {semester: json.loads((arguments.work / "times" / f"{semester}.json").read_text()) for semester in MODELS}
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(each) for each in files)
    arguments.output.write_text('{"machine": %s,\n"images": %d,\n"ladder": %s,\n"replayed": [\n%s\n]}\n' %
                                (json.dumps(machine), IMAGES, json.dumps(ladder), lines))  # fmt: skip
    print(f"{len(files)} files of {len(teams)} repositories")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, action in (("judge", judge), ("time", time_files)):
        one = commands.add_parser(name)
        one.set_defaults(action=action)
        one.add_argument("binary", type=lambda text: str(Path(text).absolute()))
        for what in ("list", "files", "work"):
            one.add_argument(what, type=lambda text: Path(text).absolute())
        one.add_argument("--limit", type=float, default=60, help="seconds a file may take to answer (default 60)")
    judging, timing = commands.choices["judge"], commands.choices["time"]
    judging.add_argument("--device", choices=["cuda", "simt"], required=True)
    for one in (judging, timing):
        one.add_argument("--jobs", type=int, default=2, help="files that are compiled at once (default 2)")
    timing.add_argument("--data", help="folder of the images")
    timing.add_argument("--repeat", type=int, default=2, help="warm passes (default 2)")
    last = commands.add_parser("collect")
    last.set_defaults(action=collect)
    for what in ("list", "work", "output"):
        last.add_argument(what, type=Path)
    arguments = parser.parse_args()
    return arguments.action(arguments)


if __name__ == "__main__":
    sys.exit(main())

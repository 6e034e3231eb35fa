#!/usr/bin/env python3
"""Runs the programs of public suites with `convlab cuda run`, and says which compile, pass, and have findings.

    python3 bench/cuda_suites.py run BINARY SUITE=FOLDER ... --json FILE   results/cuda_programs/*.json
    python3 bench/cuda_suites.py on-gpu NVCC SUITE=FOLDER ... --json GPU  what they do on a GPU
    python3 bench/cuda_suites.py run ... --gpu GPU                        and how they differ from it
    python3 bench/cuda_suites.py write [--check]                          docs/measured/cuda_programs.md

Suites: HeCBench, cuda-samples, llm.c, compute-sanitizer, Indigo (the artifact of HiRace), GPUVerify, labs (a folder of
repositories of courses, see course_labs.py). Arguments that are
counts of iterations or data become small: a run shows whether a program works, not how fast it is.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path

from course_labs import labs
from cuda_programs import PROGRAMS, Program
from cuda_suites_page import page_of
from gpu_outputs import difference, run_on_gpu
from pages import ROOT, publish
from suite_runs import build, execute, verdict_of

SUITES = PROGRAMS | {"labs": labs}
PAGE = ROOT / "docs/measured/cuda_programs.md"
RESULTS = ROOT / "results/cuda_programs"
REDUNDANT = "redundant write"  # a race of stores of the same value, which is a warning


def commit_of(folder: Path) -> str:
    recorded = folder / "COMMIT"
    if recorded.exists():
        return recorded.read_text().strip()
    return subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()


def merge(result: dict, report: dict | None) -> None:
    for finding in report["findings"] if report else []:
        kind = finding.get("kind") or finding["text"]
        if finding["severity"] == "error":
            result["findings"][kind] = result["findings"].get(kind, 0) + 1
            labels = finding.get("labels") or [{}]
            where = f"{Path(labels[0].get('file', '')).name}:{labels[0].get('line', 0)}: "
            result["first_finding"] = result["first_finding"] or where + finding["text"]
        elif kind == REDUNDANT:
            result["redundant_writes"] += 1


def has_race(report: dict | None) -> bool:
    return any("race" in (finding.get("kind") or "") for finding in (report or {}).get("findings", []) if finding["severity"] == "error")


def found_all(result: dict) -> bool:
    """Whether each fault that the program is known to have was found: one of the words that | separates is in a finding's kind."""
    kinds = [*result["findings"], *(["race of equal values"] if result["redundant_writes"] else [])]
    return all(any(word in kind for word in fault.split("|") for kind in kinds) for fault in result["expected"] or [])


def run_one(binary: Path, program: Program, limit_s: float, gpu: dict | None) -> dict:
    result = {"name": program.name, "compiles": False, "compile_error": None, "status": None, "verdict": None, "findings": {},
              "redundant_writes": 0, "first_finding": None, "expected": program.expected, "found": None, "seconds": 0.0,
              "timed_out": False}  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        result["compile_error"] = build([str(binary), "cuda", "build"], program, folder, 4 * limit_s)
        result["compiles"] = result["compile_error"] is None
        if not result["compiles"]:
            return result
        output, by_run = "", ""
        begin = time.monotonic()
        for arguments in program.runs:
            report = folder / "report.json"
            report.unlink(missing_ok=True)
            variables = [f"CONVLAB_JSON={report}", f"CONVLAB_TIMEOUT={int(limit_s)}", *(["CONVLAB_AS=h200"] if gpu else [])]
            command = ["env", *variables, str(folder / "program"), *arguments]
            status, more, _, late = execute(command, program.folder, limit_s + 10)
            output += more
            result["status"] = max(result["status"] or 0, status, key=abs)
            text = report.read_text() if report.exists() else ""
            run_report = json.loads(text) if text else None
            merge(result, run_report)
            result["timed_out"] |= late or "timeout" in result["findings"]
            by_run += "R" if has_race(run_report) else "-"
        result["seconds"] = round(time.monotonic() - begin, 2)
        result["verdict"] = verdict_of(output, result["status"])
        if program.expected is not None:
            result["found"] = found_all(result)
        if len(program.runs) > 1:
            result["races_by_run"] = by_run
        if gpu and gpu["compile_error"] is None:
            result["gpu"] = {"status": gpu["status"], "verdict": gpu["verdict"], "difference": difference(result, output, gpu)}
    return result


def shown(result: dict) -> str:
    if not result["compiles"]:
        return f"does not compile: {result['compile_error']}"
    kinds = ", ".join(f"{kind} x{count}" for kind, count in result["findings"].items()) or "no findings"
    missed = "; MISSED " + " ".join(result["expected"]) if result["found"] is False else ""
    alarm = "; FALSE ALARM " + str(result["first_finding"]) if result["expected"] == [] and result["findings"] else ""
    late = ", timed out" if result["timed_out"] else ""
    unlike = f"; GPU: {result['gpu']['difference'] or 'same'}" if "gpu" in result else ""
    return f"status {result['status']}, {result['verdict']}, {kinds}, {result['seconds']} s{missed}{alarm}{late}{unlike}"


def suites_of(options: argparse.Namespace) -> Iterator[tuple[str, Path, list[Program]]]:
    """The suites that the command line names, each with its programs."""
    for each in options.suites:
        name, _, folder = each.partition("=")
        if name not in SUITES or not Path(folder).is_dir():
            sys.exit(f"{each}: expected SUITE=FOLDER with one of {', '.join(SUITES)}")
        root = Path(folder).resolve()
        yield name, root, [each for each in SUITES[name](root) if re.search(options.match, each.name)]


def sampled(programs: list[Program], options: argparse.Namespace) -> list[Program]:
    fewer = options.only and options.only < len(programs)
    return random.Random(options.seed).sample(programs, options.only) if fewer else programs


def inputs_of(programs: list[Program]) -> list[str]:
    """The arguments of the runs that all programs of a suite have, if there are several."""
    first = programs[0].runs if programs else []
    same = len(first) > 1 and all(each.runs == first for each in programs)
    return [" ".join([Path(run[0]).stem, *run[1:]]) for run in first] if same else []


def write_record(file: str, record: dict) -> None:
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    Path(file).write_text(json.dumps(record, indent=1) + "\n")


def on_gpu(options: argparse.Namespace) -> int:
    record: dict[str, dict] = {}
    for name, _, programs in suites_of(options):
        record[name] = {}
        programs = sampled(programs, options)
        with ThreadPoolExecutor(options.jobs) as pool:
            for program, result in zip(programs, pool.map(lambda each: run_on_gpu(options.nvcc, each, options.timeout), programs)):
                print(f"{name} {program.name}: {result['compile_error'] or result['verdict']}", flush=True)
                record[name][program.name] = result
        write_record(options.json, record)
    return 0


def runs_on_gpu(result: dict | None) -> bool:
    return result is not None and result["compile_error"] is None and result["status"] == 0 and not result["timed_out"]


def run(options: argparse.Namespace) -> int:
    binary = Path(options.binary).resolve()
    truth = json.loads(Path(options.gpu).read_text()) if options.gpu else {}
    record = {"date": datetime.now(timezone.utc).strftime("%Y-%m-%d"), "timeout_s": options.timeout, "suites": {}}
    for name, root, programs in suites_of(options):
        on_gpu = truth.get(name, {})
        in_suite = len(programs)
        if on_gpu:
            programs = [each for each in programs if runs_on_gpu(on_gpu.get(each.name)) and not each.needs_more()]
        eligible = len(programs)
        programs = sampled(programs, options)
        results = []
        with ThreadPoolExecutor(options.jobs) as pool:
            for result in pool.map(lambda each: run_one(binary, each, options.timeout, on_gpu.get(each.name)), programs):
                print(f"{name} {result['name']}: {shown(result)}", flush=True)
                results.append(result)
        results.sort(key=lambda result: result["name"])
        record["suites"][name] = {"commit": commit_of(root), "in_suite": in_suite, "on_gpu": eligible if on_gpu else None,
                                  "inputs": inputs_of(programs), "programs": results}  # fmt: skip
        write_record(options.json, record)
    return 0


def write(options: argparse.Namespace) -> int:
    suites: dict[str, dict] = collections.OrderedDict()
    for path in sorted(RESULTS.glob("*.json")):
        record = json.loads(path.read_text())
        for name, suite in record["suites"].items():
            suites[name] = {**suite, "date": record["date"], "timeout_s": record["timeout_s"]}
    ordered = {name: suites[name] for name in SUITES if name in suites}
    return publish({PAGE: page_of(ordered)}, options.check)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--jobs", type=int, default=2)
    common.add_argument("--timeout", type=float, default=60, help="seconds that a program may run")
    common.add_argument("--match", default="", help="run only programs whose names match")
    common.add_argument("--only", type=int, help="run a random sample of this many programs")
    common.add_argument("--seed", type=int, default=1)
    common.add_argument("--json", required=True)
    runs = verbs.add_parser("run", parents=[common])
    runs.add_argument("binary")
    runs.add_argument("suites", nargs="+", metavar="SUITE=FOLDER")
    runs.add_argument("--gpu", metavar="FILE", help="what on-gpu wrote: run what runs there, and compare")
    runs.set_defaults(do=run)
    gpus = verbs.add_parser("on-gpu", parents=[common])
    gpus.add_argument("nvcc")
    gpus.add_argument("suites", nargs="+", metavar="SUITE=FOLDER")
    gpus.set_defaults(do=on_gpu)
    writes = verbs.add_parser("write")
    writes.add_argument("--check", action="store_true", help="write nothing; fail if the page would change")
    writes.set_defaults(do=write)
    options = parser.parse_args()
    return options.do(options)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs the programs of public suites with `convlab cuda run`, and says which compile, pass, and have findings.

    python3 bench/cuda_suites.py run BINARY SUITE=FOLDER ... --json FILE   results/cuda_programs/*.json
    python3 bench/cuda_suites.py write [--check]                          docs/measured/cuda_programs.md

Suites: HeCBench, cuda-samples, llm.c, compute-sanitizer, Indigo (the artifact of HiRace), GPUVerify. Arguments that are
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
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path

from cuda_programs import PROGRAMS, Program
from cuda_suites_page import page_of
from pages import ROOT, publish

PAGE = ROOT / "docs/measured/cuda_programs.md"
RESULTS = ROOT / "results/cuda_programs"

FAILED = re.compile(r"\bFAIL(ED|URE)?\b|\bmismatch|\bincorrect\b|differs from|\bTest failed", re.IGNORECASE)
PASSED = re.compile(r"\bPASS(ED)?\b|\bSUCCESS(FUL|FULLY)?\b|result matches|\bcorrect\b|Verified|\bok\b", re.IGNORECASE)
COMPILE_ERROR = re.compile(r"^(?:\S+?:\d+:\d+: )(?:fatal )?error: (.*)$|^error: (.*)$|^convlab: (.*)$", re.MULTILINE)
LINK_ERROR = re.compile(r"(undefined reference to .*)$|(cannot find .*)$|(multiple definition of .*?);", re.MULTILINE)


def commit_of(folder: Path) -> str:
    recorded = folder / "COMMIT"
    if recorded.exists():
        return recorded.read_text().strip()
    return subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()


def execute(command: list[str], folder: Path, limit_s: float) -> tuple[int, str, str, bool]:
    """Returns the status, standard output, standard error, and whether the program was ended because of its time."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaint:
        child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=complaint, start_new_session=True)
        try:
            status, late = child.wait(limit_s), False
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 9)
            status, late = child.wait(), True
        texts = []
        for stream in (output, complaint):
            stream.seek(0)
            texts.append(stream.read(1 << 20).decode(errors="replace"))
    return status, texts[0], texts[1], late


def verdict_of(output: str, status: int) -> str:
    """What the program says of itself."""
    if FAILED.search(output):
        return "failed"
    if PASSED.search(output):
        return "passed"
    return "none" if status == 0 else "failed"


def build(binary: Path, program: Program, folder: Path, limit_s: float) -> tuple[str | None, float]:
    """Compiles a program into the cache, from which `run` takes it. Returns the first error."""
    sources = [str(path) for path in program.sources]
    command = [str(binary), "cuda", "build", *sources, *program.options, "-o", str(folder / "program")]
    begin = time.monotonic()
    status, _, complaint, late = execute(command, program.folder, limit_s)
    seconds = time.monotonic() - begin
    if late:
        return "does not compile in time", seconds
    if status == 0:
        return None, seconds
    found = LINK_ERROR.search(complaint) or COMPILE_ERROR.search(complaint)
    lines = complaint.strip().splitlines() or [f"exit status {status}"]
    return next((each for each in found.groups() if each), lines[0]) if found else lines[0], seconds


def merge(result: dict, report: dict | None) -> None:
    for finding in report["findings"] if report else []:
        if finding["severity"] == "error":
            kind = finding.get("kind") or finding["text"]
            result["findings"][kind] = result["findings"].get(kind, 0) + 1
            labels = finding.get("labels") or [{}]
            where = f"{Path(labels[0].get('file', '')).name}:{labels[0].get('line', 0)}: "
            result["first_finding"] = result["first_finding"] or where + finding["text"]


def found_all(result: dict) -> bool:
    """Whether each fault that the program is known to have was found."""
    return all(any(fault in kind for kind in result["findings"]) for fault in result["expected"] or [])


def run_one(binary: Path, program: Program, limit_s: float) -> dict:
    result = {"name": program.name, "compiles": False, "compile_error": None, "status": None, "verdict": None, "findings": {},
              "first_finding": None, "expected": program.expected, "found": None, "seconds": 0.0, "timed_out": False}  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if program.text:
            program.sources = [folder / "driver.cu"]
            program.sources[0].write_text(program.text)
        result["compile_error"], _ = build(binary, program, folder, 4 * limit_s)
        result["compiles"] = result["compile_error"] is None
        if not result["compiles"]:
            return result
        output = ""
        begin = time.monotonic()
        for arguments in program.runs:
            report = folder / "report.json"
            report.unlink(missing_ok=True)
            command = ["env", f"CONVLAB_JSON={report}", f"CONVLAB_TIMEOUT={int(limit_s)}", str(folder / "program"), *arguments]
            status, more, _, late = execute(command, program.folder, limit_s + 10)
            output += more
            result["status"] = max(result["status"] or 0, status, key=abs)
            text = report.read_text() if report.exists() else ""
            merge(result, json.loads(text) if text else None)
            result["timed_out"] |= late or "timeout" in result["findings"]
            if program.expected and found_all(result):
                break
        result["seconds"] = round(time.monotonic() - begin, 2)
        result["verdict"] = verdict_of(output, result["status"])
        if program.expected is not None:
            result["found"] = found_all(result)
    return result


def shown(result: dict) -> str:
    if not result["compiles"]:
        return f"does not compile: {result['compile_error']}"
    kinds = ", ".join(f"{kind} x{count}" for kind, count in result["findings"].items()) or "no findings"
    missed = "; MISSED " + " ".join(result["expected"]) if result["found"] is False else ""
    alarm = "; FALSE ALARM " + str(result["first_finding"]) if result["expected"] == [] and result["findings"] else ""
    late = ", timed out" if result["timed_out"] else ""
    return f"status {result['status']}, {result['verdict']}, {kinds}, {result['seconds']} s{missed}{alarm}{late}"


def run(options: argparse.Namespace) -> int:
    binary = Path(options.binary).resolve()
    record = {"date": datetime.now(timezone.utc).strftime("%Y-%m-%d"), "timeout_s": options.timeout, "suites": {}}
    for each in options.suites:
        name, _, folder = each.partition("=")
        if name not in PROGRAMS or not Path(folder).is_dir():
            sys.exit(f"{each}: expected SUITE=FOLDER with one of {', '.join(PROGRAMS)}")
        root = Path(folder).resolve()
        programs = PROGRAMS[name](root)
        in_suite = len(programs)
        if options.match:
            programs = [program for program in programs if re.search(options.match, program.name)]
        if options.only and options.only < len(programs):
            programs = random.Random(options.seed).sample(programs, options.only)
        results = []
        with ThreadPoolExecutor(options.jobs) as pool:
            for result in pool.map(lambda program: run_one(binary, program, options.timeout), programs):
                print(f"{name} {result['name']}: {shown(result)}", flush=True)
                results.append(result)
        results.sort(key=lambda result: result["name"])
        record["suites"][name] = {"commit": commit_of(root), "in_suite": in_suite, "programs": results}
    file = Path(options.json)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record, indent=1) + "\n")
    return 0


def write(options: argparse.Namespace) -> int:
    suites: dict[str, dict] = collections.OrderedDict()
    for path in sorted(RESULTS.glob("*.json")):
        record = json.loads(path.read_text())
        for name, suite in record["suites"].items():
            suites[name] = {**suite, "date": record["date"], "timeout_s": record["timeout_s"]}
    ordered = {name: suites[name] for name in PROGRAMS if name in suites}
    return publish({PAGE: page_of(ordered)}, options.check)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    runs = verbs.add_parser("run")
    runs.add_argument("binary")
    runs.add_argument("suites", nargs="+", metavar="SUITE=FOLDER")
    runs.add_argument("--jobs", type=int, default=2)
    runs.add_argument("--timeout", type=float, default=60, help="seconds that a program may run")
    runs.add_argument("--only", type=int, help="run a random sample of this many programs")
    runs.add_argument("--seed", type=int, default=1)
    runs.add_argument("--match", help="run only programs whose names match")
    runs.add_argument("--json", required=True)
    runs.set_defaults(do=run)
    writes = verbs.add_parser("write")
    writes.add_argument("--check", action="store_true", help="write nothing; fail if the page would change")
    writes.set_defaults(do=write)
    options = parser.parse_args()
    return options.do(options)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Times CUDA programs on simt: without checks against threads of C++, and with all checks against none.

    python3 bench/cuda_speed.py run BINARY HeCBench=FOLDER   results/cuda_speed/speed.json
    python3 bench/cuda_speed.py write [--check]              docs/measured/cuda_speed.md

Against threads: the kernels of bench/cuda_speed, each beside a version for the host by hand. With checks: programs drawn
at random from those of HeCBench that ran here without findings for half a second or more, see cuda_suites.py.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

from cuda_programs import PROGRAMS, Program
from pages import ROOT, publish, table
from suite_runs import build

PAGE = ROOT / "docs/measured/cuda_speed.md"
RECORD = ROOT / "results/cuda_speed/speed.json"
SUITE = ROOT / "results/cuda_programs/hecbench.json"
KERNELS = ROOT / "bench/cuda_speed"
LONG = ROOT / "tests/programs"  # programs of about 200 lines, to see how soon findings come

RUNS, SAMPLE, SEED, LIMIT_S = 5, 20, 1, 300

HEAD = """# Speed of CUDA programs

How long CUDA programs run on simt, and how much memory they take, without and with checks. `bench/cuda_speed.py` measures
it, and writes this page. Times are of whole processes, medians of {runs} runs, alternately; memory is the largest resident size.
"""

THREADS = """
## Without checks, against threads

`--check none`, against the same work on `std::thread` by hand with one thread per core, compiled with `g++ -O2`
([sources](../../bench/cuda_speed)). The kernel is inlined in a loop over a block's threads until one waits at a barrier; then
each thread continues on a fiber of its own. What remains is the cost of a simulated thread, a few nanoseconds: kernels of
a few operations, such as `saxpy`, take several times as long as a plain loop, which the compiler also vectorizes.
"""

CHECKS = """
## All checks, against none

{count} programs of HeCBench, drawn at random from those that ran here without findings for half a second to 8 s. Work is small,
as on [the page of all programs](cuda_programs.md).
"""

SOON = """
## How soon findings come

`convlab cuda run` of a changed program: the time to compile it, to run it with all checks and to print all findings.
"""


def timed(command: list[str], folder: Path, variables: dict[str, str]) -> tuple[float, int, str]:
    """Runs the command and returns its wall time in seconds, its largest resident size in KiB, and its output."""
    with tempfile.TemporaryFile() as output:
        begin = time.monotonic()
        child = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.DEVNULL, env=os.environ | variables)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit status {child.returncode}")
        output.seek(0)
        return seconds, usage.ru_maxrss, output.read().decode(errors="replace")


def compared(first: list[str], second: list[str], folder: Path, runs: int) -> tuple[list[float], list[int], bool]:
    """Times two commands alternately. Returns both medians, both sizes, and whether they print the same."""
    results = [[timed(each, folder, {"CONVLAB_FINDINGS_EXIT": "0"}) for each in (first, second)] for _ in range(runs)]
    seconds = [round(statistics.median(run[side][0] for run in results), 4) for side in (0, 1)]
    sizes = [max(run[side][1] for run in results) for side in (0, 1)]
    return seconds, sizes, results[0][0][2] == results[0][1][2]


def against_threads(binary: Path) -> list[dict]:
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kernel in sorted(KERNELS.glob("*.cu")):
            host, ours = folder / "host", folder / "ours"
            subprocess.run(["g++", "-O2", "-std=c++20", "-pthread", str(kernel.with_suffix(".cc")), "-o", str(host)], check=True)
            subprocess.run([str(binary), "cuda", "build", "--check", "none", str(kernel), "-o", str(ours)], check=True)
            seconds, _, same = compared([str(host)], [str(ours)], folder, RUNS)
            if not same:
                sys.exit(f"{kernel.name}: its two versions differ")
            what = kernel.read_text().splitlines()[0].removeprefix("// ").removesuffix(".")
            rows.append({"name": kernel.stem, "what": what, "threads_s": seconds[0], "simt_s": seconds[1]})
            print(rows[-1], flush=True)
    return rows


def drawn_programs(suite: Path) -> list[Program]:
    programs = json.loads(SUITE.read_text())["suites"]["HeCBench"]["programs"]
    names = sorted(p["name"] for p in programs if p["status"] == 0 and not p["findings"] and 0.5 <= p["seconds"] <= 8)
    chosen = set(random.Random(SEED).sample(names, SAMPLE))
    return [each for each in PROGRAMS["HeCBench"](suite) if each.name in chosen]


def with_checks(binary: Path, suite: Path) -> list[dict]:
    rows = []
    for program in drawn_programs(suite):
        with tempfile.TemporaryDirectory() as name:
            commands = []
            for checks in ("none", "all"):
                folder = Path(name) / checks
                folder.mkdir()
                error = build([str(binary), "cuda", "build", "--check", checks], program, folder, LIMIT_S)
                if error:
                    sys.exit(f"{program.name}: {error}")
                commands.append([str(folder / "program"), *program.runs[0]])
            seconds, sizes, _ = compared(commands[0], commands[1], program.folder, RUNS)
        rows.append({"name": program.name, "none_s": seconds[0], "all_s": seconds[1], "none_kib": sizes[0], "all_kib": sizes[1]})
        print(rows[-1], flush=True)
    return rows


def how_soon(binary: Path) -> list[dict]:
    rows = []
    longest = sorted(LONG.glob("*.cu"), key=lambda path: -len(path.read_text().splitlines()))[:8]
    for source in sorted(longest):
        with tempfile.TemporaryDirectory() as name:
            program = Path(name) / source.name
            seconds = []
            for run in range(RUNS):
                program.write_text(source.read_text() + f"// {run} {time.time()}\n")  # not in the cache
                seconds.append(timed([str(binary), "cuda", "run", str(program)], Path(name), {})[0])
        rows.append({"name": source.stem, "lines": len(source.read_text().splitlines()), "seconds": round(statistics.median(seconds), 2)})
        print(rows[-1], flush=True)
    return rows


def run(options: argparse.Namespace) -> int:
    name, _, folder = options.suite.partition("=")
    if name != "HeCBench" or not Path(folder).is_dir():
        sys.exit(f"{options.suite}: expected HeCBench=FOLDER")
    binary = Path(options.binary).resolve()
    processor = next(line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line)
    record = {"date": datetime.now(timezone.utc).date().isoformat(), "cores": os.cpu_count(), "processor": processor, "runs": RUNS}
    record |= {"threads": against_threads(binary), "checks": with_checks(binary, Path(folder).resolve()), "soon": how_soon(binary)}
    RECORD.write_text(json.dumps(record, indent=1) + "\n")
    return 0


def mean(ratios: list[float]) -> str:
    return f"{math.exp(statistics.fmean(map(math.log, ratios))):.1f}"


def page_of(record: dict) -> str:
    lines = [HEAD.format(runs=record["runs"])]
    lines.append(f"Measured on {record['date']} on {record['cores']} cores of {record['processor']}.")
    rows = [[f"`{r['name']}`", r["what"], f"{r['threads_s']:.2f}", f"{r['simt_s']:.2f}", f"{r['simt_s'] / r['threads_s']:.1f}"] for r in record["threads"]]
    rows.append(["geometric mean", "", "", "", mean([r["simt_s"] / r["threads_s"] for r in record["threads"]])])
    lines += [THREADS, *table(["kernel", "work", "threads, s", "simt, s", "ratio"], rows)]
    checks = record["checks"]
    rows = [[f"`{r['name']}`", f"{r['none_s']:.2f}", f"{r['all_s']:.2f}", f"{r['all_s'] / r['none_s']:.1f}", f"{r['none_kib'] / 1024:.0f}", f"{r['all_kib'] / 1024:.0f}",
             f"{r['all_kib'] / r['none_kib']:.1f}"] for r in checks]  # fmt: skip
    rows.append(["geometric mean", "", "", mean([r["all_s"] / r["none_s"] for r in checks]), "", "", mean([r["all_kib"] / r["none_kib"] for r in checks])])
    lines += [CHECKS.format(count=len(checks)), *table(["program", "none, s", "all, s", "ratio", "none, MiB", "all, MiB", "ratio of memory"], rows)]
    rows = [[f"`{r['name']}`", str(r["lines"]), f"{r['seconds']:.1f}"] for r in record["soon"]]
    lines += [SOON, *table(["program of tests/programs", "lines", "seconds"], rows)]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    running = verbs.add_parser("run")
    running.add_argument("binary")
    running.add_argument("suite", metavar="HeCBench=FOLDER")
    running.set_defaults(do=run)
    writing = verbs.add_parser("write")
    writing.add_argument("--check", action="store_true")
    writing.set_defaults(do=lambda options: publish({PAGE: page_of(json.loads(RECORD.read_text()))}, options.check))
    options = parser.parse_args()
    return options.do(options)


if __name__ == "__main__":
    sys.exit(main())

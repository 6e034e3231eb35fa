#!/usr/bin/env python3
"""Times Indigo's programs here with all checks, beside their versions with HiRace's instrumentation on this machine's GPU.

    python3 bench/hirace_times.py BINARY NVCC FOLDER --json results/cuda_speed/hirace.json

FOLDER is HiRace's artifact. Programs are drawn at random; each runs on each of Indigo's inputs, alternately. Times are of whole processes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path

from cuda_programs import Program, indigo


def seconds_of(command: list[str]) -> float:
    begin = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=60)
    return time.monotonic() - begin


def instrumented(program: Program, root: Path) -> Path:
    """HiRace's version of a program: a_boundsBug.cu is a_hirace_boundsBug.cu."""
    folder = root / "indigo/indigo_hirace_sources" / program.folder.name
    name = program.name.replace(program.folder.name, f"{program.folder.name}_hirace", 1)
    return folder / f"{name}.cu"


def build(binary: str, nvcc: str, root: Path, program: Program, folder: Path) -> bool:
    source = instrumented(program, root)
    if not source.exists():
        return False
    theirs = [nvcc, "-arch=native", "-w", "-DRACECHECK", "-I", str(root / "src/hirace"), str(source), "-o", f"{folder}/{program.name}.hirace"]
    ours = [binary, "cuda", "build", *map(str, program.sources), *program.options, "-o", f"{folder}/{program.name}.convlab"]
    return all(subprocess.run(each, capture_output=True, check=False).returncode == 0 for each in (theirs, ours))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("nvcc")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", required=True)
    parser.add_argument("--only", type=int, default=60, help="programs, drawn at random (default: 60)")
    options = parser.parse_args()
    root = options.folder.resolve()
    device = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, check=True).stdout
    rows = []
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = Path(name)
        programs = random.Random(1).sample(indigo(root), options.only)
        built = list(pool.map(lambda each: build(options.binary, options.nvcc, root, each, folder), programs))
        for program in [program for program, is_built in zip(programs, built, strict=True) if is_built]:
            times = [[seconds_of([f"{folder}/{program.name}.{side}", *run]) for side in ("convlab", "hirace")] for run in program.runs]
            rows.append({"name": program.name, **{side: round(statistics.fmean(each[at] for each in times), 4) for at, side in enumerate(("convlab", "hirace"))}})
    record = {"date": datetime.now(timezone.utc).date().isoformat(), "gpu": device.splitlines()[0], "cores": os.cpu_count(), "programs": rows}
    Path(options.json).write_text(json.dumps(record, indent=1) + "\n")
    faster = sum(row["convlab"] < row["hirace"] for row in rows)
    print(f"{len(rows)} of {len(programs)} programs; convlab is faster in {faster}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

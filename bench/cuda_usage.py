#!/usr/bin/env python3
"""Counts in how many public CUDA programs each CUDA facility occurs, and which of them simt supports.

    python3 bench/cuda_usage.py count SUITE=FOLDER ...   results/cuda_usage/counts.json, from the suites' sources
    python3 bench/cuda_usage.py write [--check]          docs/reference/cuda_usage.md

A folder is a suite's repository; its commit is that of the folder, or the content of its file COMMIT.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import subprocess
import sys
from datetime import datetime, timezone
from functools import cache
from pathlib import Path

import cuda_names
from cuda_support import RARE, is_supported
from cuda_usage_page import DIGITS, page_of
from pages import ROOT, publish

PAGE = ROOT / "docs/reference/cuda_usage.md"
COUNTS = ROOT / "results/cuda_usage/counts.json"

# Each suite's repository on GitHub, and its programs: folders (all their sources) or files (with what they include).
SUITES = {
    "HeCBench": ("zjin-lcf/HeCBench", ["src/*-cuda"]),
    "cuda-samples": ("NVIDIA/cuda-samples", ["Samples/[0-7]_*/*", "Samples/8_*/*/*"]),
    "llm.c": ("karpathy/llm.c", ["*.cu", "dev/cuda/*.cu"]),
    "compute-sanitizer": ("NVIDIA/compute-sanitizer-samples", ["*/*.cu"]),
    "Indigo": ("JohnJacobsonIII/HiRace-Artifact-SC24", ["indigo/indigo_sources/*/*.cu"]),
    "GPUVerify": ("mc-imperial/gpuverify", ["testsuite/CUDA/**/*.cu"]),
}
KERNELS_ONLY = {"GPUVerify"}  # its files have kernels and no main()


class Suite:
    """A suite's source files, each read and analyzed once."""

    def __init__(self, root: Path):
        self.root = root
        self.called: set[str] = set()
        self.file = cache(cuda_names.read)
        self.facts = cache(lambda path, libraries: cuda_names.facts_of(self.file(path), libraries))
        self.include_folders = cache(lambda folder: [folder, *(each for each in sorted(folder.iterdir())
                                                               if re.search("inc|common|util", each.name, re.IGNORECASE) and each.is_dir())])  # fmt: skip
        self.included = cache(self.included)

    def included(self, header: str, where: Path) -> Path | None:
        """Returns the suite's own file that an #include in a file of the folder `where` names."""
        for above in [where, *where.parents]:
            for folder in self.include_folders(above):
                if (folder / header).is_file():
                    return Path(os.path.normpath(folder / header))
            if above == self.root:
                return None
        return None

    def names(self, unit: Path, needs_main: bool) -> set[str]:
        """Returns the names that a program uses; none if it has no main()."""
        waiting = [unit] if unit.is_file() else sorted(each for each in unit.rglob("*") if each.suffix in cuda_names.SOURCES)
        seen, headers = set(), set()
        while waiting:
            path = waiting.pop()
            if path in seen:
                continue
            seen.add(path)
            for header in self.file(path).includes:
                found = self.included(header, path.parent)
                if found:
                    waiting.append(found)
                else:
                    headers.add(header)
        if needs_main and not any(re.search(r"\bmain\s*\(", self.file(path).code) for path in seen):
            return set()
        libraries = cuda_names.libraries_of(headers)
        facts = [self.facts(path, libraries) for path in sorted(seen)]
        self.called.update(*(each.called for each in facts))
        return cuda_names.names_of(facts, headers)


def commit_of(root: Path) -> str:
    if (root / "COMMIT").exists():
        return (root / "COMMIT").read_text().strip()
    return subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()


def without_single_names(found: list[list[set[str]]]) -> tuple[list[list[set[str]]], int]:
    """Replaces names that only one program uses by RARE, if simt does not support them. Returns also their number."""
    counts = collections.Counter(name for programs in found for names in programs for name in names)
    single = {name for name, many in counts.items() if many == 1}
    kept = [[(names - single) | ({RARE} if any(not is_supported(name) for name in names & single) else set()) for names in programs] for programs in found]
    return kept, len(single)


def count(arguments: argparse.Namespace) -> int:
    suites, found, called = [], [], set()
    for name, folder in (each.split("=", 1) for each in arguments.suites):
        if name not in SUITES:
            sys.exit(f"unknown suite '{name}'; expected one of {', '.join(SUITES)}")
        root, (repository, patterns) = Path(folder).resolve(), SUITES[name]
        suite = Suite(root)
        units = sorted({unit for pattern in patterns for unit in root.glob(pattern)})
        programs = [names for unit in units if (names := suite.names(unit, name not in KERNELS_ONLY))]
        suites.append({"name": name, "repository": repository, "commit": commit_of(root), "programs": len(programs)})
        found.append(programs)
        called |= suite.called
        print(f"{name}: {len(programs)} programs, {len(set().union(*programs))} names", flush=True)
    found, single = without_single_names(found)
    counts = collections.Counter(name for programs in found for names in programs for name in names)
    order = sorted(counts, key=lambda name: (-counts[name], name))
    if len(order) > len(DIGITS) ** 2:
        sys.exit(f"{len(order)} names; two digits number at most {len(DIGITS) ** 2}")
    number = {name: DIGITS[at // len(DIGITS)] + DIGITS[at % len(DIGITS)] for at, name in enumerate(order)}
    for suite, programs in zip(suites, found):
        sets = collections.Counter("".join(sorted(number[name] for name in names)) for names in programs)
        suite["sets"] = [f"{many} {names}" for names, many in sorted(sets.items(), key=lambda each: (-each[1], each[0]))]
    functions = {name for name in called if cuda_names.is_runtime_function(name)}
    saved = {"when": datetime.now(timezone.utc).strftime("%Y-%m-%d"), "single": single, "suites": suites,
             "names": [name + "()" * (name in functions) for name in order]}  # fmt: skip
    COUNTS.parent.mkdir(parents=True, exist_ok=True)
    COUNTS.write_text(json.dumps(saved, indent=0) + "\n")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("count")
    one.add_argument("suites", nargs="+", metavar="SUITE=FOLDER")
    two = commands.add_parser("write")
    two.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.command == "write":
        return publish({PAGE: page_of(json.loads(COUNTS.read_text()))}, arguments.check)
    return count(arguments)


if __name__ == "__main__":
    sys.exit(main())

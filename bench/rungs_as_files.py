#!/usr/bin/env python3
"""Compares each rung of the ladder, used as a kernel file in another folder, with the same kernel inside the program.

    python3 bench/rungs_as_files.py BINARY [--device D] [-n N] [--only NAME...] [--jobs N] [-o FILE.json] [--data DIR]

Prints for each rung how many verdicts on shapes/course.txt agree, whether fa19's labels agree, and the ratio of Op
Times on fa19's convolutions (`convlab bench FILE --against KERNEL`, both in one process, interleaved). Exit status 1 if
a verdict or a label differs. About six minutes on an H200, and on simt with -n 2.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gpu_common import now, output_of
from pages import ROOT

LADDER = ROOT / "convlab/kernels/ladder"
WRONG_TOO = (0, 1)  # accepted exit statuses: here a wrong kernel is a result


def kernel_of(source: Path) -> str:
    """Returns the name under which a rung registers its kernel."""
    return re.search(r'"((?:cuda|cpu)\.\w+)"', source.read_text()).group(1)


def verdicts_of_file(binary: str, file: Path, device: list[str]) -> dict[str, str]:
    command = [binary, "verify", str(file), "--shapes", str(ROOT / "shapes/course.txt"), *device, "--json", "-"]
    return {each["problem"]: each["verdict"] for each in output_of(command, WRONG_TOO)["files"][0]["cases"]}


def verdicts_of_kernel(binary: str, name: str, device: list[str]) -> dict[str, str]:
    """Merges the verdicts of a problem's steps as for a file: FAILED if any step failed, otherwise PASSED if any
    passed, otherwise SKIPPED.
    """
    command = [binary, "verify", "--kernel", name, "--shapes", str(ROOT / "shapes/course.txt"), *device, "--json", "-"]
    ranks = ["SKIPPED", "PASSED", "FAILED"]
    verdicts: dict[str, str] = {}
    for each in output_of(command, WRONG_TOO)["cases"]:
        before = verdicts.get(each["problem"], "SKIPPED")
        verdicts[each["problem"]] = max(before, each["result"], key=ranks.index)
    return verdicts


def labels(binary: str, kernel: str, options: list[str], images: int) -> list[int]:
    command = [binary, "run", "fa19", "--plan", "layers", "--kernel", kernel, "-n", str(images), *options, "--json", "-"]
    return output_of(command)["labels"]


def ratios(binary: str, file: Path, name: str, device: list[str], images: int) -> list[dict]:
    command = [binary, "bench", str(file), "--against", name, "--model", "fa19", "-n", str(images), *device]
    records = output_of([*command, "--seconds", "0.3", "--json", "-"])
    return [
        {"problem": each["problem"], "op_ms": each["op_ms"]["median"], **each["against"]}
        for each in records
        if "against" in each
    ]


def compared(binary: str, source: Path, folder: Path, arguments: argparse.Namespace) -> dict:
    """Compares everything except times: verdicts and labels."""
    name, file = kernel_of(source), folder / source.name
    device = ["--device", arguments.device]
    options = device + (["--data", arguments.data] if arguments.data else [])
    by_file, by_name = verdicts_of_file(binary, file, device), verdicts_of_kernel(binary, name, device)
    same_labels = labels(binary, str(file), options, arguments.images) == labels(binary, name, options, arguments.images)
    return {
        "rung": source.name,
        "kernel": name,
        "problems": len(by_name),
        "same_verdicts": sum(by_file.get(problem) == verdict for problem, verdict in by_name.items()),
        "passed": sum(verdict == "PASSED" for verdict in by_file.values()),
        "images": arguments.images,
        "same_labels": same_labels,
    }


def line(row: dict) -> str:
    times = ", ".join(
        f"{each['op_ms']:.3f} ms: {each['ratio']:.3f} [{each['low']:.3f} {each['high']:.3f}] {each['decision']}"
        for each in row["times"]
    )
    verdicts = f"{row['same_verdicts']} of {row['problems']} verdicts the same ({row['passed']} passed)"
    return f"{row['rung']:26} {verdicts}, labels {'the same' if row['same_labels'] else 'DIFFER'}; {times}"


def save(path: Path, device: str, rows: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"when": now(), "device": device, "rungs": rows}, indent=1) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--device", default="cuda", help="cuda (default) or simt")
    parser.add_argument("-n", "--images", type=int, default=10000, help="of labels and Op Times (default 10000)")
    parser.add_argument("--only", nargs="+", default=[""], help="rungs whose names contain one of these")
    parser.add_argument("--data", help="folder of the images")
    parser.add_argument("--jobs", type=int, default=2, help="rungs that are compiled and verified at once (default 2)")
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    binary = str(Path(arguments.binary).absolute())
    sources = [each for each in sorted(LADDER.glob("*.cu")) if any(part in each.name for part in arguments.only)]
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(arguments.jobs) as pool:
        folder = Path(name)
        for source in sources:
            shutil.copy(source, folder)
        rows = list(pool.map(lambda source: compared(binary, source, folder, arguments), sources))
        for row in rows:  # nothing else runs during timing
            file = folder / row["rung"]
            row["times"] = ratios(binary, file, row["kernel"], ["--device", arguments.device], arguments.images)
            print(line(row), flush=True)
            if arguments.output:
                save(arguments.output, arguments.device, [each for each in rows if "times" in each])
    same = all(row["same_labels"] and row["same_verdicts"] == row["problems"] for row in rows)
    return 0 if rows and same else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Tests whether a class's queue predicts well: each submission's position, and when its verdict is due.

    python3 bench/class_queue.py BINARY [--device D] [--count N] [--students N] [--warm-up N] [-o FILE.json]

Creates a class, lets a worker judge some submissions so that durations are known, submits 50 by 12 students, and
records the predictions: those at submission, when others could still be queued before it, and those after the last
submission. Then one worker judges them all. Prints how many positions were exact and the errors of due times. About
four minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from gpu_common import now, output_of
from pages import ROOT

TEMPLATES, LADDER = ROOT / "convlab/kernel_file/templates", ROOT / "convlab/kernels/ladder"
FILES = [TEMPLATES / "mxnet.cuh", TEMPLATES / "function.cu", LADDER / "01_basic.cu", LADDER / "02_shared_tile.cu"]
BROKEN = 0.2  # the share of files that do not compile
LATER_S = 10.0  # errors for verdicts due sooner are reported, but do not count


class Class:
    """A class in a folder, with its commands."""

    def __init__(self, binary: str, folder: Path, device: str):
        self.binary, self.folder, self.dir = binary, folder, str(folder / "class")
        self.handed_in = 0
        made = [binary, "class", "new", self.dir, "--assignment", "fa19", "--device", device, "--per-hour", "1000"]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL)

    def submit(self, source: Path, broken: bool, student: str) -> dict:
        """Submits a file that no judge has seen before, and returns the student's receipt."""
        self.handed_in += 1
        file = self.folder / source.name
        last = "#error this one does not compile" if broken else f"// submission {self.handed_in}"
        file.write_text(f"{source.read_text()}\n{last}\n")
        command = [self.binary, "class", "submit", self.dir, str(file), "--as", student, "--json", "-"]
        return output_of(command)["submissions"][0]

    def waiting(self) -> list[dict]:
        seen = output_of([self.binary, "class", "status", self.dir, "--json", "-"])["submissions"]
        return [each for each in seen if each["place"] is not None]

    def verdicts(self) -> list[tuple[int, float]]:
        """Lets one worker judge all submissions; returns their numbers in the order of verdicts, and when each verdict
        came.
        """
        command = [self.binary, "class", "work", self.dir, "--until-empty"]
        order = []
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as worker:
            for line in worker.stderr:
                if found := re.match(r"convlab: (\d+): [A-Z_]+ ", line):
                    order.append((int(found.group(1)), time.monotonic()))
        if worker.returncode != 0:
            raise SystemExit(f"the worker ended with {worker.returncode}")
        return order


def compared(promises: dict[int, dict], order: list[tuple[int, float]]) -> list[dict]:
    rows = []
    for place, (number, at) in enumerate(order, 1):
        promise = promises[number]
        took, due = at - promise["at"], promise["due_s"]
        rows.append({
            "submission": number,
            "place": promise["place"],
            "came": place,
            "due_s": round(due, 2),
            "took_s": round(took, 2),
            "error": round(due / took - 1, 4),
        })
    return rows


def told(title: str, rows: list[dict]) -> dict:
    exact = sum(each["place"] == each["came"] for each in rows)
    errors = [abs(each["error"]) for each in rows]
    late = [abs(each["error"]) for each in rows if each["took_s"] > LATER_S]
    summary = {
        "places_exact": exact,
        "error_median": median(errors),
        "error_worst": max(errors),
        "error_worst_later": max(late, default=0.0),
    }
    print(f"{title}: {exact} of {len(rows)} places exact; due times off by {summary['error_median']:.1%} (median), "
          f"{summary['error_worst_later']:.1%} at most of those that took more than {LATER_S:g} s, "
          f"{summary['error_worst']:.1%} at most of all")
    return {"summary": summary, "submissions": rows}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--device", default="simt", help="simt (default), cpu, cuda or cuda:N")
    parser.add_argument("--count", type=int, default=50, help="submissions in the queue (default 50)")
    parser.add_argument("--students", type=int, default=12, help="who hand them in (default 12)")
    parser.add_argument("--warm-up", type=int, default=20, help="submissions before (default 20)")
    parser.add_argument("--seed", type=int, default=1, help="of who hands in what (default 1)")
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as name:
        some = Class(str(Path(arguments.binary).absolute()), Path(name), arguments.device)

        def hand_in() -> dict:
            broken = chance.random() < BROKEN
            return some.submit(chance.choice(FILES), broken, f"student {chance.randrange(arguments.students)}")

        for _ in range(arguments.warm_up):
            hand_in()
        some.verdicts()
        first = {}
        for _ in range(arguments.count):
            answer = hand_in()
            first[answer["number"]] = answer | {"at": time.monotonic()}
        last = {each["number"]: each for each in some.waiting()}
        for each in last.values():
            each["at"] = time.monotonic()
        order = some.verdicts()
    result = {
        "when": now(),
        "device": arguments.device,
        "students": arguments.students,
        "warm_up": arguments.warm_up,
        "when_handed_in": told("as they were handed in", compared(first, order)),
        "after_the_last": told("after the last one", compared(last, order)),
    }
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(json.dumps(result, indent=1) + "\n")
    summary = result["after_the_last"]["summary"]
    return 0 if summary["places_exact"] == arguments.count and summary["error_worst_later"] <= 0.25 else 1


if __name__ == "__main__":
    sys.exit(main())

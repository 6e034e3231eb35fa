#!/usr/bin/env python3
"""Writes docs/measured/replay.md and its picture, docs/measured/replay.svg, from the Record of bench/replay.py.

    python3 bench/replay_page.py                writes both
    python3 bench/replay_page.py --check        exits with status 1 if a file is out of date

Needs only Python.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections import Counter

from pages import ROOT, publish, read_record, table

RECORD = ROOT / "results" / "replay" / "nvidia-h200.json"
SEMESTERS = {"fa17": "fall 2017", "sp18": "spring 2018", "fa18": "fall 2018", "sp19": "spring 2019", "fa19": "fall 2019",
             "sp25": "fall 2020 to spring 2025"}  # fmt: skip
COMPARED = {"cuda.register_tile": "rung 10, fp32", "cuda.tensor_core_3xfp16": "rung 18, fp32-class",
          "cuda.tensor_core_fp16": "rung 16, fp16", "cudnn": "cuDNN, fp32"}  # fmt: skip
GENERATIONS = {"fa17": "fall 2017", "sp18": "spring 2018", "fa18": "fall 2018", "sp19": "spring 2019", "fa19": "fall 2019", "sp20": "spring 2020",
               "fa20": "fall 2020: mini-dnn, one call", "2021-sp22": "2021 to spring 2022: three phases", "sp22-24": "spring 2022 to 2024",
               "fa23-sp24": "fall 2023 to spring 2024: with a stride", "fa24+": "since fall 2024: with matmul.h"}  # fmt: skip
TECHNIQUES = {"": "none of these", "shared": "shared memory", "const": "constant memory", "unroll": "unrolled matrix (im2col)",
              "gemm": "matrix multiply", "fused": "im2col fused into the matrix multiply", "pragma-unroll": "`#pragma unroll`",
              "restrict": "`__restrict__`", "per-layer-dispatch": "one kernel per layer", "fp16": "fp16", "streams": "streams",
              "atomic": "atomics", "reduction": "parallel reduction over input channels", "cublas": "cuBLAS", "wmma": "wmma",
              "wmma-tf32": "wmma in TF32", "template": "templates"}  # fmt: skip
FAULTS = {"race": "a race", "out of bounds": "an access out of bounds", "uninitialised": "a read of uninitialized memory",
          "barrier": "a barrier or warp operation that not all threads reach"}  # fmt: skip


def milliseconds(times: dict) -> float:
    """Returns the kernel time of both layers in milliseconds."""
    return sum(layer["kernel_ms"] for layer in times.values())


class Study:
    def __init__(self, record: dict) -> None:
        self.record = record
        self.files = record["replayed"]
        self.right = [each for each in self.files if each["gpu"]["verdict"] == "PASSED"]
        self.timed = [each for each in self.right if each["times"] and "refused" not in each["times"]]
        for each in self.timed:
            each["gain"] = self.basic(each["semester"]) / milliseconds(each["times"])

    def basic(self, semester: str) -> float:
        return milliseconds(self.record["ladder"][semester]["cuda.basic"])

    def gain(self, semester: str, kernel: str) -> float:
        return self.basic(semester) / milliseconds(self.record["ladder"][semester][kernel])

    def gains(self, semester: str) -> list[float]:
        return sorted(each["gain"] for each in self.timed if each["semester"] == semester)

    def of_simt(self) -> list[dict]:
        return [each for each in self.right if each["simt"]]


def share(count: int, of: int) -> str:
    return f"{count} of {of} ({100 * count / of:.0f} %)"


def speeds(study: Study) -> list[str]:
    rows = []
    for semester, name in SEMESTERS.items():
        gains = study.gains(semester)
        teams = {each["team"] for each in study.timed if each["semester"] == semester}
        quarter = statistics.quantiles(gains, n=4) if len(gains) > 3 else ["", "", ""]
        figures = [gains[0], quarter[0], statistics.median(gains), quarter[2], gains[-1]]
        figures += [study.gain(semester, kernel) for kernel in COMPARED]
        rows.append([name, str(len(teams)), str(len(gains)), *[f"{each:.2f}" if each != "" else "" for each in figures]])
    header = ["semester of the network", "teams", "files", "slowest", "lower quartile", "median", "upper quartile", "fastest", *COMPARED.values()]
    return table(header, rows)


def techniques(study: Study) -> list[str]:
    rows = []
    for name, words in TECHNIQUES.items():
        gains = [each["gain"] for each in study.timed if (name in each["techniques"] if name else not each["techniques"])]
        if gains:
            slower = sum(each < 1 for each in gains)
            rows.append((len(gains), [words, str(len(gains)), f"{statistics.median(gains):.2f}", f"{max(gains):.2f}", share(slower, len(gains))]))
    return table(["technique", "files", "median speedup", "largest speedup", "slower than `cuda.basic`"], [row for _, row in sorted(rows, key=lambda row: -row[0])])


def verdicts(study: Study) -> list[str]:
    wanted = ["PASSED", "FAILED", "TIMED_OUT", "NOT_COMPILED", "REFUSED"]
    rows = []
    for generation, words in GENERATIONS.items():
        of = Counter(each["gpu"]["verdict"] for each in study.files if each["generation"] == generation)
        rows.append([words, str(sum(of.values())), *[str(of[verdict]) for verdict in wanted]])
    total = Counter(each["gpu"]["verdict"] for each in study.files)
    rows.append(["all", str(len(study.files)), *[str(total[verdict]) for verdict in wanted]])
    return table(["generation", "files", "correct", "wrong or crashes", "hangs", "does not compile", "contains no operator"], rows)


def hidden(study: Study) -> list[str]:
    judged = study.of_simt()
    rows = [["also correct on simt: no fault in the semester's layers", share(sum(each["simt"]["verdict"] == "PASSED" for each in judged), len(judged))]]
    for beginning, words in FAULTS.items():
        found = [each for each in judged if any(fault.startswith(beginning) for fault in each["simt"]["faults"])]
        rows.append([f"with {words}", share(len(found), len(judged))])
    silent = [each for each in judged if each["simt"]["verdict"] != "PASSED" and not each["simt"]["faults"]]
    rows.append(["wrong with 10 images, without a fault", share(len(silent), len(judged))])
    shaped = [each for each in study.right if each["gpu"]["awkward"].get("PASSED", 0) + each["gpu"]["awkward"].get("FAILED", 0)]
    rows.append(["reads its shape at run time, but wrong for an awkward one (on the GPU)", share(sum(each["gpu"]["awkward"].get("FAILED", 0) > 0 for each in shaped), len(shaped))])
    return table(["files that are correct on the GPU", "count"], rows)


def picture(study: Study) -> str:
    """Returns an SVG: a dot per file on a logarithmic scale, a row per network, and marks for the ladder and cuDNN."""
    left, width, height = 178, 570, 74
    low, high = math.log2(1 / 128), math.log2(64)
    bottom = 62 + height * len(SEMESTERS)

    def x(gain: float) -> float:
        return left + width * (min(max(math.log2(gain), low), high) - low) / (high - low)

    marks = {"cudnn": ("cudnn", "cuDNN"), "cuda.register_tile": ("tile", "rung 10"), "cuda.tensor_core_3xfp16": ("best", "rung 18")}
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 {bottom + 44}" font-family="sans-serif" font-size="12">',
        "<title>Speedup of the teams' layers over the first rung</title>",
        "<style>text{fill:#24292f}.grid{stroke:#d0d7de}.one{stroke:#57606a}.dot{fill:#3b78c2;fill-opacity:.55}.half{fill:#8250df;fill-opacity:.6}"
        ".mark{stroke-width:2.5}.cudnn{stroke:#c2543b}.tile{stroke:#2f8f5b}.best{stroke:#b8860b}.key{font-size:11px}"
        "@media(prefers-color-scheme:dark){text{fill:#d0d7de}.grid{stroke:#30363d}.one{stroke:#8b949e}.dot{fill:#5a9be6}.half{fill:#b78cf2}"
        ".cudnn{stroke:#f0806a}.tile{stroke:#56c28a}.best{stroke:#e3b341}}</style>",
        f'<text x="12" y="18" font-weight="bold">Speedup over the first rung: both layers, {study.record["images"]} images, '
        f'{study.record["machine"]["gpu"].split(",")[0]}; each dot is a file</text>',
    ]  # fmt: skip
    for power in range(math.ceil(low), math.floor(high) + 1):
        at = x(2.0**power)
        label = f"{2**power}" if power >= 0 else f"1/{2**-power}"
        lines.append(f'<line class="{"one" if power == 0 else "grid"}" x1="{at:.1f}" y1="44" x2="{at:.1f}" y2="{bottom}"/>'
                     f'<text class="key" x="{at:.1f}" y="38" text-anchor="middle">{label}</text>')  # fmt: skip
    for row, (semester, name) in enumerate(SEMESTERS.items()):
        top = 52 + height * row
        files = sorted((each for each in study.timed if each["semester"] == semester), key=lambda each: each["gain"])
        lines.append(f'<text x="{left - 14}" y="{top + 30}" text-anchor="end">{name}</text>'
                     f'<text class="key" x="{left - 14}" y="{top + 46}" text-anchor="end">{len(files)} file{"s" if len(files) > 1 else ""}</text>')  # fmt: skip
        stacks: Counter = Counter()
        for each in files:
            column = round(x(each["gain"]) / 5)
            stacks[column] += 1
            kind = "half" if "fp16" in each["techniques"] else "dot"
            lines.append(f'<circle class="{kind}" cx="{5 * column}" cy="{top + 58 - 5 * (stacks[column] - 1)}" r="2.4"/>')
        for kernel, (kind, _) in marks.items():
            at = x(study.gain(semester, kernel))
            lines.append(f'<line class="mark {kind}" x1="{at:.1f}" y1="{top + 18}" x2="{at:.1f}" y2="{top + 62}"/>')
    keys = [('<circle class="dot" cx="{x}" cy="{y}" r="3"/>', "fp32"), ('<circle class="half" cx="{x}" cy="{y}" r="3"/>', "fp16")]
    keys += [(f'<line class="mark {kind}" x1="{{x}}" y1="{{top}}" x2="{{x}}" y2="{{low}}"/>', words) for kind, words in marks.values()]
    for number, (shape, words) in enumerate(keys):
        at = left + 105 * number
        lines.append(shape.format(x=at, y=bottom + 24, top=bottom + 17, low=bottom + 31) + f'<text class="key" x="{at + 9}" y="{bottom + 28}">{words}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def page(study: Study) -> str:
    machine = study.record["machine"]
    gains = sorted(each["gain"] for each in study.timed)
    teams = len({each["team"] for each in study.files})
    below = sum(each < 1 for each in gains)
    beyond = sum(each["gain"] > study.gain(each["semester"], "cudnn") for each in study.timed)
    best: dict[int, float] = {}
    for each in study.timed:
        best[each["team"]] = max(best.get(each["team"], 0), each["gain"])
    return "\n".join([
        "# A decade of student kernels, measured again", "",
        f"For teachers and students: how fast and how correct {len(study.files)} kernel files of the course's teams are on today's GPU.", "",
        "![Speedup of the teams' layers over the first rung](replay.svg)", "",
        f"Teams of the course published these files between 2017 and 2025, in {teams} repositories. They were compiled and run unchanged on an",
        f"{machine['gpu'].split(',')[0]} ({machine['when'][:10]}). This page names no team and shows none of their code. `convlab verify` judged each file on its semester's",
        f"layers; each correct file then ran alone in its semester's network, with {study.record['images']} images. A time is the sum of all kernels of both layers,",
        "in whichever phase the file launches them, without copies; the median of the warm passes. Speedups are over `cuda.basic`, one thread per output,",
        "on the same layers in the same session. `bench/replay.py` measures, and `bench/replay_page.py` writes this page.", "",
        "## Summary", "",
        f"- {share(len(study.right), len(study.files))} files are correct today, unchanged, on a GPU years newer than most of them.",
        f"- The median speedup of the correct files over `cuda.basic` is {statistics.median(gains):.2f}, and {share(below, len(gains))} files are slower. The largest speedup is {gains[-1]:.1f}.",
        f"- The median of each team's fastest file is {statistics.median(best.values()):.2f}. {share(beyond, len(gains))} files are faster than cuDNN in fp32.",
        "- Reading the fastest files of each network shows one common idea: a thread computes several outputs, of all output channels or of a patch",
        "  of pixels, from values in registers, with compile-time sizes (rung 10's idea). Shared memory alone and the unrolled matrix, which most",
        "  teams chose, gain little or lose on this GPU: L1 does the same work without barriers.", "",
        "## Verdicts", "", "Numbers of files.", "", *verdicts(study), "",
        "## Speed by network", "", "Speedups over `cuda.basic`; the last four columns are the ladder's rungs and cuDNN on the same layers.", "", *speeds(study), "",
        "## Speed by technique", "",
        "Techniques are those that a file's source shows. Most files use several, so a row describes the files with a technique, not the technique's own effect.", "",
        *techniques(study), "",
        "## Correct by luck", "",
        "What `--device simt` finds in the files with correct output on the GPU, with 10 images per layer:", "", *hidden(study), "",
    ]) + "\n"  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with status 1 if a file is out of date")
    arguments = parser.parse_args()
    study = Study(read_record(RECORD))
    docs = ROOT / "docs/measured"
    return publish({docs / "replay.md": page(study), docs / "replay.svg": picture(study)}, arguments.check)


if __name__ == "__main__":
    sys.exit(main())

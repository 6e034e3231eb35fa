#!/usr/bin/env python3
"""What each of the course's techniques gains, and what is true of what reports believe: measures, and makes docs/ablation.md.

    python3 bench/ablation.py measure BINARY NAME     writes results/ablation/NAME.json and its picture, NAME.svg
    python3 bench/ablation.py                         writes docs/ablation.md
    python3 bench/ablation.py --check                 exit status 1 if the Records give another page

NAME says where: `nvidia-h200` (the clock of this machine's GPU; about two minutes there), `simt` (counts, and nvcc's machine
code if it is here with cuobjdump; no GPU) or `cpu` (the clock of this machine's processor, idle, please). Each is what
`convlab ablate` says of files of this folder on fa19's convolutions.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from gpu_common import output_of
from pages import ROOT, publish, table

RECORDS = ROOT / "results" / "ablation"
LAYERS = {"conv1": "c1h70w70_k12r5s5", "conv2": "c12h33w33_k24r5s5"}
OPTIONS = {"cuda": ["-n", "2000", "--seconds", "0.5", "--samples", "25"], "simt": ["-n", "1"], "cpu": ["-n", "20"]}
TECHNIQUES, BELIEFS, ON_CPU = "bench/techniques.cu", "bench/beliefs.cu", "bench/cpu_techniques.cc"
LAYERS_OF = {TECHNIQUES: ["conv1", "conv2"], BELIEFS: ["conv2"], ON_CPU: ["conv2"]}
GPU = "nvidia-h200"
# What the figures show: by somebody who saw them.
SHOWN = {
    TECHNIQUES: "Four maps a thread and unrolled loops gain by themselves and together: with the tile, and without constant memory, 2.6 times "
    "the speed in conv1. The tile alone gains nothing: a first-level cache holds the same pixels. Constant memory, which gains 7 to 10 % on the "
    "plain kernel, makes the whole 8 to 14 times slower. No count shows that. The machine code does in part: with tile and maps nvcc "
    "takes each weight for the block's and loads it as ULDC into a register of the whole warp, and every variant that does so is slow; "
    "without the tile it is LDC, one of a thread, and conv1 is as fast as without constant memory. conv2 is not: its weights are "
    "28.8 KB, which the caches for constants next to the schedulers do not hold, and four maps at once read four places of them. "
    "So gains do not multiply, and the best variant leaves constant memory out.",
    BELIEFS: "`++i` is the same machine code to the last bit, and the same time. `__restrict__` changes no more than the sort of the loads, which "
    "become LDG.CONSTANT, of data that nobody writes, and no time. `#pragma unroll` before loops of unknown length makes the code smaller, not "
    "larger: nvcc unrolls the innermost loop several times by itself, and the pragma, which asks for all of it, turns that off; alone that is 9 % "
    "faster. The grid in place of `%` saves two of three divisions, once a thread, beside a sum of 300 terms: it does not pay for threads "
    "without an output at the end of each map. Filters in constant memory make this kernel slower, by a third alone and to half among the "
    "others: 28.8 KB of weights are more than the caches for constants next to the schedulers hold.",
}
MISSING = f"*Not measured yet; on a machine with such a GPU `bench/ablation.py measure BINARY {GPU}` does it.*"


def device_of(name: str) -> str:
    return name if name in ("simt", "cpu") else "cuda"


def measure(binary: str, name: str) -> None:
    device, binary = device_of(name), str(Path(binary).absolute())
    RECORDS.mkdir(parents=True, exist_ok=True)
    os.chdir(ROOT)  # files have the same names everywhere
    ablations = []
    for file in [ON_CPU] if device == "cpu" else [TECHNIQUES, BELIEFS]:
        for layer in LAYERS_OF[file]:
            command = [binary, "ablate", file, "--device", device, "--problem", LAYERS[layer], *OPTIONS[device]]
            if file != BELIEFS and layer == "conv2":
                command += ["-o", f"results/ablation/{name}.svg"]
            ablation = output_of([*command, "--json", "-"])
            ablations.append(ablation)
            print(f"{file} on {layer}: {len(ablation['variants'])} variants", flush=True)
    (RECORDS / f"{name}.json").write_text(json.dumps({"ablations": ablations}, separators=(",", ":")).replace('{"variant"', '\n{"variant"') + "\n")


class Ablations:
    """What was measured in one place."""

    def __init__(self, name: str) -> None:
        path = RECORDS / f"{name}.json"
        self.all = json.loads(path.read_text())["ablations"] if path.exists() else []

    def of(self, file: str, layer: str) -> dict | None:
        found = [each for each in self.all if each["file"] == file and each["problem"].endswith(LAYERS[layer])]
        return found[0] if found else None


def figure(ablation: dict, name: str) -> dict[str, dict]:
    """The effects by switch; none where all variants have the same."""
    found = [each for each in ablation["figures"] if each["figure"] == name]
    return {effect["name"]: effect for effect in found[0]["effects"]} if found else {}


def times(gain: dict | None) -> str:
    if gain is None:
        return "-"
    value = gain["times"]
    text = "to 0" if value is None else "from 0" if value == 0 else f"{value:.2f}"
    return f"{text} ({gain['low']:.2f} to {gain['high']:.2f})" if gain.get("low", value) != gain.get("high", value) else text


def switches(ablation: dict) -> list[str]:
    return table(["switch", "what it is"], [[f"`{each['name']}`", each["what"].replace("_", "\\_")] for each in ablation["switches"]])


def clock(ablation: dict | None, layer: str) -> list[str]:
    """Gains by the clock."""
    if ablation is None:
        return [f"**{layer}**, by the clock: {MISSING}", ""]
    rows = [[f"`{name}`", times(effect.get("alone")), times(effect.get("left_out")), effect["verdict"]]
            for name, effect in figure(ablation, "ms").items()]  # fmt: skip
    none, all_on = (next(each for each in ablation["variants"] if each["variant"] == name) for name in ("none", "all"))
    lines = [f"**{layer}** (`{ablation['problem']}`), by the clock of {ablation['machine']['device']}, {ablation['when'][:10]}: "
             f"none {none['hot_ms']['median']:.3f} ms, all {all_on['hot_ms']['median']:.3f} ms.", "",
             *table(["switch", "alone: times as fast", "left out: times as slow", "verdict"], rows), ""]  # fmt: skip
    entry = ablation["figures"][0]
    if "multiplied" in entry:
        lines += [f"The gains alone, multiplied, would give {entry['multiplied']['times']:.2f}; together they give "
                  f"{entry['together']['times']:.2f}.", ""]  # fmt: skip
    return lines


def counts(ablation: dict, layer: str) -> list[str]:
    """What simt counts: how many times fewer, alone and left out."""
    names = [each["figure"] for each in ablation["figures"]]
    rows = []
    for switch in ablation["switches"]:
        effects = [figure(ablation, name)[switch["name"]] for name in names]
        if all(each[side]["times"] == 1 for each in effects for side in ("alone", "left_out")):
            continue
        rows.append([f"`{switch['name']}`", *[f"{times(each['alone'])}, {times(each['left_out'])}" for each in effects]])
    others = len(ablation["switches"]) - len(rows)
    lines = [f"**{layer}** (`{ablation['problem']}`), counted on simt: how many times fewer alone, and in the end.", "",
             *table(["switch", *names], rows), ""]  # fmt: skip
    return lines + ([f"The other {others} change no count.", ""] if others else [])


CODE = ["instructions", "global loads", "shared loads", "constant loads", "multiply-adds", "integer multiply-adds", "divisions",
        "registers", "spills"]  # fmt: skip


def code(ablation: dict) -> list[str]:
    """The machine code of each switch alone, beside none and all."""
    if "code_of" not in ablation:
        return ["The machine code was not there to be read.", ""]
    variants = {each["variant"]: each for each in ablation["variants"] if "code" in each}
    said = {each["name"]: each.get("code", "") for each in ablation["switches"]}
    rows = [[f"`{name}`" if name in said else name, *[str(variants[name]["code"][each]) for each in CODE], said.get(name, "")]
            for name in ["none", *said, "all"] if name in variants]  # fmt: skip
    return [f"The machine code of the kernel that this layer launches, {ablation['code_of']}: instructions as they stand there, "
            "however often they run.", "", *table(["variant", *CODE, "the switch gives"], rows), ""]  # fmt: skip


def of_gpu_file(title: str, file: str, words: str) -> list[str]:
    simt, gpu = Ablations("simt"), Ablations(GPU)
    lines = [f"## {title}", "", f"`{file}`: {words}", "", *switches(simt.of(file, "conv2")), ""]
    for layer in LAYERS_OF[file]:
        lines += clock(gpu.of(file, layer), layer)
        lines += counts(simt.of(file, layer), layer)
    return [*lines, *code(simt.of(file, "conv2")), SHOWN[file], ""]


def page() -> str:
    picture = GPU if (RECORDS / f"{GPU}.svg").exists() else "simt"
    lines = [
        "# What each optimization gains", "",
        "Reports name several optimizations and one time. `convlab ablate` takes them apart: a kernel file has a switch for each, every",
        "variant is verified, and all are measured in turns. *Alone*: the switch added to none. *Left out*: all but it, against all. A gain",
        "that is there both times adds up; one that is there only alone is cancelled by the others. [How to do it](kernel_files.md#what-each-optimization-gains)",
        "with a file of one's own.", "",
        f"![What each technique gains alone and in the end](../results/ablation/{picture}.svg)", "",
        *of_gpu_file("The course's techniques", TECHNIQUES, "one thread an output, and five techniques on top. Any subset of them is right."),
        *of_gpu_file("What reports believe", BELIEFS, "small changes that reports name as optimizations. Where the machine code is the same, the "
                     "compiler did it already, and no clock can tell the two apart."),
    ]  # fmt: skip
    cpu = Ablations("cpu")
    example = cpu.of(ON_CPU, "conv2")
    if example is not None:
        lines += ["## On a CPU", "", f"`{ON_CPU}`, as an example with a clock that every machine has:", "",
                  *switches(example), "", *clock(example, "conv2")]  # fmt: skip
    lines += ["`bench/ablation.py` measures, and writes this page."]
    return "\n".join(lines) + "\n"


def main() -> int:
    if sys.argv[1:2] == ["measure"]:
        parser = argparse.ArgumentParser(prog="ablation.py measure")
        parser.add_argument("binary", metavar="BINARY")
        parser.add_argument("name", metavar="NAME")
        arguments = parser.parse_args(sys.argv[2:])
        measure(arguments.binary, arguments.name)
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 1 where the page would change")
    return publish({ROOT / "docs" / "ablation.md": page()}, parser.parse_args().check)


if __name__ == "__main__":
    sys.exit(main())

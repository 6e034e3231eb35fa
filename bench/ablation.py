#!/usr/bin/env python3
"""Measures what each of the course's techniques gains and which common beliefs hold, and writes
docs/measured/ablation.md.

    python3 bench/ablation.py measure BINARY NAME     writes results/ablation/NAME.json and its picture, NAME.svg
    python3 bench/ablation.py                         writes docs/measured/ablation.md
    python3 bench/ablation.py --check                 exits with status 1 if the page is out of date

NAME selects the device: `nvidia-h200` (times on this machine's GPU; about two minutes), `simt` (counts, and nvcc's
machine code if nvcc and cuobjdump are installed; no GPU) or `cpu` (times on this machine's CPU, which must be idle).
Each runs `convlab ablate` on files of this folder and fa19's convolutions.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from gpu_common import output_of
from pages import ROOT, publish, read_record, table

RECORDS = ROOT / "results" / "ablation"
LAYERS = {"conv1": "c1h70w70_k12r5s5", "conv2": "c12h33w33_k24r5s5"}
OPTIONS = {"cuda": ["-n", "2000", "--seconds", "0.5", "--samples", "25"], "simt": ["-n", "1"], "cpu": ["-n", "20"]}
TECHNIQUES, BELIEFS, ON_CPU = "bench/techniques.cu", "bench/beliefs.cu", "bench/cpu_techniques.cc"
LAYERS_OF = {TECHNIQUES: ["conv1", "conv2"], BELIEFS: ["conv2"], ON_CPU: ["conv2"]}
GPU = "nvidia-h200"
# What the figures show, written by hand from the measurements.
SHOWN = {
    TECHNIQUES: "Four output channels per thread and unrolled loops gain alone and together: with the tile and without constant memory, the "
    "speedup in conv1 is 2.6. The tile alone gains nothing, because L1 holds the same pixels. Constant memory gains 7 to 10 % on the "
    "basic kernel, but makes the variant with all techniques 8 to 14 times slower. No count shows that. The machine code does in part: with the "
    "tile and four output channels, nvcc treats each weight as uniform for the block and loads it by ULDC into a uniform register, and every "
    "variant that does so is slow. Without the tile nvcc uses LDC, which loads per thread, and conv1 is as fast as without constant memory. conv2 is not: "
    "its weights are 28.8 KB, more than the constant caches next to the schedulers hold, and four output channels at once read from four "
    "addresses. So gains do not multiply, and the fastest variant leaves constant memory out.",
    BELIEFS: "`++i` compiles to the same machine code, bit for bit, and takes the same time. `__restrict__` only changes the kind of the loads, which "
    "become LDG.CONSTANT (read-only data), and not the time. `#pragma unroll` before loops of unknown length makes the code smaller, not "
    "larger: nvcc automatically unrolls the innermost loop several times, and the pragma, which requests full unrolling, turns that off; alone it is 9 % "
    "faster. Using the grid instead of `%` saves two of three divisions once per thread, next to a sum of 300 products: that does not pay for the threads "
    "without an output at the end of each output channel. Filters in constant memory make this kernel slower: to 0.74 of the speed alone, and to half "
    "with the others. 28.8 KB of weights are more than the constant caches next to the schedulers hold.",
}
MISSING = f"*Not measured yet; run `bench/ablation.py measure BINARY {GPU}` on a machine with this GPU.*"
# The page's wording of texts in older Records.
SAYS = {
    "each thread makes four maps, so that it loads a pixel once for all of them": "each thread computes four output channels, so it loads a pixel once for all four",
    "the pixels under a block's outputs are staged in shared memory, channel by channel": "the pixels that a block needs are staged in shared memory, channel by channel",
    "filters come from constant memory, if they fit into its 64 KiB": "filters are read from constant memory if they fit into its 64 KiB",
    "filters in constant memory, if they fit into its 64 KiB": "filters are read from constant memory if they fit into its 64 KiB",
    "loops over the filter are unrolled for sizes that the compiler knows, 5 and 3": "loops over the filter are unrolled for compile-time sizes 5 and 3",
    "const and __restrict__: arrays do not overlap": "const and __restrict__: arrays do not alias",
    "the grid tells image and map: no % and one division by a number of the launch, not six":
        "image and output channel come from the grid: no %, and one division by a run-time value instead of six",
    "#pragma unroll before loops whose length only the launch tells": "#pragma unroll before loops with a run-time length",
    "++i in place of i++": "++i instead of i++",
    "another machine code": "different machine code",
    "same machine code: the compiler does it already": "same machine code: the compiler already does it",
    "in the end": "with the others",
    "nothing once the others are on": "no effect once the others are on",
}


def said(text: str) -> str:
    for old, new in SAYS.items():
        text = text.replace(old, new)
    return text


def device_of(name: str) -> str:
    return name if name in ("simt", "cpu") else "cuda"


def measure(binary: str, name: str) -> None:
    device, binary = device_of(name), str(Path(binary).absolute())
    RECORDS.mkdir(parents=True, exist_ok=True)
    os.chdir(ROOT)  # files have the same names on every machine
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
    """The measurements of one device."""

    def __init__(self, name: str) -> None:
        path = RECORDS / f"{name}.json"
        self.all = read_record(path)["ablations"] if path.exists() else []

    def of(self, file: str, layer: str) -> dict | None:
        found = [each for each in self.all if each["file"] == file and each["problem"].endswith(LAYERS[layer])]
        return found[0] if found else None


def figure(ablation: dict, name: str) -> dict[str, dict]:
    """Returns the effects by switch; empty if all variants have the same value."""
    found = [each for each in ablation["figures"] if each["figure"] == name]
    return {effect["name"]: effect for effect in found[0]["effects"]} if found else {}


def times(gain: dict | None) -> str:
    if gain is None:
        return "-"
    value = gain["times"]
    text = "to 0" if value is None else "from 0" if value == 0 else f"{value:.2f}"
    return f"{text} ({gain['low']:.2f} to {gain['high']:.2f})" if gain.get("low", value) != gain.get("high", value) else text


def switches(ablation: dict) -> list[str]:
    return table(["switch", "what it is"], [[f"`{each['name']}`", said(each["what"]).replace("_", "\\_")] for each in ablation["switches"]])


def clock(ablation: dict | None, layer: str) -> list[str]:
    """Returns the page's table of measured speedups."""
    if ablation is None:
        return [f"**{layer}**, measured time: {MISSING}", ""]
    rows = [[f"`{name}`", times(effect.get("alone")), times(effect.get("left_out")), said(effect["verdict"])]
            for name, effect in figure(ablation, "ms").items()]  # fmt: skip
    none, all_on = (next(each for each in ablation["variants"] if each["variant"] == name) for name in ("none", "all"))
    lines = [f"**{layer}** (`{ablation['problem']}`), measured on {ablation['machine']['device']}, {ablation['when'][:10]}: "
             f"all switches off {none['hot_ms']['median']:.3f} ms, all on {all_on['hot_ms']['median']:.3f} ms.", "",
             *table(["switch", "alone: speedup", "left out: slowdown", "verdict"], rows), ""]  # fmt: skip
    entry = ablation["figures"][0]
    if "multiplied" in entry:
        lines += [f"The product of the speedups alone is {entry['multiplied']['times']:.2f}; the speedup of all together is "
                  f"{entry['together']['times']:.2f}.", ""]  # fmt: skip
    return lines


def counts(ablation: dict, layer: str) -> list[str]:
    """Returns the page's table of simt's counts: the factor by which each switch reduces them, alone and left out."""
    names = [each["figure"] for each in ablation["figures"]]
    rows = []
    for switch in ablation["switches"]:
        effects = [figure(ablation, name)[switch["name"]] for name in names]
        if all(each[side]["times"] == 1 for each in effects for side in ("alone", "left_out")):
            continue
        rows.append([f"`{switch['name']}`", *[f"{times(each['alone'])}, {times(each['left_out'])}" for each in effects]])
    others = len(ablation["switches"]) - len(rows)
    lines = [f"**{layer}** (`{ablation['problem']}`), counted by simt: the factor by which a switch reduces each count, alone and with the others.", "",
             *table(["switch", *names], rows), ""]  # fmt: skip
    return lines + ([f"The other {others} switches change no count.", ""] if others else [])


CODE = ["instructions", "global loads", "shared loads", "constant loads", "multiply-adds", "integer multiply-adds", "divisions",
        "registers", "spills"]  # fmt: skip


def code(ablation: dict) -> list[str]:
    """Returns the page's table of machine code: each switch alone, none and all."""
    if "code_of" not in ablation:
        return ["The machine code was not available.", ""]
    variants = {each["variant"]: each for each in ablation["variants"] if "code" in each}
    verdicts = {each["name"]: said(each.get("code", "")) for each in ablation["switches"]}
    rows = [[f"`{name}`" if name in verdicts else name, *[str(variants[name]["code"][each]) for each in CODE], verdicts.get(name, "")]
            for name in ["none", *verdicts, "all"] if name in variants]  # fmt: skip
    return [f"The machine code of the kernel that this layer launches, {ablation['code_of']}: static counts of instructions, "
            "not how often they run.", "", *table(["variant", *CODE, "effect of the switch"], rows), ""]  # fmt: skip


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
        "For students who report optimizations: what each of several optimizations gains, alone and combined with the others.",
        "",
        "A report usually names several optimizations and one time. `convlab ablate` separates them: a kernel file has a switch for each",
        "optimization, every variant is verified, and all variants are measured interleaved. *Alone*: only this switch on, compared with all off.",
        "*Left out*: all but this switch on, compared with all on. A gain that appears in both adds up; one that appears only alone is cancelled by the others.",
        "[How to do this](../guide/kernel_files.md#what-each-optimization-gains) with your own file.", "",
        f"![What each technique gains, alone and with the others](../../results/ablation/{picture}.svg)", "",
        *of_gpu_file("The course's techniques", TECHNIQUES, "a kernel with one thread per output, and five techniques that can be combined freely."),
        *of_gpu_file("What reports believe", BELIEFS, "small changes that reports call optimizations. If the machine code is the same, the "
                     "compiler already does it, and the time cannot differ."),
    ]  # fmt: skip
    cpu = Ablations("cpu")
    example = cpu.of(ON_CPU, "conv2")
    if example is not None:
        lines += ["## On a CPU", "", f"`{ON_CPU}`, an example that every machine can measure:", "",
                  *switches(example), "", *clock(example, "conv2")]  # fmt: skip
    lines += ["`bench/ablation.py` measures the variants and writes this page."]
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
    parser.add_argument("--check", action="store_true", help="write nothing; exit with status 1 if the page is out of date")
    return publish({ROOT / "docs/measured/ablation.md": page()}, parser.parse_args().check)


if __name__ == "__main__":
    sys.exit(main())

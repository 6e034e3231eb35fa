#!/usr/bin/env python3
"""Writes docs/measured/ladder.md and docs/measured/ladder.svg from the Records of one GPU and each kernel's KernelInfo.

Records are results/FOLDER/*.json, which bench/ladder.sh measured. For each rung the page shows the texts of its
KernelInfo (idea, arithmetic, limits), its Op Times, its speedup over the rung that it changes, and why
(bench/pages/ladder_why.md).

The page also compares the measured steps with those that bench/predictions.py predicted, from
results/predictions/FOLDER.json; bench/pages/ladder_misses.md explains the misses.

    python3 bench/ladder.py                     writes both
    python3 bench/ladder.py --check             exits with status 1 if a file is out of date

Needs only Python.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from statistics import median

from pages import ROOT, publish, read_record, table

KERNELS = ROOT / "convlab" / "kernels"
SIZES = [100, 1000, 10000]
LAYERS = {"conv1": "c1h70w70_k12r5s5", "conv2": "c12h33w33_k24r5s5"}
SEMESTERS = ["fa17-high", "sp18", "fa18", "sp19", "sp19-library", "fa19", "sp25"]
LIBRARY = {"fp32": "cudnn", "tf32": "cudnn.tf32"}
BOUNDS = {"cache": "L2"}  # the page's name for the limit of a Record
REASONS = {"it is bound to a chip, and simt does not run it": "it needs GPU features that simt does not emulate"}


def explanations(file: str = "ladder_why.md") -> dict[str, str]:
    """Returns, by kernel, why each step gained or did not, as written by hand from the measurements."""
    text = (ROOT / "bench/pages" / file).read_text()
    sections = re.split(r"^## `?([^`\n]+)`?$", text, flags=re.MULTILINE)[1:]
    return {name: body.strip() for name, body in zip(sections[::2], sections[1::2], strict=True)}


class Kernel:
    """A kernel's KernelInfo, parsed from its source file."""

    def __init__(self, path: Path) -> None:
        info = re.search(r"constexpr KernelInfo kInfo\{(.*?)\n\};", path.read_text(), re.DOTALL)[1]
        # A text may be several adjacent string literals.
        texts = {
            name: "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"')
            for name, literals in re.findall(r'\.(\w+) =((?:\s*"(?:[^"\\]|\\.)*")+),', info)
        }
        self.path = path
        self.name = texts["name"]
        self.rung = int(re.search(r"\.rung = (\d+)", info)[1])
        self.after = texts.get("after", "")
        self.says = [
            (title, texts[field])
            for title, field in [("Idea", "idea"), ("Threads", "threads"), ("Per output", "cost"), ("Not supported", "refuses"), ("Limited by", "limit")]
            if field in texts
        ]


class Records:
    """Op Times and bounds by kernel and problem."""

    def __init__(self, folder: Path) -> None:
        self.of = {}
        for semester in SEMESTERS:
            file = folder / f"{semester}.json"
            if not file.exists():  # not measured yet
                continue
            for record in read_record(file):
                self.of[record["kernel"], record["problem"]] = record
        self.machine = record["machine"]
        self.build = record["build"]
        self.when = record["when"]

    def has(self, kernel: str) -> bool:
        return any(name == kernel for name, _ in self.of)

    def op_ms(self, kernel: str, layer: str, images: int) -> float | None:
        record = self.of.get((kernel, f"n{images}_{LAYERS[layer]}"))
        return record["op_ms"]["median"] if record else None

    def total(self, kernel: str, images: int = 10000) -> float | None:
        times = [self.op_ms(kernel, layer, images) for layer in LAYERS]
        return None if None in times else sum(times)

    def bound(self, kernel: str) -> float:
        return sum(self.of[kernel, f"n10000_{shape}"]["bound_ms"] for shape in LAYERS.values())

    def math(self, kernel: str) -> str:
        return self.of[kernel, f"n10000_{LAYERS['conv1']}"]["math"]


class Predictions:
    """The predicted effect of each step, from bench/predictions.py, by kernel and problem."""

    SAME = 0.05  # as kSame in convlab/predict/predicted_step.h

    def __init__(self, file: Path) -> None:
        saved = read_record(file) if file.exists() else {"predictions": [], "not_predicted": []}
        self.of = {(step["kernel"], step["problem"]): step for step in saved["predictions"]}
        self.reasons = {step["kernel"]: step["reason"] for step in saved["not_predicted"]}

    @classmethod
    def change(cls, ratio: float) -> str:
        return "faster" if ratio < 1 - cls.SAME else "same" if ratio <= 1 + cls.SAME else "slower"


def ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}" if value < 10 else f"{value:.1f}"


def ratio(over: float | None, under: float | None) -> str:
    return "-" if over is None or under is None else f"{over / under:.2f}"


def ladder_table(kernels: list[Kernel], records: Records) -> list[str]:
    rows = []
    for kernel in kernels:
        if records.op_ms(kernel.name, "conv1", 10000) is None:
            continue
        total, math = records.total(kernel.name), records.math(kernel.name)
        library = LIBRARY.get(math, "cudnn.tf32")
        rows.append([
            f"`{kernel.name}`", math, ms(records.op_ms(kernel.name, "conv1", 10000)),
            ms(records.op_ms(kernel.name, "conv2", 10000)), ratio(records.total("cuda.basic"), total),
            f"{100 * records.bound(kernel.name) / total:.0f}" if total else "-", ratio(records.total(library), total),
        ])
    header = ["kernel", "math", "conv1, ms", "conv2, ms", "speedup over `cuda.basic`", "of roofline bound, %", "speedup over cuDNN"]
    return table(header, rows)


def picture(kernels: list[Kernel], records: Records) -> str:
    """An SVG: a bar for each rung's speedup over the first, and a line for cuDNN's."""
    bars = [(kernel.name, records.math(kernel.name), records.total("cuda.basic") / total) for kernel in kernels
            if kernel.path.parent.name == "ladder" and (total := records.total(kernel.name))]  # fmt: skip
    cudnn = records.total("cuda.basic") / records.total("cudnn")
    height, left, width = 20, 190, 500
    scale = width / max(gain for _, _, gain in bars)
    bottom = 34 + height * len(bars)
    chip = records.machine["device"].split(",")[0]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 {bottom + 26}" font-family="sans-serif" font-size="12">',
        "<title>Speedup over the first rung</title>",
        "<style>text{fill:#24292f}.bar{fill:#3b78c2}.line{stroke:#c2543b;stroke-width:1.5}.note{fill:#c2543b}"
        "@media(prefers-color-scheme:dark){text{fill:#d0d7de}.bar{fill:#5a9be6}.line{stroke:#f0806a}.note{fill:#f0806a}}</style>",
        f'<text x="{left}" y="16" font-weight="bold">Speedup over the first rung: two convolutions, 10000 images, {chip}</text>',
    ]
    for i, (name, math, gain) in enumerate(bars):
        y = 30 + height * i
        lines.append(f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{name}</text>'
                     f'<rect class="bar" x="{left}" y="{y}" width="{gain * scale:.1f}" height="{height - 5}"/>'
                     f'<text x="{left + gain * scale + 5:.1f}" y="{y + 12}">{gain:.1f}{"" if math == "fp32" else f" in {math}"}</text>')  # fmt: skip
    x = left + cudnn * scale
    lines += [
        f'<line class="line" x1="{x:.1f}" y1="24" x2="{x:.1f}" y2="{bottom}"/>',
        f'<text class="note" x="{x + 5:.1f}" y="{bottom + 12}">cuDNN in fp32: {cudnn:.1f}</text>',
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def rung_section(kernel: Kernel, records: Records, why: dict[str, str]) -> list[str]:
    lines = [f"## {kernel.rung}. `{kernel.name}`", "", f"Source: `{kernel.path.relative_to(ROOT)}`", ""]
    lines += [f"- {title}: {text}" for title, text in kernel.says] + [""]
    reason = ["", why.get(kernel.name, "Not explained yet."), ""]
    if not records.has(kernel.name):
        return [*lines, "Not measured yet.", *reason]
    rows = []
    for layer in LAYERS:
        times = [records.op_ms(kernel.name, layer, images) for images in SIZES]
        before = records.op_ms(kernel.after, layer, 10000) if kernel.after else None
        record = records.of.get((kernel.name, f"n10000_{LAYERS[layer]}"))
        share = [f"{100 * record['share']:.0f}", BOUNDS.get(record["limit"], record["limit"])] if record else ["-", "-"]
        rows.append([layer, *map(ms, times), ratio(before, times[-1]), *share])
    after = f"speedup over `{kernel.after}`" if kernel.after else "speedup over the previous rung"
    lines += table(["layer", *[f"{size} images, ms" for size in SIZES], after, "of roofline bound, %", "bound by"], rows)
    return lines + reason


def predicted_section(kernels: list[Kernel], records: Records, predictions: Predictions) -> list[str]:
    """Returns the page's section on the steps that simt counts, predicted and measured, including steps not measured
    yet.
    """
    why = explanations("ladder_misses.md")
    rows, right, misses, off = [], 0, [], []  # off: the factors by which predicted and measured ratios differ
    for kernel in kernels:
        for layer, shape in LAYERS.items():
            step = predictions.of.get((kernel.name, f"n10000_{shape}"))
            if step is None:
                continue
            then, now = records.op_ms(step["from"], layer, 10000), records.op_ms(kernel.name, layer, 10000)
            row = [f"`{kernel.name}`", f"`{step['from']}`", layer, f"{step['ratio']:.2f}"]
            said = Predictions.change(step["ratio"])
            if then is None or now is None:
                rows.append([*row, "not measured yet", said, "", step["limit"]])
                continue
            seen = Predictions.change(now / then)
            right += said == seen
            off.append(max(step["ratio"] * then / now, now / then / step["ratio"]))
            if said != seen:
                misses.append(f"- `{kernel.name}`, {layer}: predicted {said} ({step['ratio']:.2f}), measured {seen} ({now / then:.2f}). "
                              + why.get(f"{kernel.name}, {layer}", "Not explained yet."))  # fmt: skip
            rows.append([*row, f"{now / then:.2f}", said, seen if said == seen else f"**{seen}**", step["limit"]])
    if not rows:
        return []
    lines = ["## Predicted and measured", ""]
    if off:
        lines += [f"The prediction of faster, same (within {100 * Predictions.SAME:.0f} %) or slower is right for {right} of {len(off)} measured steps, {100 * right / len(off):.0f} %. The size of the",
                  f"effect is less accurate: half of the predicted ratios are off by a factor of {median(off):.2f} or more, the worst by {max(off):.1f}.", ""]  # fmt: skip
    lines += [why["What the predictions are"].replace("../../docs/guide/", "../guide/"), "",
              "Ratios are the kernel's time over the time of the kernel that it changes.", "",
              *table(["kernel", "compared with", "layer", "predicted ratio", "measured ratio", "predicted", "measured", "predicted limit"], rows)]  # fmt: skip
    if misses:
        lines += ["", "The misses:", "", *misses]
    not_counted = {kernel: reason for kernel, reason in predictions.reasons.items() if any(each.name == kernel for each in kernels)}
    lines += ["", *[f"- `{kernel}` is not predicted: {REASONS.get(reason, reason)}." for kernel, reason in not_counted.items()]]
    return [*lines, ""]


def all_semesters(kernels: list[Kernel], records: Records) -> list[str]:
    problems = sorted({problem for _, problem in records.of if problem.startswith("n10000_")})
    header = ["kernel", *[problem.removeprefix("n10000_") for problem in problems]]
    rows = []
    for kernel in kernels:
        if not records.has(kernel.name):
            continue
        found = [records.of.get((kernel.name, problem)) for problem in problems]
        rows.append([f"`{kernel.name}`", *[ms(record["op_ms"]["median"]) if record else "-" for record in found]])
    return table(header, rows)


def page(kernels: list[Kernel], records: Records, predictions: Predictions) -> str:
    lines = [
        "# The ladder", "",
        "For students who optimize a convolution: what each rung's idea gains on a GPU, and why. Every rung is one CUDA kernel that changes one",
        "idea of an earlier rung.", "",
        "![Speedup of each rung over the first](ladder.svg)", "",
        "All rungs read fp32 images in nchw and write fp32 output channels in nchw; conversions and transforms inside a rung count in its",
        "time. Op Time is the host's clock around launch and wait, as the course measured it; times are medians. \"Of roofline bound\": the least",
        "time that this machine needs to move each array once or to do the arithmetic, divided by the measured time.",
        "[What each optimization gains](ablation.md) measures techniques alone and combined, and tests common beliefs about such kernels.", "",
        f"Measured on: {records.machine['device']}; driver {records.machine['driver']}; CUDA {records.build['cuda']}; {records.when[:10]}. "
        "`bench/ladder.sh` measures, and `bench/ladder.py` writes this page.", "",
        *ladder_table(kernels, records), "",
    ]
    lines += predicted_section(kernels, records, predictions)
    why = explanations()
    for kernel in kernels:
        lines += rung_section(kernel, records, why)
    lines += ["## All semesters", "", "Op Time in ms, 10000 images, by the convolution's shape.", "", *all_semesters(kernels, records)]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", default="nvidia-h200", help="folder under results/")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with status 1 if a file is out of date")
    arguments = parser.parse_args()
    records = Records(ROOT / "results" / arguments.records)
    kernels = [Kernel(path) for path in [*KERNELS.glob("ladder/*.cu"), *(KERNELS / "libraries" / name for name in ("cudnn.cc", "cudnn_tf32.cc"))]]
    kernels.sort(key=lambda kernel: (kernel.rung, kernel.name))
    target = ROOT / "docs/measured/ladder.md"
    if arguments.check and target.exists():  # skip kernels that are not measured yet
        known = target.read_text()
        kernels = [kernel for kernel in kernels if f"`{kernel.name}`" in known or records.total(kernel.name) is not None]
    predictions = Predictions(ROOT / "results" / "predictions" / f"{arguments.records}.json")
    return publish({target: page(kernels, records, predictions), ROOT / "docs/measured/ladder.svg": picture(kernels, records)}, arguments.check)


if __name__ == "__main__":
    sys.exit(main())

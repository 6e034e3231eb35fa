"""The labs of public repositories of courses, as cuda_suites.py runs them: the programs, each with data sets.

A repository's labs bring their data sets; others get those of a lab with the same problem, or small ones made here.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from cuda_programs import Program

SETS = 4  # data sets of a lab that it runs with, at most

# The labs of the course by number: the files of a data set, in the order of the arguments, and the type of the result.
VECTORS = ["input0.raw", "input1.raw"]
LABS = {
    0: None,
    1: (VECTORS, "output.raw", "vector"),
    2: (VECTORS, "output.raw", "vector"),
    3: (VECTORS, "output.raw", "vector"),
    4: (["input.dat", "kernel.dat"], "output.dat", "vector"),
    5: (["input0.raw"], "output.raw", "vector"),
    6: (["input.raw"], "output.raw", "vector"),
    7: (["input.ppm"], "output.ppm", "image"),
    8: (["col.raw", "row.raw", "data.raw", "vec.raw"], "output.raw", "vector"),
    "image": (["input.ppm", "mask.raw"], "output.ppm", "image"),
}
# Labs of other courses with the same problem.
NAMES = {
    "vector_addition": 1, "vecAddition_streams": 1, "basic_matrix_multiplication": 2, "tiled_matrix_multiplication": 3,
    "image_convolution": "image", "improved_reduction": 5, "improved_list_scan": 6, "histogram": 7,
}  # fmt: skip


def number_of(source: Path) -> int | str | None:
    """Which of LABS a program is: from MP3/template.cu, lab3.cu, mp3_tiled_sgemm.cu, or its name."""
    if found := re.search(r"(?:MP|lab|mp)(\d)", f"{source.parent.name}/{source.name}"):
        return int(found[1])
    return NAMES.get(source.stem)


def write_values(path: Path, values: list[float], first: str = "") -> None:
    path.write_text((first or str(len(values))) + "\n" + "\n".join(f"{value:g}" for value in values) + "\n")


def make_volume(folder: Path, z: int, y: int, x: int) -> None:
    """Lab 4: a filter of 3 x 3 x 3 over a volume, zero around it. The first three values are its extents."""
    volume = [(7 * i % 11) / 2 for i in range(z * y * x)]
    kernel = [(5 * i % 7 - 3) / 4 for i in range(27)]
    at = lambda k, j, i: volume[(k * y + j) * x + i] if 0 <= k < z and 0 <= j < y and 0 <= i < x else 0  # noqa: E731
    offsets = list(itertools.product((-1, 0, 1), repeat=3))
    output = [
        sum(weight * at(k + dk, j + dj, i + di) for weight, (dk, dj, di) in zip(kernel, offsets, strict=True))
        for k, j, i in itertools.product(range(z), range(y), range(x))
    ]
    folder.mkdir(parents=True, exist_ok=True)
    write_values(folder / "input.dat", [z, y, x, *volume])
    write_values(folder / "kernel.dat", kernel)
    write_values(folder / "output.dat", [z, y, x, *output])


def make_image(folder: Path, width: int, height: int) -> None:
    """A filter of 5 x 5 over each channel of an image, zero around it, clamped to [0, 1]."""
    image = [(37 * i % 256) for i in range(width * height * 3)]
    mask = [((3 * i) % 5) / 64 for i in range(25)]

    def filtered(y: int, x: int, channel: int) -> int:
        total = 0.0
        for (j, i), weight in zip(itertools.product(range(-2, 3), repeat=2), mask, strict=True):
            if 0 <= y + j < height and 0 <= x + i < width:
                total += weight * image[((y + j) * width + x + i) * 3 + channel] / 255
        return int(min(max(total, 0), 1) * 255)

    output = [filtered(y, x, channel) for y, x, channel in itertools.product(range(height), range(width), range(3))]
    folder.mkdir(parents=True, exist_ok=True)
    head = f"P6\n{width} {height}\n255\n".encode()
    (folder / "input.ppm").write_bytes(head + bytes(image))
    (folder / "output.ppm").write_bytes(head + bytes(output))
    write_values(folder / "mask.raw", mask, "5 5")


def data_sets(root: Path, source: Path, lab: int | str) -> list[Path]:
    """The folders of a lab's data sets: its own, another repository's, or made ones."""
    made = root / "made" / str(lab)
    if lab == 4:
        make_volume(made / "0", 5, 9, 18)
        make_volume(made / "1", 8, 8, 8)
    elif lab == "image":
        make_image(made / "0", 40, 27)
    own = source.parent / "data"
    others = [path / "data" for path in sorted(root.rglob(f"MP{lab}")) if (path / "data").is_dir()]
    folder = next(each for each in [made, own, *others] if each.is_dir())
    return sorted(path for path in folder.iterdir() if path.is_dir())[:SETS]


def labs(root: Path) -> list[Program]:
    every = []
    for source in sorted(root.rglob("*.cu")):
        lab = number_of(source)
        text = source.read_text(errors="replace")
        if lab not in LABS or not re.search(r"\bmain\s*\(", text):
            continue
        runs: list[list[str]] = [[]]
        if LABS[lab] is not None:
            inputs, output, kind = LABS[lab]
            runs = [["-i", ",".join(str(folder / each) for each in inputs), "-e", str(folder / output), "-t", kind]
                    for folder in data_sets(root, source, lab)]  # fmt: skip
        every.append(Program(str(source.relative_to(root).with_suffix("")), [source], source.parent, [], runs))
    return every

"""Helpers for the scripts that write documents from saved measurements, and that check them."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# A cell that starts with a number: 0.256, 1,332,936, 2.2e-02, 65 %, 0.256 (2.01), 0.28 / 0.59, 195 of 257 (76 %).
NUMBER = re.compile(r"[\d.,]+(e[-+]\d+)?( ?%)?( [(/o].*)?")


# Kernels' former names, which older measurements have, and their present names.
PRESENT = dict(re.findall(r'\{"([\w.]+)", "([\w.]+)"\}', (ROOT / "convlab/kernels/former_names.cc").read_text()))


def read_record(path: Path) -> list | dict:
    """The content of a file of measurements, with the present names of kernels."""
    return json.loads(re.sub(r'"(cpu|cuda)\.\w+"', lambda name: f'"{PRESENT.get(name[0][1:-1], name[0][1:-1])}"', path.read_text()))


def between(text: str, name: str, lines: list[str]) -> str:
    """A document with `lines` between its markers `<!-- NAME: ... -->` and `<!-- NAME: to here -->`."""
    begin, end = f"<!-- {name}: ", f"<!-- {name}: to here -->"
    before, rest = text.split(begin, 1)
    mark, rest = rest.split(" -->", 1)
    return "\n".join([f"{before}{begin}{mark} -->", "", *lines, "", end]) + rest.split(end, 1)[1]


def publish(wanted: dict[Path, str], check: bool) -> int:
    """Writes the files that differ from what is wanted. With `check`, writes nothing and returns 1 if a file differs."""
    changed = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    for path in changed:
        print(f"{path.relative_to(ROOT)}: {'out of date; rerun the script without --check' if check else 'written'}")
        if not check:
            path.write_text(wanted[path])
    return int(check and bool(changed))


def table(header: list[str], rows: list[list[str]]) -> list[str]:
    """A Markdown table. Columns of numbers are right-aligned."""
    columns = [[row[at] for row in rows if row[at] not in ("", "-")] for at in range(len(header))]
    rule = "".join("---:|" if column and all(NUMBER.fullmatch(cell) for cell in column) else "---|" for column in columns)
    return ["| " + " | ".join(header) + " |", "|" + rule] + ["| " + " | ".join(row) + " |" for row in rows]

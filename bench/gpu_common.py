"""Code shared by the measurements on GPUs: running convlab, and writing times."""

from __future__ import annotations

import json
import subprocess
from datetime import datetime, timezone
from pathlib import Path

from pages import read_record


def text_of(command: list[str], accepted: tuple[int, ...] = (0,)) -> str:
    """Returns a command's output. Exit statuses other than `accepted` end the program."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in accepted:
        raise SystemExit(f"{' '.join(command)}\nexit status {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def output_of(command: list[str], accepted: tuple[int, ...] = (0,)) -> list | dict:
    """Returns the result of a convlab command with `--json -`. Errors are handled as in text_of()."""
    return json.loads(text_of(command, accepted))


def rows_of(path: Path) -> list[dict]:
    """Returns the rows of a file of measurements; none if the file does not exist."""
    return read_record(path)["rows"] if path.exists() else []


def with_row(rows: list[dict], row: dict, *keys: str) -> list[dict]:
    """Returns the rows plus this one, which replaces a row with the same keys."""
    return [each for each in rows if any(each[key] != row[key] for key in keys)] + [row]


def now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def ms(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"

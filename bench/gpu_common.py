"""What the measurements on GPUs share: running convlab, and writing times."""

from __future__ import annotations

import json
import subprocess
from datetime import datetime, timezone
from pathlib import Path


def text_of(command: list[str], accepted: tuple[int, ...] = (0,)) -> str:
    """What a command prints. Exit statuses other than `accepted` end the program."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in accepted:
        raise SystemExit(f"{' '.join(command)}\nexit status {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def output_of(command: list[str], accepted: tuple[int, ...] = (0,)) -> list | dict:
    """The result of a convlab command with `--json -`. Errors as text_of()."""
    return json.loads(text_of(command, accepted))


def rows_of(path: Path) -> list[dict]:
    """The rows of a file of measurements; none where there is no file."""
    return json.loads(path.read_text())["rows"] if path.exists() else []


def with_row(rows: list[dict], row: dict, *keys: str) -> list[dict]:
    """The rows and this one, in the place of the one that has the same keys."""
    return [each for each in rows if any(each[key] != row[key] for key in keys)] + [row]


def now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def ms(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"

"""What the measurements on GPUs share: running convlab, and writing times."""

from __future__ import annotations

import json
import subprocess
from datetime import datetime, timezone


def output_of(command: list[str], accepted: tuple[int, ...] = (0,)) -> list | dict:
    """The result of a convlab command with `--json -`. Exit statuses other than `accepted` end the program."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in accepted:
        raise SystemExit(f"{' '.join(command)}\nexit status {done.returncode}: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout)


def now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def ms(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"

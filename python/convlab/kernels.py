"""Kernels verified and timed by the program, in a process of its own: whatever one does, the interpreter goes on."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from convlab.errors import Error
from convlab.program import program

RIGHT, WRONG = 0, 1  # the program's exit status where there is a result
FAILED = 4
SUFFIXES = {".cu", ".cuh", ".cc", ".cpp", ".cxx", ".c", ".h", ".hpp"}


def verify(kernel: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
    """What `convlab verify --json` finds: of a kernel a dict whose "cases" each have "problem" and "result", "PASSED",
    "FAILED" or "SKIPPED"; of a file a dict whose "files" has it with "verdict", "reason" and its "cases". A wrong
    kernel, or one that crashes, is a result, too.

    kernel: a name such as "cpu.direct", with * for any text, or a file's path.
    options: those of the command: device="simt", problem="n1_c6h22w22_k16r5s5", images=10, time_limit=60 (seconds), ...
    Error: the file does not compile, or an option is wrong (status 2), or the device is not there (3).
    """
    return _answer("verify", kernel, options)


def bench(kernel: str | os.PathLike[str], **options: Any) -> list[dict[str, Any]]:
    """What `convlab bench --json` measures of a kernel, or of a file with one: a dict for each kernel and problem, with
    times in milliseconds ("hot_ms", "cold_ms", "op_ms": each with "median", "min", "p95" and "samples") and "gflops",
    1e9 operations a second.

    kernel, Error: as in verify().
    options: those of the command: problem="n10_c12h33w33_k24r5s5", images=[16, 20], seconds=0.1, sweep=True, ...
    """
    return _answer("bench", kernel, options)


def _is_file(kernel: str | os.PathLike[str]) -> bool:
    return isinstance(kernel, os.PathLike) or os.sep in kernel or Path(kernel).suffix in SUFFIXES


def _words(options: dict[str, Any]) -> list[str]:
    words = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if isinstance(value, (list, tuple)):
            words.append(",".join(map(str, value)))
        elif value is not True:
            words.append(str(value))
    return words


def _answer(command: str, kernel: str | os.PathLike[str], options: dict[str, Any]) -> Any:
    which = [os.fspath(kernel)] if _is_file(kernel) else ["--kernel", kernel]
    try:
        ended = subprocess.run([program(), command, *which, *_words(options), "--json", "-"], stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, errors="backslashreplace")
    except (OSError, ValueError) as error:
        raise Error(f"cannot start convlab {command}: {error}", FAILED) from error
    if ended.returncode in (RIGHT, WRONG):
        return json.loads(ended.stdout)
    if ended.returncode < 0:
        raise Error(f"convlab {command} was terminated by signal {-ended.returncode}", FAILED)
    raise Error(_reason(ended), ended.returncode)


def _reason(ended: subprocess.CompletedProcess[str]) -> str:
    """Why there is no result: of a file in what was written of it, else in the complaint."""
    try:
        return "\n".join(file["reason"] for file in json.loads(ended.stdout)["files"])
    except (ValueError, KeyError, TypeError):
        return ended.stderr.strip().removeprefix("convlab: error: ")

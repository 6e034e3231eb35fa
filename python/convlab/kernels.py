"""Verifies and times kernels by running the convlab program in a child process, so no kernel can crash Python."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from convlab.errors import Error
from convlab.program import program

RIGHT, WRONG = 0, 1  # exit statuses of the program that come with a result
FAILED = 4
SUFFIXES = {".cu", ".cuh", ".cc", ".cpp", ".cxx", ".c", ".h", ".hpp"}


def verify(kernel: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
    """Returns the result of `convlab verify --json`. For a built-in kernel, it is a dict whose "cases" each have
    "problem" and "result" ("PASSED", "FAILED" or "SKIPPED"). For a file, it is a dict whose "files" has one entry with
    "verdict", "reason" and "cases". A wrong or crashing kernel is a result, not an error.

    kernel: a name such as "cpu.direct", with * for any text, or the path of a kernel file.
    options: the command's options: device="simt", problem="n1_c6h22w22_k16r5s5", images=10, time_limit=60 (seconds)...
    Raises Error if the file does not compile or an option is wrong (status 2), or the device is not available (3).
    """
    return _answer("verify", kernel, options)


def bench(kernel: str | os.PathLike[str], **options: Any) -> list[dict[str, Any]]:
    """Returns the measurements of `convlab bench --json` for a kernel or a kernel file: a dict for each kernel and
    problem, with times in milliseconds ("hot_ms", "cold_ms", "op_ms": each with "median", "min", "p95" and "samples")
    and "gflops", 1e9 floating-point operations per second.

    kernel, Error: as in verify().
    options: the command's options: problem="n10_c12h33w33_k24r5s5", images=[16, 20], seconds=0.1, sweep=True, ...
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
    """Returns why there is no result: a file's "reason" in the JSON output, otherwise the text on standard error."""
    try:
        return "\n".join(file["reason"] for file in json.loads(ended.stdout)["files"])
    except (ValueError, KeyError, TypeError):
        return ended.stderr.strip().removeprefix("convlab: error: ")

"""Runs a program of a suite on a GPU, and compares its output elsewhere without what it says of time and machine."""

from __future__ import annotations

import dataclasses
import re
import tempfile
from itertools import zip_longest
from pathlib import Path

from cuda_programs import Program
from suite_runs import build, execute, verdict_of

LIBRARIES = ["-lcublas", "-lcublasLt", "-lcufft", "-lcurand", "-lcusparse", "-lcuda", "-lgomp"]
MOST_OUTPUT = 20_000  # characters that are kept and compared

# Lines that differ from run to run: times, rates, names of devices, addresses.
VOLATILE = re.compile(
    r"time|second|\bsec\b|elapsed|duration|latency|throughput|bandwidth|speed|flop|\d\s*[munµ]?s\b|[KMGT]i?B/s|per s|/s\b"
    r"|cycles|clock|device|gpu|sm_|\bMP\b|\bSM\b|compute capability|multiprocessor|driver|nvidia|0x[0-9a-f]{6,}|memory|rate\b|average|/tmp/"
    r"|memcopy|streamed|kernel:|buffer size|MLUPS|OS_|OS Info|CPUs|executing on|\bTOPS\b|\d streams:",
    re.IGNORECASE,
)
# The heading of a table of rates or times, and the table's lines: only numbers, and the names of its columns.
TABLE = re.compile(r"(MLUPS|\([GM]B/s\)|\([mu]s\))$")
IN_TABLE = re.compile(r"[\d\s.]+|(D\\D|[CG]PU)[\d\s]+")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
TOLERANCE = 2e-3  # relative: functions of math and orders of summation differ


def lines_of(output: str) -> list[str]:
    lines, in_table = [], False
    for line in filter(None, map(str.strip, output.splitlines())):
        in_table = bool(TABLE.search(line)) or (in_table and bool(IN_TABLE.fullmatch(line)))
        if not in_table and not VOLATILE.search(line):
            lines.append(line)
    return lines


def same_line(a: str, b: str) -> bool:
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    pairs = zip(map(float, NUMBER.findall(a)), map(float, NUMBER.findall(b)), strict=True)
    return all(abs(x - y) <= TOLERANCE * max(abs(x), abs(y), 1e-3) for x, y in pairs)


def first_difference(output: str, on_gpu: str) -> str | None:
    """The first line that differs, as "LINE, on the GPU LINE"."""
    for a, b in zip_longest(lines_of(output), lines_of(on_gpu), fillvalue=""):
        if not same_line(a, b):
            return f"{a[:100]!r}, on the GPU {b[:100]!r}"
    return None


def run_on_gpu(nvcc: str, program: Program, limit_s: float) -> dict:
    """Compiles and runs a program on this machine's GPU: what became of it, and its output."""
    native = dataclasses.replace(program, options=[*program.options, *LIBRARIES])
    with tempfile.TemporaryDirectory() as folder:
        error = build([nvcc, "-w", "-O3", "-arch=native", "-rdc=true"], native, Path(folder), 4 * limit_s)
        if error is not None:
            return {"compile_error": error}
        result, output = {"compile_error": None, "status": 0, "timed_out": False}, ""
        for arguments in program.runs:
            status, more, _, late = execute([str(Path(folder) / "program"), *arguments], program.folder, limit_s)
            output += more
            result["status"] = max(result["status"], status, key=abs)
            result["timed_out"] |= late
    return {**result, "verdict": verdict_of(output, result["status"]), "output": output[:MOST_OUTPUT]}


def difference(result: dict, output: str, gpu: dict) -> str | None:
    """How a run differs from that on a GPU: in its end, its verdict on itself, or its output."""
    status = 0 if result["findings"] and result["status"] == 1 else result["status"]  # 1 says that there are findings
    if result["timed_out"]:
        return "timeout"
    if (status == 0) != (gpu["status"] == 0):
        return f"status {status}, on the GPU {gpu['status']}"
    verdict = verdict_of(output, status)
    if verdict != gpu["verdict"]:
        return f"{verdict}, on the GPU {gpu['verdict']}"
    return None if verdict == "passed" else first_difference(output[:MOST_OUTPUT], gpu["output"])

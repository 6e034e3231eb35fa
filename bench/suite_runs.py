"""Compiles and runs one program of a public suite, and reads what it says of itself."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

from cuda_programs import Program

FAILED = re.compile(r"\bFAIL(ED|URE)?\b|\bmismatch|(?<!\b0 )\bincorrect\b|differs from|\bTest failed", re.IGNORECASE)
PASSED = re.compile(r"\bPASS(ED)?\b|\bSUCCESS(FUL|FULLY)?\b|results? match(es)?\b|\bcorrect\b|Verified|\bok\b", re.IGNORECASE)
COMPILE_ERROR = re.compile(r"^(?:\S+?:\d+:\d+: )(?:fatal )?error: (.*)$|^error: (.*)$|^convlab: (.*)$", re.MULTILINE)
LINK_ERROR = re.compile(r"(undefined reference to .*)$|(cannot find .*)$|(multiple definition of .*?);", re.MULTILINE)


def execute(command: list[str], folder: Path, limit_s: float) -> tuple[int, str, str, bool]:
    """Returns the status, standard output, standard error, and whether the program was ended because of its time."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaint:
        child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=complaint, start_new_session=True)
        try:
            status, late = child.wait(limit_s), False
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 9)
            status, late = child.wait(), True
        texts = []
        for stream in (output, complaint):
            stream.seek(0)
            texts.append(stream.read(1 << 20).decode(errors="replace"))
    return status, texts[0], texts[1], late


def verdict_of(output: str, status: int) -> str:
    """What the program says of itself."""
    if FAILED.search(output):
        return "failed"
    if PASSED.search(output):
        return "passed"
    return "none" if status == 0 else "failed"


def changed(program: Program, folder: Path) -> list[Path]:
    """Copies of a program's sources with each text replaced by another; headers beside them only if they change."""
    headers = [path for path in program.folder.rglob("*") if re.fullmatch(r"\.(h|hpp|cuh|inc)", path.suffix) and path.is_file()]
    for path in [*program.sources, *headers]:
        before = path.read_text(errors="replace")
        text = before
        for old, new in program.changes:
            text = text.replace(old, new)
        if text != before or path in program.sources:
            (folder / path.name).write_text(text)
    return [folder / source.name for source in program.sources]


def build(compiler: list[str], program: Program, folder: Path, limit_s: float) -> str | None:
    """Compiles to folder/program with nvcc's options. Returns the first error."""
    sources, options = program.sources, program.options
    if program.text:
        sources = [folder / "driver.cu"]
        sources[0].write_text(program.text)
    elif program.changes:
        sources = changed(program, folder)
        options = ["-I", str(program.folder), "-I", str(program.sources[0].parent), *options]
    command = [*compiler, *map(str, sources), *options, "-o", str(folder / "program")]
    status, _, complaint, late = execute(command, program.folder, limit_s)
    if late:
        return "does not compile in time"
    if status == 0:
        return None
    found = LINK_ERROR.search(complaint) or COMPILE_ERROR.search(complaint)
    lines = complaint.strip().splitlines() or [f"exit status {status}"]
    return next((each for each in found.groups() if each), lines[0]) if found else lines[0]

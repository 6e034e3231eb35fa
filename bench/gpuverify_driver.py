"""Makes programs from the kernels of GPUVerify's testsuite, which have no main()."""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path

ELEMENTS_BYTES = 1 << 22  # of each array
MOST_THREADS = 1024  # of a block: some kernels ask for more than a GPU has

# GPUVerify's annotations, which speak to its prover. __assert and __assume are conditions of the running program.
HEAD = """#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#undef __assert
#define __assert(...) do { if (!(__VA_ARGS__)) { printf("assertion failed\\n"); __trap(); } } while (0)
#define __assume(...) do { if (!(__VA_ARGS__)) return; } while (0)
#define __requires(...) static_cast<void>(0)
#define __ensures(...) static_cast<void>(0)
#define __invariant(...) static_cast<void>(0)
#define __global_invariant(...) static_cast<void>(0)
#define __requires_fresh_array(...) static_cast<void>(0)
#define __axiom(...)
#define __implies(a, b) (!(a) || (b))
"""


@dataclasses.dataclass
class Driver:
    text: str
    options: list[str]  # -D and -I of the file's own command line
    fault: str | None  # what the file says is wrong: race, barrier, assert, "" (nothing), None (cannot be run as meant)


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)


def dimension(head: str, name: str) -> str:
    found = re.search(rf"--{name}=\[?([\d,]+)", head)
    numbers = [int(each) for each in found[1].split(",")] if found else [1]
    if name == "blockDim":
        while math.prod(numbers) > MOST_THREADS:
            numbers[numbers.index(max(numbers))] //= 2
    return f"dim3({', '.join(map(str, numbers))})"


def arguments_of(text: str) -> list[str]:
    """Splits a list at its commas outside of brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "(<[") - (sign in ")>]")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip() and part.strip() != "void"]


def fault_of(head: str, simple: bool) -> str | None:
    if re.search(r"^//\s*pass", head, re.IGNORECASE):
        return "" if simple else None
    if not re.search(r"NOT_ALL_VERIFIED", head) or not simple or re.search("null pointer|constant memory|0-sized|invariant", head):
        return None
    if re.search(r"race|racy|Write by thread|Read by thread", head):
        return "race"
    if "barrier" in head:
        return "barrier"
    return None


def driver_of(path: Path) -> Driver | None:
    """A program that launches the file's last kernel; None if it has none."""
    source = path.read_text(errors="replace")
    head = "\n".join(line for line in source.splitlines()[:12] if line.startswith("//"))
    code = without_comments(source)
    kernels = list(re.finditer(r"__global__\s+(?:__launch_bounds__\([^)]*\)\s*)?void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\(", code))
    if not kernels:
        return None
    kernel = kernels[-1]
    depth, end = 1, kernel.end()
    while end < len(code) and depth:
        depth += (code[end] == "(") - (code[end] == ")")
        end += 1
    values, lines, simple = [], [], not re.search("nondet|__axiom", code)
    for at, parameter in enumerate(arguments_of(code[kernel.end() : end - 1])):
        name = re.search(r"(\w+)\s*(?:\[\w*\]\s*)*$", parameter)
        kind = parameter[: name.start()].strip() if name else parameter
        own = name[1] if name else ""
        fixed = re.search(rf"__requires\(\s*{own}\s*==\s*(\w+)", code)
        if "*" in kind or "[" in parameter:
            lines += [f"  void* array{at} = nullptr;", f"  cudaMalloc(&array{at}, {ELEMENTS_BYTES});",
                      f"  cudaMemset(array{at}, 0, {ELEMENTS_BYTES});"]  # fmt: skip
            kind = re.sub(r"\bconst\b|\bvolatile\b|__restrict(__)?\b", "", kind)
            values.append(f"static_cast<{kind + ('*' if '[' in parameter else '')}>(array{at})")
        elif re.search(r"\b(int|unsigned|size_t|float|double|char|short|long|bool|uint)\b", kind):
            values.append(fixed[1] if fixed else "1")
        else:
            simple = False
            values.append(fixed[1] if fixed else "{}")
    # Tools that prove treat each value of a scalar; a run has one.
    text = [HEAD, f'#line 1 "{path}"', source, '#line 1 "driver"', "int main() {", *lines,
            f"  {kernel[1]}<<<{dimension(head, 'gridDim')}, {dimension(head, 'blockDim')}>>>({', '.join(values)});",
            "  const cudaError_t error = cudaDeviceSynchronize();",
            "  if (error != cudaSuccess) std::printf(\"%s\\n\", cudaGetErrorString(error));",
            "  return error != cudaSuccess;", "}", ""]  # fmt: skip
    return Driver("\n".join(text), re.findall(r"-D\S+", head), fault_of(head, simple))

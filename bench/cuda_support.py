"""Decides whether simt supports a CUDA name, from the headers that it offers to kernel files, for bench/cuda_usage.py.

A name counts as supported if the headers declare it, with any of its overloads. Names in headers called
*_absent.h do not: their calls are refused.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from cuda_names import closing
from pages import ROOT

HEADERS = ROOT / "convlab/kernel_file/simt_include"
RARE = "names of one program"  # stands for all that no other program uses, and that were not supported when they were counted
FOLDERS = [ROOT / "convlab/simt", HEADERS]

# Features that no name shows: text of the sources that support them; None: not supported.
FEATURES = {
    "launch with <<<...>>>": r"Configuration convlab_launch\(dim3 grid", "launch with a stream": r"convlab_launch\([^)]*cudaStream_t stream",
    "template kernel": r"binder_name\(", "__device__ variable": r"device_sections\(", "extern __shared__": r"struct DynamicShared",
    "volatile __shared__": r"#define __shared__", "__device__ lambda": r"#define __device__\n", "lambda in device code": r"#define __device__\n",
    "virtual __device__ function": r"#define __device__\n", "printf in device code": r"--wrap=printf", "assert in device code": r"--wrap=__assert_fail|__wrap___assert_fail",
    "malloc or new in device code": r"set_device_heap_bytes\(", "clock in device code": r"--wrap=clock", "texture reference": r"struct texture\b", "surface reference": r"struct surface\b",
    "launch in device code": None, "runtime API in device code": None, RARE: None,
}  # fmt: skip


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)


def expanded(text: str) -> set[str]:
    """Returns the identifiers of a header, and those that its macros make with ##."""
    names = set(re.findall(r"[A-Za-z_]\w*", text))
    for macro in re.finditer(r"#[ \t]*define[ \t]+(\w+)\(([^)]*)\)((?:\\\n|[^\n])*)", text):
        parameters, pasted = [each.strip() for each in macro[2].split(",")], re.findall(r"\w+(?:\s*##\s*\w+)+", macro[3])
        for call in re.finditer(rf"\b{macro[1]}\(", text) if pasted else ():
            arguments = [each.strip() for each in text[call.end():closing(text, call.end() - 1)].split(",")]
            if len(arguments) == len(parameters):
                values = dict(zip(parameters, arguments))
                names |= {"".join(values.get(part, part) for part in re.split(r"\s*##\s*", each)) for each in pasted}
    return names


@cache
def headers() -> dict[Path, set[str]]:
    return {path: expanded(without_comments(path.read_text())) for folder in FOLDERS for path in sorted(folder.rglob("*")) if path.suffix in (".h", ".cuh", "")
            and path.is_file() and path.name != "removed_functions.h" and not path.stem.endswith("_absent")}  # fmt: skip


@cache
def all_names() -> set[str]:
    return set().union(*headers().values())


@cache
def names_of_library(library: str) -> set[str]:
    """Returns the names of headers of a library: of wmma.h, or below the folder simt_include/thrust."""
    chosen = [names for path, names in headers().items()
              if path.stem == library or (HEADERS in path.parents and library in path.relative_to(HEADERS).parts[:-1])]  # fmt: skip
    return set().union(*chosen)


@cache
def sources() -> str:
    return "\n".join(without_comments(path.read_text()) for folder in (ROOT / "convlab/simt", ROOT / "convlab/kernel_file")
                     for path in sorted(folder.rglob("*")) if path.suffix in (".h", ".cc"))  # fmt: skip


@cache
def instructions() -> set[str]:
    """Returns the PTX instructions that the translation of kernel files recognizes: literals such as "trap;"."""
    text = "".join(path.read_text() for path in sorted((ROOT / "convlab/kernel_file").glob("*.cc")) if re.search("translation|ptx", path.name))
    return set(re.findall(r'"(?:\\")?([a-z][\w.:]*);', text))


@cache
def is_supported(name: str) -> bool:
    if name in FEATURES:
        return FEATURES[name] is not None and re.search(FEATURES[name], sources()) is not None
    if name.startswith("<"):
        header = HEADERS / name[1:-1]
        return header.is_file() and "#error" not in header.read_text()
    if name.startswith("asm "):
        return name.removeprefix("asm ") in instructions()
    if found := re.fullmatch(r"(\w+) \.(\w+)\(\)", name):
        return found[2] in names_of_library(found[1])
    if "::" in name:
        library, *parts = name.split("::")
        return all(part in names_of_library(library) for part in parts)
    return name.removesuffix("()") in all_names()

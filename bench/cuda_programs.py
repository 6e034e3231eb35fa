"""The programs of public suites, as cuda_suites.py runs them: their sources, options, arguments and faults."""

from __future__ import annotations

import dataclasses
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

from gpuverify_driver import driver_of
from gpuverify_faults import NOT_CUDA
from smaller_llm_c import smaller_llm_c
from smaller_programs import SMALLER

CUDA = re.compile(r"\.(cu|cc|cpp|cxx|c)$")
# Programs that need more than the runtime API and the libraries that simt has; cdp: dynamic parallelism.
OUTSIDE = re.compile(r"cuModuleLoad|cuLinkCreate|nvrtc|cuMemCreate|cusolver|cublasXt|\bcdp[A-Z]")

# What the last number of a run target becomes, which counts iterations.
MOST_REPEATS = 2
# The most of a data size, by the number of arguments that are so large: a machine without a GPU would run for hours.
MOST_DATA = [0, 16384, 256, 64]


@dataclasses.dataclass
class Program:
    """One program: what `convlab cuda run` gets, and what it should find (None: unknown)."""

    name: str
    sources: list[Path]
    folder: Path
    options: list[str] = dataclasses.field(default_factory=list)
    runs: list[list[str]] = dataclasses.field(default_factory=lambda: [[]])
    expected: list[str] | None = None
    text: str = ""  # of a source that the script itself writes
    changes: list[tuple[str, str]] = dataclasses.field(default_factory=list)  # of the sources' text, for less work

    def needs_more(self) -> bool:
        return any(OUTSIDE.search(text) for text in [self.name, *(each.read_text(errors="replace") for each in self.sources)])


def small(arguments: list[str]) -> list[str]:
    """The arguments of a `run` target with few iterations and less data."""
    numbers = [at for at, word in enumerate(arguments) if word.isdigit()]
    large = [at for at in numbers[:-1] if int(arguments[at]) > MOST_DATA[2]]
    result = list(arguments)
    for at in large:
        result[at] = str(min(int(arguments[at]), MOST_DATA[min(len(large), len(MOST_DATA) - 1)]))
    if numbers and numbers[-1] == len(arguments) - 1 and int(arguments[numbers[-1]]) >= 10:
        result[numbers[-1]] = str(MOST_REPEATS)
    return result


def dry_run(folder: Path, goals: list[str]) -> str | None:
    """What `make` would do; None if it cannot say."""
    command = ["make", "-n", "-B", *goals, "NVCC=nvcc", "CUDA_PATH=/usr", "LAUNCHER="]
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=20, errors="replace")
    except subprocess.TimeoutExpired:
        return None
    return run.stdout if run.returncode == 0 else None


def words_of(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return []


# nvcc's options with a word of their own, and those that this script passes on.
SEPARATE = {"-o", "-arch", "-gencode", "--generate-code", "-x", "--x", "-ccbin", "-Xptxas", "-MF", "-MT", "-std", "--maxrregcount"}
OPENMP = ["-Xcompiler", "-fopenmp"]
PASSED = {"-I", "-D", "-U", "-l", "-L", "-include", "-Xcompiler"}


def take_options(words: list[str], folder: Path, program: Program) -> None:
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word in SEPARATE:
            at += 1
        elif word in PASSED:
            value = words[at] if at < len(words) else ""
            at += 1
            if [word, value] not in [program.options[i : i + 2] for i in range(len(program.options))]:
                program.options += [word, value]
        elif CUDA.search(word) and (folder / word).is_file():
            if folder / word not in program.sources:
                program.sources.append(folder / word)
        elif word == "-fopenmp":
            if OPENMP[1] not in program.options:
                program.options += OPENMP
        elif re.match(r"-[IDUL].|-l[a-z]|-std=", word) and word not in program.options:
            program.options.append(word)


def from_makefile(name: str, folder: Path) -> Program | None:
    """A program of HeCBench: the commands of its Makefile for the goal `run`."""
    text = dry_run(folder, ["run"]) or dry_run(folder, [])
    if text is None:
        return None
    program, where, runs = Program(name, [], folder), folder, []
    for line in text.replace("\\\n", " ").splitlines():
        if entered := re.match(r"make\S*: Entering directory '(.*)'", line):
            where = Path(entered[1])
        words = words_of(re.sub(r"^\s*cd \S+\s*(&&|;)", "", line))
        if not words:
            continue
        if Path(words[0]).name in ("nvcc", "g++", "gcc", "cc", "c++", "mpicxx", "mpicc", "clang++"):
            take_options(words[1:], where, program)
        elif words[0].startswith("./"):
            runs.append(small([word for word in words[1:] if word not in (">", "|")]))
    program.runs = runs[:1] or [[]]
    return program if program.sources else None


def hecbench(root: Path) -> list[Program]:
    found = []
    for folder in sorted((root / "src").glob("*-cuda")):
        name = folder.name.removesuffix("-cuda")
        program = from_makefile(name, folder) if (folder / "Makefile").exists() else None
        found.append(program or of_folder(name, folder, []))
    return smaller([program for program in found if program and program.sources])


def smaller(programs: list[Program]) -> list[Program]:
    return [dataclasses.replace(each, changes=SMALLER.get(each.name, [])) for each in programs]


def of_folder(name: str, folder: Path, options: list[str]) -> Program:
    """All sources of a folder, without those that another #includes or that are another kind of main program."""
    sources = sorted(path for path in folder.rglob("*") if CUDA.search(path.name))
    text = {path: path.read_text(errors="replace") for path in [*sources, *folder.rglob("*.h"), *folder.rglob("*.cuh")]}
    included = {Path(each).name for body in text.values() for each in re.findall(r'#\s*include\s*"([^"]+)"', body)}
    return Program(name, [path for path in sources if path.name not in included], folder, options)


def cuda_samples(root: Path) -> list[Program]:
    folders = sorted([*root.glob("Samples/[0-7]_*/*"), *root.glob("Samples/8_*/*/*")])
    options = ["-I", str(root / "Common")]
    every = []
    for folder in filter(Path.is_dir, folders):
        rules = folder / "CMakeLists.txt"
        threads = OPENMP if rules.exists() and "OpenMP" in rules.read_text() else []
        every.append(of_folder(folder.name, folder, [*options, "-I", str(folder), "-I", str(folder / "inc"), *threads]))
    return smaller([program for program in every if program.sources])


def llm_c(root: Path) -> list[Program]:
    """Each program with each of its kernels, whose numbers are its argument; without those that need cuDNN or MPI."""
    options = ["-I", str(root / "dev/cuda"), "-I", str(root), *OPENMP]
    every = []
    for path in sorted((root / "dev/cuda").glob("*.cu")):
        text = re.sub(r"#ifdef ENABLE_CUDNN.*?#endif", "", path.read_text(), flags=re.DOTALL)
        if "<mpi.h>" in text:
            continue
        kernels = sorted(set(map(int, re.findall(r"\bcase (\d+):", text))) or {1})
        for kernel in (each for each in kernels if each < 32):  # others are sizes of blocks
            changes = smaller_llm_c(path.stem, kernel)
            every.append(Program(f"{path.stem} {kernel}", [path], path.parent, options, [[str(kernel)]], changes=changes))
    return every


# Each fault that a program's name has, and the words of the kinds of findings that show it.
INDIGO_FAULTS = {"boundsBug": "bounds", "raceBug": "race", "atomicBug": "race", "guardBug": "race", "syncBug": "race"}


def indigo(root: Path) -> list[Program]:
    """Each program with each graph: as many blocks as nodes, or few with many threads."""
    graphs = []
    for path in sorted((root / "indigo/input").glob("*.egr"), key=lambda each: (each.stat().st_size, each.name)):
        nodes = int.from_bytes(path.read_bytes()[:4], "little")
        graphs += [[str(path), "64", str(nodes)]]
        if nodes <= 8:
            graphs += [[str(path), "256", "1"]]
    every = []
    for path in sorted((root / "indigo/indigo_sources").glob("*/*.cu")):
        faults = sorted({kind for name, kind in INDIGO_FAULTS.items() if name in path.stem})
        options = ["-I", str(root / "indigo/indigo_include")]
        every.append(Program(path.stem, [path], path.parent, options, graphs, faults))
    return every


# The faults that the names of compute-sanitizer's programs announce.
SANITIZER_FAULTS = {"memset_error": "uninitialized", "memcheck_demo": "misaligned", "block_error": "race", "warp_error": "race",
                    "divergent_threads": "", "illegal_syncwarp": "", "suppressions_initcheck_demo": "uninitialized"}  # fmt: skip


def compute_sanitizer(root: Path) -> list[Program]:
    every = []
    for path in sorted(root.glob("*/*.cu")):
        if path.stem.endswith("Patches"):
            continue
        fault = SANITIZER_FAULTS.get(path.stem)
        every.append(Program(path.stem, [path], path.parent, [], [[]], None if fault is None else [fault]))
    return every


def gpuverify(root: Path) -> list[Program]:
    every = []
    folder = root / "testsuite/CUDA"
    for path in sorted(folder.rglob("*.cu")):
        name = str(path.relative_to(folder).with_suffix("")).removesuffix("/kernel")
        driver = driver_of(path, name)
        if driver is not None and name not in NOT_CUDA:
            every.append(Program(name, [], path.parent, ["-I", str(path.parent), *driver.options], [[]], driver.faults, driver.text))
    return every


PROGRAMS: dict[str, Callable[[Path], list[Program]]] = {
    "HeCBench": hecbench,
    "cuda-samples": cuda_samples,
    "llm.c": llm_c,
    "compute-sanitizer": compute_sanitizer,
    "Indigo": indigo,
    "GPUVerify": gpuverify,
}

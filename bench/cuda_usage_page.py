"""Makes docs/reference/cuda_usage.md from the counts of bench/cuda_usage.py."""

from __future__ import annotations

import collections
import re
from dataclasses import dataclass

from cuda_support import FEATURES, RARE, is_supported
from pages import table

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
FEWEST = 3  # programs that use a name of the tables
STEPS = 30  # names to add first

# Each group's title, and a pattern of its names; the first that matches.
GROUPS = [
    ("Language", "|".join(map(re.escape, FEATURES)) + r"|__(global|device|host|shared|constant|managed|forceinline|noinline|launch_bounds|align|grid_constant|cluster_dims|maxnreg|nv_pure)__"),
    ("Headers", "<.*"), ("Inline PTX", "asm .*"), ("Cooperative groups", r"cooperative_groups\b.*"), ("libcu++", "cuda::.*"), ("CUB", "cub::.*"), ("Thrust", "thrust::.*"),
    ("Tensor cores", "wmma::.*|(cutlass|cute)::.*"), ("Runtime API: functions", r"cuda[A-Z]\w*\(\)"), ("Runtime API: types and constants", r"cuda[A-Z]\w*"),
    ("cuBLAS and cuBLASLt", r"cublas\w+"), ("cuSPARSE", r"cusparse\w+"), ("cuSOLVER", r"cusolver\w+"), ("cuFFT", r"cufft\w+"), ("cuRAND", r"curand\w+"),
    ("Other libraries", r"(nccl|cudnn|nvtx|nvml|nvjpeg|npp|cutensor|nvgraph|nvJitLink)\w+"), ("Complex numbers (cuComplex.h)", r"(make_)?cu(C[a-z]|Complex|Double|Float)\w*"),
    ("Driver API and NVRTC", r"cu[A-Z]\w*|nvrtc\w+"),
    ("Threads, barriers and fences", r"threadIdx|blockIdx|blockDim|gridDim|warpSize|__syncthreads\w*|__threadfence\w*|__nanosleep|clock64|__trap|__brkpt|__prof_trigger|__pipeline\w+"),
    ("Warps", r"__(shfl|ballot|any|all|match|activemask|syncwarp|reduce)\w*|__lanemask\w*"), ("Atomic functions", r"atomic\w+|__nv_atomic\w+"),
    ("Loads and stores with hints", r"__(ld|st)(g|ca|cg|cs|cv|lu|wb|wt)|__cvta\w+|__is\w+|__builtin_assume\w*"), ("Textures and surfaces", r"(tex|surf)[123C]\w+"),
    ("Vector types", r"(make_)?(u?(char|short|int|long|longlong)|float|double)[1-4]|dim3"),
    ("fp16, bf16 and fp8", r".*(half|bfloat|bf16|fp8|fp4|fp6)\w*|__h\w+|h2?(exp|log|sqrt|rsqrt|rcp|sin|cos|floor|ceil|rint|trunc)\w*"), ("Arithmetic", ".*"),
]  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """Programs of one suite that use the same names."""

    suite: int
    programs: int
    names: frozenset[str]


def kinds_of(saved: dict) -> list[Kind]:
    """Decodes the sets of names: two digits for each name."""
    kinds = []
    for at, suite in enumerate(saved["suites"]):
        for line in suite["sets"]:
            many, text = line.split(" ")
            numbers = [DIGITS.index(text[i]) * len(DIGITS) + DIGITS.index(text[i + 1]) for i in range(0, len(text), 2)]
            kinds.append(Kind(at, int(many), frozenset(saved["names"][number] for number in numbers)))
    return kinds


def missing_of(kinds: list[Kind]) -> list[set[str]]:
    return [{name for name in kind.names if not is_supported(name)} for kind in kinds]


def next_steps(kinds: list[Kind]) -> list[list[str]]:
    """Chooses one name after another: the one that brings the most kinds of programs closest to their last missing name."""
    left, rows = missing_of(kinds), []
    users = collections.Counter(name for missing in left for name in missing)
    for step in range(1, STEPS + 1):
        gain: collections.Counter[str] = collections.Counter()
        for missing in left:
            for name in missing:
                gain[name] += 1 / len(missing) ** 2
        gain.pop(RARE, None)
        if not gain:
            break
        best = min(gain, key=lambda name: (-gain[name], name))
        for missing in left:
            missing.discard(best)
        reached = sum(not missing for missing in left)
        rows.append([str(step), code(best), str(users[best]), f"{reached} of {len(kinds)}"])
    return rows


def code(name: str) -> str:
    return name if name in FEATURES and "__" not in name and "<" not in name else f"`{name}`"


def group_of(name: str) -> str:
    return next(title for title, pattern in GROUPS if re.fullmatch(pattern, name))


def suite_table(saved: dict, kinds: list[Kind]) -> list[str]:
    missing, rows = missing_of(kinds), []
    for at, suite in enumerate(saved["suites"]):
        of_suite = [(kind, gap) for kind, gap in zip(kinds, missing) if kind.suite == at]
        reached = sum(kind.programs for kind, gap in of_suite if not gap)
        one = sum(kind.programs for kind, gap in of_suite if len(gap) == 1)
        rows.append([suite["name"], f"[{suite['repository']}](https://github.com/{suite['repository']}/tree/{suite['commit']})", suite["commit"][:10], str(suite["programs"]),
                     str(len(of_suite)), f"{reached} ({100 * reached // suite['programs']} %)", str(one)])  # fmt: skip
    return table(["suite", "repository", "commit", "programs", "kinds", "within reach", "one name missing"], rows)


def group_tables(saved: dict, kinds: list[Kind]) -> list[str]:
    suites = [suite["name"] for suite in saved["suites"]]
    counts: dict[str, list[int]] = {name: [0] * len(suites) for name in saved["names"]}
    for kind in kinds:
        for name in kind.names:
            counts[name][kind.suite] += kind.programs
    lines, groups = [], collections.defaultdict(list)
    for name in counts:
        if name != RARE:
            groups[group_of(name)].append(name)
    for title, _ in GROUPS:
        names = sorted(groups[title], key=lambda name: (-sum(counts[name]), name))
        if not names:
            continue
        shown = [name for name in names if sum(counts[name]) >= FEWEST]
        here = sum(map(is_supported, names))
        hidden = f" {len(names) - len(shown)} that fewer than {FEWEST} programs use are not shown." if len(shown) < len(names) else ""
        lines += [f"## {title}", "", f"{here} of {len(names)} names are supported.{hidden}", ""]
        if shown:
            rows = [[code(name), "yes" if is_supported(name) else "", str(sum(counts[name])), *(str(each or "") for each in counts[name])] for name in shown]
            lines += [*table(["name", "here", "programs", *suites], rows), ""]
    return lines


def page_of(saved: dict) -> str:
    kinds = kinds_of(saved)
    programs = sum(suite["programs"] for suite in saved["suites"])
    rare = sum(kind.programs for kind in kinds if RARE in kind.names)
    reached = [kind for kind, missing in zip(kinds, missing_of(kinds)) if not missing]
    after = next_steps(kinds)
    return "\n".join([
        "# What CUDA programs use", "",
        "For contributors who teach simt more of CUDA: which functions, types and features public CUDA programs use, how many programs use each, and",
        f"which of them simt supports today. {programs:,} programs of {len(saved['suites'])} suites use {len(saved['names']) - 1 + saved['single']:,} names ({saved['when']}).",
        "`bench/cuda_usage.py` counts, and writes this page.", "",
        *suite_table(saved, kinds), "",
        "A program is a folder of HeCBench or cuda-samples, and elsewhere a source file with all that it includes. GPUVerify's files are kernels without",
        "`main()`. Programs of a suite that use exactly the same names are of one kind: Indigo's are generated from a few patterns. A program is within",
        f"reach if simt supports all its names: {len(reached)} of {len(kinds)} kinds. {saved['single']} names that only one program uses are not listed;",
        f"{rare} programs use one that simt did not support when they were counted, and stay out of reach until they are counted again.", "",
        "A name is supported (*here*: yes) if a header that kernel files include declares it, with any of its overloads; `bench/cuda_support.py` has the",
        "rule for features without a name. Members of structures, types and constants of libraries, and names that a program declares itself do not",
        "count. Names are found in the text, so code for other platforms and unused headers of a program count, too.", "",
        "## What to add first", "",
        f"The first {len(after)} names, each chosen to bring the most kinds of programs closest to their last missing name: a program counts 1 / n² if it lacks",
        "n names. The last column is the number of kinds within reach once simt supports this name and all above.", "",
        *table(["", "name", "kinds that use it", "within reach"], after), "",
        *group_tables(saved, kinds)]).rstrip() + "\n"  # fmt: skip

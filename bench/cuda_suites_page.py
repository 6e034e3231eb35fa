"""The page of cuda_suites.py: what became of the programs of public suites."""

from __future__ import annotations

import re
from collections import Counter

from pages import table

REPOSITORIES = {
    "HeCBench": "zjin-lcf/HeCBench",
    "cuda-samples": "NVIDIA/cuda-samples",
    "llm.c": "karpathy/llm.c",
    "compute-sanitizer": "NVIDIA/compute-sanitizer-samples",
    "Indigo": "JohnJacobsonIII/HiRace-Artifact-SC24",
    "GPUVerify": "mc-imperial/gpuverify",
}
MOST_REASONS = 25

HEAD = """# CUDA programs of public suites

What became of public CUDA programs with `convlab cuda run`: how many compile, run to their end, and have findings.
`bench/cuda_suites.py` runs them on a machine without a GPU, with small arguments, and writes this page.
"""


def percent(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.0f} %)" if whole else "0"


def reason_of(error: str) -> str:
    """A compile error without what differs from program to program."""
    error = re.sub(r"‘([^’]*)’", r"`\1`", error.split(";")[0]).strip()
    if found := re.match(r"(undefined reference to) `(\w+)", error):
        return f"{found[1]} `{found[2]}`"
    if "reference to" in error and "ambiguous" in error or "unqualified-id before numeric" in error:
        return "a header of an installed CUDA toolkit that simt does not have"
    error = re.sub(r"^error: (/\S+/)?", "", error)
    return (error[:97] + "...") if len(error) > 100 else error


def summary(suites: dict[str, dict]) -> list[str]:
    rows = []
    for name, suite in suites.items():
        programs = suite["programs"]
        compiled = [each for each in programs if each["compiles"]]
        ended = [each for each in compiled if not each["timed_out"] and each["status"] >= 0]
        found = [each for each in compiled if any(kind not in ("timeout", "abnormal end") for kind in each["findings"])]
        rows.append([f"[{name}](https://github.com/{REPOSITORIES[name]}/tree/{suite['commit']})",
                     f"{len(programs)} of {suite['in_suite']}", percent(len(compiled), len(programs)), str(len(ended)),
                     str(sum(each["verdict"] == "passed" for each in ended)), str(len(found)),
                     str(sum(each["timed_out"] for each in compiled))])  # fmt: skip
    return table(["suite", "programs run", "compile", "end", "say that they pass", "with findings", "out of time"], rows)


def known(suites: dict[str, dict]) -> list[str]:
    rows = []
    for name, suite in suites.items():
        wrong = [each for each in suite["programs"] if each["compiles"] and each["expected"]]
        right = [each for each in suite["programs"] if each["compiles"] and each["expected"] == []]
        if not wrong and not right:
            continue
        alarms = [each for each in right if any(kind not in ("timeout", "abnormal end") for kind in each["findings"])]
        rows.append([name, str(len(wrong)), str(sum(bool(each["found"]) for each in wrong)), str(len(right)), str(len(alarms))])
    return table(["suite", "programs with known faults", "all faults found", "programs said to be right", "with findings"], rows)


def exceptions(suites: dict[str, dict]) -> list[str]:
    rows = []
    for name, suite in suites.items():
        for each in suite["programs"]:
            kinds = [kind for kind in each["findings"] if kind not in ("timeout", "abnormal end")]
            if each["compiles"] and each["expected"] and not each["found"]:
                rows.append([name, f"`{each['name']}`", f"not found: {', '.join(filter(None, each['expected'])) or 'any fault'}"])
            elif each["compiles"] and each["expected"] == [] and kinds:
                rows.append([name, f"`{each['name']}`", f"found: {', '.join(kinds)}"])
    return table(["suite", "program", "difference"], rows) if rows else ["None."]


def reasons(suites: dict[str, dict]) -> list[str]:
    every = [each for suite in suites.values() for each in suite["programs"]]
    counts = Counter(reason_of(each["compile_error"]) for each in every if not each["compiles"])
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rows = [[str(count), reason.replace("|", "\\|")] for reason, count in ordered[:MOST_REASONS]]
    rest = sum(count for _, count in ordered[MOST_REASONS:])
    return table(["programs", "first compile error"], rows + ([[str(rest), "others"]] if rest else []))


def kinds(suites: dict[str, dict]) -> list[str]:
    counts = {}
    for name, suite in suites.items():
        counts[name] = Counter(kind for each in suite["programs"] for kind in each["findings"])
    every = Counter(kind for count in counts.values() for kind in count.elements())
    ordered = sorted(every, key=lambda kind: (-every[kind], kind))
    rows = [[kind, *(str(count[kind]) if count[kind] else "-" for count in counts.values())] for kind in ordered]
    return table(["finding", *counts], rows)


def page_of(suites: dict[str, dict]) -> str:
    dates = sorted({suite["date"] for suite in suites.values()})
    limits = sorted({suite["timeout_s"] for suite in suites.values()})
    return "\n".join([
        HEAD,
        f"Measured on {', '.join(dates)}; a program may run for {' or '.join(f'{limit:g}' for limit in limits)} s.",
        "Of large suites, a random sample ran.",
        "", *summary(suites), "",
        "A program that needs a file that its suite does not have ends without a verdict.",
        "", "## Known faults", "",
        "Indigo's programs announce their faults in their names, GPUVerify's in their first lines. Each ran with up to eight inputs.",
        "", *known(suites), "", "Where findings differ from what a program announces:", "", *exceptions(suites), "",
        "GPUVerify accepts reads of memory that nothing wrote, and with `--warp-sync` that a warp runs in lockstep, which",
        "CUDA no longer guarantees. Racing stores of the same value are not errors here: those of memcpy/, loop_unwind.",
        "", "## Findings", "", "Programs with each kind of finding:", "", *kinds(suites), "",
        "## Why programs do not compile", "", *reasons(suites), ""])  # fmt: skip

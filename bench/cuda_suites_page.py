"""The page of cuda_suites.py: what became of the programs of public suites."""

from __future__ import annotations

import re
from collections import Counter

from gpuverify_faults import NOT_CUDA, UNANNOUNCED
from pages import table

REPOSITORIES = {
    "HeCBench": "zjin-lcf/HeCBench",
    "cuda-samples": "NVIDIA/cuda-samples",
    "llm.c": "karpathy/llm.c",
    "compute-sanitizer": "NVIDIA/compute-sanitizer-samples",
    "Indigo": "JohnJacobsonIII/HiRace-Artifact-SC24",
    "GPUVerify": "mc-imperial/gpuverify",
}

HEAD = """# CUDA programs of public suites

What became of public CUDA programs on simt, without a GPU: how many compile, run to their end, and have findings.
`bench/cuda_suites.py` runs them, and writes this page. [Bugs in public programs](cuda_bugs.md) lists the true ones
among the findings.
"""

CHOICE = """
Of HeCBench and cuda-samples, only programs count that compile with nvcc, run on a GPU (NVIDIA H200) and end there with
status 0; the table's "run on a GPU" says how many those are, and of HeCBench a random sample of 200 of them ran. Programs
left out need what the repository does not have (MPI, OpenGL, data), cuSOLVER, NVRTC, dynamic parallelism or modules that
are loaded at run time. Work is small on both machines: few iterations, less data, from
arguments or from constants in the source (`bench/smaller_programs.py`). The output is as on the GPU if the program says
of itself there and here that it passes, or prints the same lines: numbers to 0.2 %, without lines about time and device.
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


NO_FINDINGS = ("timeout", "abnormal end")


def has_findings(program: dict) -> bool:
    return any(kind not in NO_FINDINGS for kind in program["findings"])


def summary(suites: dict[str, dict]) -> list[str]:
    rows = []
    for name, suite in suites.items():
        programs = suite["programs"]
        compiled = [each for each in programs if each["compiles"]]
        ended = [each for each in compiled if not each["timed_out"] and each["status"] >= 0]
        compared = suite["on_gpu"] is not None
        same = [each for each in compiled if "gpu" in each and each["gpu"]["difference"] is None]
        rows.append([f"[{name}](https://github.com/{REPOSITORIES[name]}/tree/{suite['commit']})", str(suite["in_suite"]),
                     str(suite["on_gpu"]) if compared else "-", str(len(programs)), percent(len(compiled), len(programs)),
                     str(len(ended)), percent(len(same), len(programs)) if compared else "-",
                     str(sum(map(has_findings, compiled)))])  # fmt: skip
    return table(["suite", "programs", "run on a GPU", "run here", "compile", "end", "output as on the GPU", "with findings"], rows)


def measured_again(suites: dict[str, dict]) -> list[str]:
    again = [each["again"] for suite in suites.values() for each in suite["programs"] if "again" in each]
    if not again:
        return []
    return ["", f"{len(again)} programs of HeCBench and cuda-samples, those with findings or differences, ran again on {max(again)} after changes,",
            "on another machine with two cores and for up to 60 s, and were compared with the first machine's GPU. The GPU has not run",
            "the new inputs of d3q19-bgk, pad, matern, ssim, bh, attention-paged and cuda-samples reduction."]  # fmt: skip


def unlike(suites: dict[str, dict]) -> list[str]:
    """The programs whose output is not that of a GPU."""
    rows = []
    for name, suite in suites.items():
        for each in suite["programs"]:
            if not each["compiles"] and suite["on_gpu"] is not None:
                rows.append([name, f"`{each['name']}`", "does not compile: " + escaped(reason_of(each["compile_error"]))])
            elif each.get("gpu", {}).get("difference"):
                rows.append([name, f"`{each['name']}`", escaped(each["gpu"]["difference"])])
    return table(["suite", "program", "difference"], rows) if rows else ["None."]


def escaped(text: str) -> str:
    return text.replace("|", "\\|")


# What the paper on HiRace reports: how many of the 346 programs with a race each tool finds, and false alarms.
REPORTED = [["HiRace, on a GPU", "346", "0"], ["iGUARD, on a GPU", "298", "-"], ["compute-sanitizer, on a GPU", "92", "-"]]


def races(suite: dict) -> list[str]:
    racy = [each for each in suite["programs"] if "race" in each["expected"]]
    right = [each for each in suite["programs"] if not each["expected"]]
    found = [each for each in racy if "R" in each["races_by_run"]]
    rows = [["convlab, without a GPU", str(len(found)), str(sum(map(has_findings, right)))], *REPORTED]
    lines = table(["tool", f"of {len(racy)} programs with a race, found in", "right programs with a finding"], rows)
    runs = [[shown, str(sum(each["races_by_run"][at] == "R" for each in racy)), str(sum(each["races_by_run"][at] == "R" for each in right))]
            for at, shown in enumerate(suite["inputs"])]  # fmt: skip
    lines += ["", "By graph and launch; a graph without the edges that a fault needs shows no race:", ""]
    return [*lines, *table(["graph, threads in a block, blocks", "races found in", "false alarms"], runs)]


def judged(name: str, program: dict) -> str:
    """What is known of findings that a program does not announce."""
    found, judgement = UNANNOUNCED.get(program["name"], ([], "")) if name == "GPUVerify" else ([], "")
    return judgement if all(kind in found or kind in NO_FINDINGS for kind in program["findings"]) else "false alarm"


def only_warned(program: dict) -> bool:
    """Whether the program's race was found as a warning, because all stores have the same value."""
    return bool(program["found"]) and not has_findings(program) and program.get("redundant_writes", 0) > 0


def known(suites: dict[str, dict]) -> list[str]:
    rows = []
    for name, suite in suites.items():
        wrong = [each for each in suite["programs"] if each["compiles"] and each["expected"]]
        right = [each for each in suite["programs"] if each["compiles"] and each["expected"] == []]
        if not wrong and not right:
            continue
        found = [each for each in wrong if each["found"]]
        alarms = list(filter(has_findings, right))
        true = [each for each in alarms if judged(name, each) != "false alarm"]
        rows.append([name, str(len(wrong)), str(len(found)), str(sum(map(only_warned, found))), str(len(right)), str(len(true)),
                     str(len(alarms) - len(true))])  # fmt: skip
    return table(["suite", "programs with known faults", "all faults found", "of these as a warning", "programs said to be right",
                  "with true findings", "with false alarms"], rows)  # fmt: skip


def exceptions(suites: dict[str, dict]) -> list[str]:
    rows = []
    for name, suite in suites.items():
        for each in suite["programs"]:
            kinds = [kind for kind in each["findings"] if kind not in NO_FINDINGS]
            unannounced = each["expected"] == [] or each["expected"] is None and name == "GPUVerify"
            if each["compiles"] and each["expected"] and not each["found"]:
                missed = ", ".join(filter(None, each["expected"])) or "any fault"
                rows.append([name, f"`{each['name']}`", f"not found: {missed.replace('|', ' or ')}", "missed"])
            elif each["compiles"] and unannounced and kinds:
                rows.append([name, f"`{each['name']}`", ", ".join(kinds), judged(name, each)])
    return table(["suite", "program", "found", "what it is"], rows) if rows else ["None."]


def gpuverify(suite: dict) -> list[str]:
    """How the tests of GPUVerify run, which are kernels without a program."""
    lacking: dict[str, list[str]] = {}
    for each in suite["programs"]:
        if not each["compiles"]:
            why = "cuRAND's MTGP32" if "mtgp32" in each["name"] else reason_of(each["compile_error"])
            lacking.setdefault(why, []).append(f"`{each['name'].split('/')[-1]}`")
    return [
        "GPUVerify proves kernels, without a program. `bench/gpuverify_driver.py` writes one that launches a file's kernel with",
        "its grid and block. Arrays hold zeros, then distinct values; integers get the values that `__requires` allows, in at",
        "most 1024 launches. `bench/gpuverify_faults.py` has the faults, as read in each file. A race is found as a warning if",
        "its stores have the same value for all inputs. GPUVerify accepts reads of memory that nothing wrote, and with",
        "some options that a warp runs in lockstep, which CUDA no longer guarantees.",
        "",
        f"{len(NOT_CUDA)} files are left out because nvcc 13 rejects them too, such as those with texture references or host variables in",
        "kernels.",
        *(f"Not compiled because of {why}: {', '.join(names)}." for why, names in lacking.items()),
        "",
    ]


def llm_c(suite: dict) -> list[str]:
    """By program of llm.c: its kernels, those that end, that agree with its CPU code, and that have findings."""
    by_program: dict[str, list[dict]] = {}
    for each in suite["programs"]:
        by_program.setdefault(each["name"].rsplit(" ", 1)[0], []).append(each)
    rows = []
    totals = [0, 0, 0, 0]
    for name, kernels in by_program.items():
        ended = [each for each in kernels if each["compiles"] and not each["timed_out"] and each["status"] >= 0]
        passed = sum(each["verdict"] == "passed" for each in ended)
        found = [each for each in ended if has_findings(each)]
        totals = [sum(pair) for pair in zip(totals, [len(kernels), len(ended), passed, len(found)])]
        shown = [f"{each['name'].rsplit(' ', 1)[1]}: {', '.join(each['findings'])}" for each in found]
        rows.append([f"`{name}`", str(len(kernels)), str(len(ended)), str(passed), str(len(found)), "; ".join(shown) or "-"])
    rows.append(["all", *map(str, totals), "-"])
    return [
        "", "## Kernels of llm.c", "",
        "The programs of llm.c's dev/cuda without those that need cuDNN or MPI. A program gets a kernel's number, runs the kernel",
        "with each of its block sizes, and compares the results with those of its CPU code.", "",
        *table(["program", "kernels", "end", "pass", "with findings", "findings by kernel number"], rows)]  # fmt: skip


def kinds(suites: dict[str, dict]) -> list[str]:
    counts = {}
    for name, suite in suites.items():
        counts[name] = Counter(kind for each in suite["programs"] for kind in each["findings"])
    every = Counter(kind for count in counts.values() for kind in count.elements())
    ordered = sorted(every, key=lambda kind: (-every[kind], kind))
    rows = [[kind, *(str(count[kind]) if count[kind] else "-" for count in counts.values())] for kind in ordered]
    return table(["finding", *counts], rows)


LABS = """
Labs of public repositories of students, unchanged, each with up to four of its course's data sets; small made ones where there
are none. `wb.h` is convlab's own. A lab compares its result with the data set's.
"""

# Why a lab's own check fails.
LAB_REASONS = {
    "aschuh703+ECE408/MP2/template": "unfinished: it passes a null pointer as its result",
    "aschuh703+ECE408/MP3/template": "unfinished: it passes a null pointer as its result",
    "bomcon123456+UIUC_ECE408_Applied-Parallel-Programming/lab3/lab3": "unfinished: it passes a null pointer as its result",
    "NikolayGenov+Heterogeneous-Parallel-Programming-Coursera/Week7_VecAddition_With_Streams/vecAddition_streams": "it copies to places past the end of the host array, whatever the input's length",
}  # fmt: skip


def course_labs(suite: dict) -> list[str]:
    repositories: dict[str, list[dict]] = {}
    for each in suite["programs"]:
        repositories.setdefault(each["name"].split("/")[0], []).append(each)
    rows = []
    for name, programs in repositories.items():
        ended = [each for each in programs if each["compiles"] and each["verdict"] in ("passed", "none")]
        rows.append([f"[{name.replace('+', '/')}](https://github.com/{name.replace('+', '/', 1)})", str(len(programs)),
                     str(sum(each["compiles"] for each in programs)), str(len(ended)), str(sum(map(has_findings, programs)))])  # fmt: skip
    failed = [each["name"] for each in suite["programs"] if each["verdict"] == "failed" or not each["compiles"]]
    reasons = [f"- `{name}`: {LAB_REASONS.get(name, 'not examined')}." for name in failed]
    lines = [LABS, *table(["repository", "labs", "compile", "right by their own check", "with findings"], rows)]
    return [*lines, "", "The others:", "", *reasons] if reasons else lines


def page_of(suites: dict[str, dict]) -> str:
    suites = dict(suites)
    labs = suites.pop("labs", None)
    dates = sorted({suite["date"] for suite in suites.values()})
    limits = sorted({suite["timeout_s"] for suite in suites.values()})
    return "\n".join([
        HEAD,
        f"Measured on {', '.join(dates)}; a program may run for {' or '.join(f'{limit:g}' for limit in limits)} s.",
        CHOICE, *summary(suites), *measured_again(suites),
        "", "## Known faults", "",
        "Indigo's programs announce their faults in their names, and ran with eight inputs; GPUVerify's, in their first lines.",
        "", *known(suites), "", "Where findings differ from what a program announces:", "", *exceptions(suites), "",
        *gpuverify(suites["GPUVerify"]),
        "## Races in Indigo's programs", "", *races(suites["Indigo"]),
        *(["", "## Course labs", *course_labs(labs)] if labs else []),
        *(llm_c(suites["llm.c"]) if "llm.c" in suites else []),
        "", "## Where the output differs from a GPU's", "", *unlike(suites), "",
        "## Findings", "", "Programs with each kind of finding:", "", *kinds(suites), ""])  # fmt: skip

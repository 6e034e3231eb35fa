"""Finds the CUDA facilities that a program uses, by name, for bench/cuda_usage.py.

Nothing is compiled: names are found in the text, without comments and strings. A name that the program itself declares
does not count, so `cudaCheck` and a program's own `__reduce` are not CUDA's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")

# Blocks that count only if the program includes the library whose header defines this macro.
GUARDS = {
    "CUDA_DRIVER_API": "cuda.h", "__cuda_cuda_h__": "cuda.h", "CUBLAS_API_H_": "cublas", "_CUFFT_H_": "cufft", "CUSPARSEAPI": "cusparse",
    "CUSOLVER_COMMON_H_": "cusolver", "CURAND_H_": "curand", "NVJPEGAPI": "nvjpeg", "NV_NPPIDEFS_H": "npp", "NCCL_H_": "nccl",
}  # fmt: skip

_COMMENT_OR_LITERAL = re.compile(r'//(?:\\\n|[^\n])*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.){1,8}\'', re.DOTALL)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|else|elif|endif)\b(.*)")
_ASM = re.compile(r"\b(?:asm|__asm__|__asm)\b\s*(?:volatile|__volatile__)?\s*\(")

# Headers of CUDA and its libraries, and of courses and samples, that a program may expect to exist.
_HEADER = re.compile(
    r"(cuda\w*|cu(blas|blasLt|sparse|fft|fftXt|fftw|fftdx|solver|rand|tensor|dnn|pti|Complex|dss)\w*|nv(rtc|ml|jpeg|graph|toolsext|vm|ToolsExt|ToolsExtCuda|_\w+|scibuf|scisync)\w*"
    r"|npp\w*|nccl|cudnn\w*|mma|sm_\w+|device_\w+|vector_(types|functions)|math_(functions|constants)|channel_descriptor|texture_\w+|surface_\w+"
    r"|builtin_types|driver_types|host_defines|common_functions|cooperative_groups|fatbinary\w*|crt/\w+|wb|gputk|helper_\w+|cutil\w*|sanitizer\w*|generic\w*_patching)\.(h|hpp|cuh)"
    r"|(thrust|cub|cuda|nv|nvtx3|cooperative_groups|cutlass|cute|rmm|raft)/[\w/.]+")  # fmt: skip

# Identifiers that begin with two underscores and belong to host compilers, or to tools.
_HOST = (
    r"builtin|sync_|atomic_|asm|attribute|volatile|inline|restrict|func|typeof|decl|cdecl|stdcall|fastcall|u?int(?:8|16|32|64|128)|m\d|float128|extension|alignof|has_|cxa|cpuid|rdtsc|pragma"
    r"|const__|const\b|signed|thread\b|unused|real|imag|unaligned|gnu|va_|is_|lzcnt|debugbreak|try|except|finally|cplusplus|linux|unix|arm|aarch64|x86|i386|amd64|clang|llvm|hip|gcn|gfx"
    r"|sycl|dpct|w64|aligned__|packed__|may_alias|ext_vector|in_|out_|uuidof|emit__|need_|stat64|time_t|syscall|cuda_|hr_"
    # GPUVerify's annotations.
    r"|global_invariant|no_|other_|uniform_|distinct_|return_val_|(?:read|write|ptr)_?(?:offset|implies)|(?:read|write|enabled|requires|ensures|assert|implies|invariant"
    r"|mod_pow2|assume|requires_fresh_array|file|line|date)\b")  # fmt: skip
_PLAIN = "|".join((
    rf"__(?!{_HOST})[a-z]\w*[a-z0-9_]", r"cuda[A-Z]\w*", r"(?:make_)?(?:u?(?:char|short|int|long|longlong)|float|double)[1-4]", "dim3",
    # Functions of the libraries and of the driver; their types and constants come with them.
    r"(?:cublasLt|cublas|cusparse|cufft|curand|cusolver|nccl|cudnn|nvtx|nvml|nvrtc|nvjpeg|npp[is]?|cutensor|nvgraph|nvJitLink)(?:[A-Z]\w*|_\w+)(?=\s*\()", r"cu[A-Z]\w*(?=\s*\()",
    # Functions of CUDA's math library that C++ lacks, and other names without a prefix.
    r"(?:rsqrt|rcbrt|sinpi|cospi|sincospi|erfinv|erfcinv|erfcx|normcdf|normcdfinv|r?norm[34]d|rhypot|cyl_bessel_i[01]|fdivide)f?", "umin|umax|u?ll(?:min|max)",
    "warpSize|clock64|threadIdx|blockIdx|blockDim|gridDim", r"tex[123]D\w*|texCubemap\w*|surf[123]D\w*|surfCubemap\w*", r"atomic[A-Z]\w*",
    "half2?|nv_bfloat162?|make_half2|make_cu(?:Float|Double)?Complex", "h2?(?:exp|exp2|exp10|log|log2|log10|sqrt|rsqrt|rcp|sin|cos|floor|ceil|rint|trunc)",
))  # fmt: skip
_NAME = re.compile(rf"(?<![\w.])(?<!->)(?<!\w::)({_PLAIN})\b(\s*\()?")
_QUALIFIED = re.compile(r"(?<![\w:])(?:::)?(?:nvcuda\s*::\s*)?\b(thrust|cub|cuda|wmma|cooperative_groups|cutlass|cute)((?:\s*::\s*[A-Za-z_]\w*)+)")

# What `using namespace` makes short, and methods, counted only in programs that use the library.
_COOPERATIVE = (
    "thread_group|thread_block|thread_block_tile|grid_group|multi_grid_group|cluster_group|coalesced_group|coalesced_threads|this_thread_block|this_grid|this_multi_grid"
    "|this_cluster|this_thread|tiled_partition|binary_partition|labeled_partition|memcpy_async|wait|wait_prior|reduce|inclusive_scan|exclusive_scan|invoke_one|experimental")  # fmt: skip
_WMMA = "fragment|matrix_a|matrix_b|accumulator|row_major|col_major|mem_row_major|mem_col_major|load_matrix_sync|store_matrix_sync|mma_sync|fill_fragment|precision"
_METHODS = (
    "sync|thread_rank|num_threads|shfl|shfl_down|shfl_up|shfl_xor|ballot|match_any|match_all|meta_group_rank|meta_group_size|group_index|thread_index"
    "|group_dim|dim_threads|dim_blocks|block_rank|block_index|num_blocks|map_shared_rank|barrier_arrive|barrier_wait")  # fmt: skip

# Words before a name that do not make it a declaration.
_NO_TYPES = set(
    "return else case goto new delete throw typename struct enum class union const static inline extern volatile constexpr virtual mutable typedef sizeof using do and or not "
    "thread_local register public private protected unsigned signed template operator __host__ __device__ __global__ __forceinline__ __inline__ define undef ifdef ifndef if elif "
    "defined pragma omp co_await friend explicit STDCALL".split())  # fmt: skip


@dataclass
class File:
    """One source file: its code without comments and strings, and what is in the strings that matter."""

    code: str
    includes: list[str]
    asm: list[str]  # text of inline PTX
    is_cuda: bool  # host files have their own names with two underscores, and their own assembly language


def closing(text: str, at: int, pair: str = "()") -> int:
    """Returns the index of the bracket that closes the one at `at`; the end of the text if there is none."""
    depth = 0
    for found in re.compile(f"[{re.escape(pair)}]").finditer(text, at):
        depth += 1 if found[0] == pair[0] else -1
        if depth == 0:
            return found.start()
    return len(text)


def _no_comment(found: re.Match) -> str:
    return found[0] if found[0][0] in "\"'R" else " "


def _no_literal(found: re.Match) -> str:
    return "0" if found[0][0] == "'" else '""' if found[0][0] in '"R' else " "


def _asm_of(text: str) -> list[str]:
    """Returns the instructions of asm statements: the literals before the first colon outside of them."""
    found = []
    for begin in _ASM.finditer(text):
        literals = []
        for part in re.finditer(r'"((?:[^"\\\n]|\\.)*)"|[:;)]', text[begin.end():begin.end() + 20000]):
            if part[1] is None:
                break
            literals.append(part[1])
        found.append("".join(literals).replace("\\n", "\n").replace("\\t", " "))
    return found


def read(path: Path) -> File:
    text = _COMMENT_OR_LITERAL.sub(_no_comment, path.read_text(errors="replace").replace("\r\n", "\n").replace("\\\n", " "))
    code = _INCLUDE.sub("", _COMMENT_OR_LITERAL.sub(_no_literal, text))
    is_cuda = path.suffix in (".cu", ".cuh") or bool(re.search(r"\b__(device|global)__\b", code))
    return File(code, [each[1].strip() for each in _INCLUDE.finditer(text)], _asm_of(text) if is_cuda else [], is_cuda)


def active(code: str, libraries: frozenset[str]) -> str:
    """Returns the code without `#if 0` and without blocks for libraries (GUARDS) that the program does not include."""
    kept, skipped = [], []  # skipped: for each open #if, whether its lines are left out
    for line in code.split("\n"):
        directive = _DIRECTIVE.match(line)
        if directive is None:
            if not any(skipped):
                kept.append(line)
            continue
        kind, rest = directive[1], directive[2].strip()
        if kind in ("if", "ifdef", "ifndef"):
            macro = re.fullmatch(r"(?:defined\s*\(?\s*)?(\w+)\s*\)?", rest)
            skipped.append(rest == "0" or bool(macro and kind != "ifndef" and macro[1] in GUARDS and macro[1] not in libraries))
        elif kind in ("else", "elif") and skipped:
            skipped[-1] = False
        elif kind == "endif" and skipped:
            skipped.pop()
    return "\n".join(kept)


def declared(code: str) -> set[str]:
    """Returns names that the code declares: macros, types, functions, variables and parameters."""
    names = set(re.findall(r"#[ \t]*define[ \t]+(\w+)", code)) | set(re.findall(r"\b(?:struct|class|enum|union|namespace)\s+(\w+)\s*[:{]", code))
    names |= set(re.findall(r"\busing\s+(\w+)\s*=", code)) | set(re.findall(r"\btypedef\b[^;]*?(\w+)\s*;", code))
    for found in re.finditer(r"\b([A-Za-z_]\w*)((?:\s*<[^<>;{}()]*>)?[\s*&]+)(\w+)\s*(?=[;=,)\[({]|:(?!:))", code):
        if found[1] not in _NO_TYPES and not found[3].isdigit():
            names.add(found[3])
    return names


def device_code(code: str) -> tuple[list[str], bool]:
    """Returns the bodies of __global__ and __device__ functions, and whether there is a __device__ variable."""
    bodies, variable, end = [], False, 0
    for begin in re.finditer(r"\b__(?:global|device)__\b", code):
        if begin.start() < end:
            continue
        at, seen = begin.end(), False
        while found := re.compile(r"[;{=\[(]|__\w+__\s*\(|operator\s*[^\w\s(]+|operator\s*\(\s*\)").search(code, at):
            if found[0].endswith("(") and not found[0].startswith("operator"):
                seen |= found[0] == "("
                at = closing(code, found.end() - 1) + 1
            elif found[0].startswith("operator"):
                at = found.end()
            elif found[0] == "[" and code[found.end():found.end() + 1] == "[":
                at = found.end() + 1
            else:
                break
        if found is None:
            break
        if found[0] == "{" and seen:
            end = closing(code, found.start(), "{}")
            bodies.append(code[found.start():end])
        elif not seen and found[0] in ";=[":
            variable = True
    return bodies, variable


def launches(code: str) -> list[int]:
    """Returns the number of arguments of each <<<...>>>."""
    counts = []
    for found in re.finditer(r"<<\s?<([^;]*?)>>\s?>", code):
        depth, count = 0, 1
        for sign in found[1]:
            depth += (sign in "({") - (sign in ")}")
            count += sign == "," and depth == 0
        counts.append(count)
    return counts


def ptx_of(asm: str) -> set[str]:
    """Returns the instructions of PTX text without types: "mma.sync.m16n8k16", "mov %laneid"."""
    names = set()
    for statement in re.split(r"[;\n{}]", asm):
        words = re.sub(r"^\s*(?:[\w$%]+:)?\s*(?:@!?[%\w]+\s+)?", "", statement).split()
        if not words or not re.fullmatch(r"[a-z][a-z0-9_]*(?:[.:][\w:]+)*", words[0]) or words[0].startswith("."):
            continue
        head, *parts = words[0].split(".")
        kept = [part for part in parts if not re.fullmatch(r"[busf]\d+(x\d+)?|v\d|pred|e\dm\d\w*|bf16(x2)?|tf32|(row|col)|aligned|\w+::\w+", part)]
        special = re.search(r"%%?((?:lane|warp|sm|grid|cluster)\w*id|lanemask_\w+|clock\w*|globaltimer\w*|n?(?:tid|ctaid|smid|warpid)\b|dynamic_smem_size|total_smem_size)", statement)
        names.add(".".join([head, *kept[:3]]) + (f" %{special[1]}" if head == "mov" and special else ""))
    return names


def _language(code: str) -> set[str]:
    """Returns features of the language that no single name shows."""
    bodies, variable = device_code(code)
    inside, counts = "\n".join(bodies), launches(code)
    patterns = {
        "launch with <<<...>>>": bool(counts), "launch with a stream": any(count == 4 for count in counts), "__device__ variable": variable,
        "launch in device code": bool(launches(inside)), "runtime API in device code": bool(re.search(r"\bcuda(?:Malloc|Free|Memcpy|DeviceSync|Stream|GetLast)\w*\s*\(", inside)),
    }  # fmt: skip
    for name, where, pattern in (
        ("extern __shared__", code, r"\bextern\b[^;()]*\b__shared__|__shared__\s+extern\b"),
        ("__device__ lambda", code, r"\]\s*(?:__host__\s*|__device__\s*)*__device__"),
        ("lambda in device code", inside, r"[=(,{;]\s*\[[&=\w\s,*]*\]\s*\([^()]*\)\s*(?:mutable\s*)?(?:->\s*[\w:]+\s*)?\{"),
        ("template kernel", code, r"\btemplate\s*<[^;{}]*>\s*(?:static\s+|inline\s+)*__global__"),
        ("virtual __device__ function", code, r"__device__\s+virtual\b|\bvirtual\s+(?:__host__\s+)?__device__"),
        ("printf in device code", inside, r"\bprintf\s*\("), ("assert in device code", inside, r"\bassert\s*\("),
        ("malloc or new in device code", inside, r"\bmalloc\s*\(|\bnew\s+\w"), ("clock in device code", inside, r"\bclock\s*\(\s*\)"),
        ("texture reference", code, r"(?<!::)\btexture\s*<"), ("surface reference", code, r"\bsurface\s*<"),
        ("volatile __shared__", code, r"\bvolatile\s+[^;(){}]*__shared__|__shared__\s+volatile\b"),
    ):  # fmt: skip
        patterns[name] = bool(re.search(pattern, where))
    return {name for name, used in patterns.items() if used}


def _short_names(code: str) -> str:
    """Returns the code with the full names of libraries that a program abbreviates."""
    for name, full in re.findall(r"\bnamespace\s+(\w+)\s*=\s*(?:::)?(?:nvcuda::)?([\w:]+)\s*;", code):
        if full in ("cooperative_groups", "thrust", "cub", "wmma", "cuda"):
            code = re.sub(rf"\b{name}\s*::", f"{full}::", code)
    for library, names in (("cooperative_groups", _COOPERATIVE), ("wmma", _WMMA)):
        if re.search(rf"\busing\s+namespace\s+(?:nvcuda::)?{library}\s*;", code):
            code = re.sub(rf"(?<![\w:.>])(?:{names})\b(?=\s*[<(&>,]|\s+\w)", lambda name, library=library: f"{library}::{name[0]}", code)
    return code


@dataclass
class Facts:
    """What one file uses and declares."""

    names: set[str]
    called: set[str]
    own: set[str]
    cooperative_methods: set[str]


def facts_of(file: File, libraries: frozenset[str]) -> Facts:
    """`libraries`: the macros of GUARDS whose library the program includes."""
    code = _short_names(active(file.code, libraries))
    plain = [found for found in _NAME.finditer(code) if file.is_cuda or not found[1].startswith("__")]
    names = {found[1] for found in plain}
    for found in _QUALIFIED.finditer(code):
        names.add("::".join([found[1], *re.findall(r"\w+", found[2])[:2]]))
    names |= {f"asm {each}" for text in file.asm for each in ptx_of(text)} | _language(code)
    return Facts(names, {found[1] for found in plain if found[2]}, declared(code), set(re.findall(rf"\.({_METHODS})\s*\(", code)))


def libraries_of(headers: set[str]) -> frozenset[str]:
    return frozenset(macro for macro, library in GUARDS.items() if any(library in header for header in headers))


def names_of(facts: list[Facts], headers: set[str]) -> set[str]:
    """Returns the CUDA names that a program of these files uses, and the headers of CUDA that it includes."""
    own = {name for each in facts for name in each.own}
    names = {name for each in facts for name in each.names if name not in own and ("::" not in name or name.split("::")[0] not in own)}
    if any(name.startswith("cooperative_groups::") for name in names):
        names |= {f"cooperative_groups .{method}()" for each in facts for method in each.cooperative_methods}
    return names | {f"<{header}>" for header in headers if _HEADER.fullmatch(header)}


def is_runtime_function(name: str) -> bool:
    """Returns whether a name of the runtime API that programs call is a function, and not the constructor of a type."""
    return name.startswith("cuda") and "::" not in name and not re.search(r"(_t|Prop|Params|Desc|Extent|Pos|Type)$", name)

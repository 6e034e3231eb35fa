"""Makes programs from the kernels of GPUVerify's testsuite, which have no main().

A program launches the file's last kernel once for each choice of its arguments: each array with zeros and with distinct
values, constant memory with its initial values and with distinct ones, which hosts may set, and each integer that the
kernel uses with the values that its __requires allow, as far as MOST_LAUNCHES and MOST_THREADS let it.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
import re
from pathlib import Path

from gpuverify_faults import FAULTS

MOST_BLOCK_THREADS = 1024  # some kernels ask for more than a GPU has
MOST_LAUNCHES = 1024
MOST_THREADS = 1 << 20  # of all launches with one choice of contents
FREE_VALUES = range(65)  # of an integer that no __requires restricts
INTEGER = re.compile(r"\b(int|unsigned|size_t|char|short|long|bool|uint)\b")
REAL = re.compile(r"\b(float|double)\b")
POINTER_MEMBER = re.compile(r"(?:struct|class)\b[^;{(]*\{[^}]*\*\s*\w+\s*(?:\[\d+\])?\s*;")

# A function that no file defines returns 0 or 1, so that loops over it end.
TOOLS = """__device__ unsigned driver_calls;
__device__ inline int driver_choice() {{
  const unsigned call = atomicAdd(&driver_calls, 1u);
  return (call * 2654435761u >> 16) & 1;
}}
static bool driver_distinct = false;
template <class T>
void driver_fill(T* elements, size_t count) {{
  for (size_t i = 0; i < count; ++i) {{
    if constexpr (std::is_arithmetic_v<T>) {{
      elements[i] = static_cast<T>(driver_distinct ? i * 37 % 97 : 0);  // small, because kernels use some as indices
    }} else if constexpr (!std::is_pointer_v<T>) {{
      std::memset(static_cast<void*>(&elements[i]), driver_distinct ? static_cast<int>(i * 37 % 97) : 0, sizeof(T));
    }}
  }}
}}
static std::vector<void*> driver_arrays;
template <class T>
T* driver_array() {{
  std::vector<unsigned char> bytes({bytes});
  driver_fill(reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T));
  void* array = nullptr;
  cudaMalloc(&array, bytes.size());
  cudaMemcpy(array, bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
  driver_arrays.push_back(array);
  return static_cast<T*>(array);
}}
template <class T>
void driver_fill_pointers(T& object) {{
  void* pointers[sizeof(T) / sizeof(void*)];
  for (void*& each : pointers) each = driver_array<unsigned char>();
  std::memcpy(static_cast<void*>(&object), pointers, sizeof pointers);
}}
template <class T>
void driver_fill_symbol(T& symbol) {{
  using Element = std::remove_cv_t<std::remove_all_extents_t<T>>;
  static Element values[sizeof(T) / sizeof(Element)];
  if (!driver_distinct) return;
  driver_fill(values, sizeof(T) / sizeof(Element));
  cudaMemcpyToSymbol(symbol, values, sizeof(T));
}}
"""

# GPUVerify's annotations, which speak to its prover. __assert and __assume are conditions of the running program, and
# __other_int(x) is x of another thread, here of the warp. Macros do not expand arguments that they drop.
HEAD = """#include <cassert>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <vector>
#include <cuda.h>
#include <cuda_runtime.h>
{includes}
{tools}
#undef __assert
#define __assert(...) assert((__VA_ARGS__))
#define __assume(...) do {{ if (!(__VA_ARGS__)) return; }} while (0)
#define __requires(...) static_cast<void>(0)
#define __ensures(...) static_cast<void>(0)
#define __invariant(...) static_cast<void>(0)
#define __global_invariant(...) static_cast<void>(0)
#define __requires_fresh_array(...) static_cast<void>(0)
#define __axiom(...)
#define __implies(a, b) (!(a) | (b))
#define __no_read(pointer) true
#undef __all
#define __all(condition) __all_sync(__activemask(), condition)
__device__ inline int __other_int(int value) {{
  const unsigned mask = __activemask(), later = mask & ~((2u << (threadIdx.x % 32)) - 1);
  return __shfl_sync(mask, value, __ffs(later != 0 ? later : mask) - 1);
}}
"""

COOPERATIVE_GROUPS = """#include <cooperative_groups.h>
template <class Group>
__device__ void synchronize(const Group& group) {
  group.sync();
}
"""

# Runs each launch, and goes on after those that fail, but not for long.
MAIN = """
int main() {{
  static const long long driver_cases[][{columns}] = {{{cases}}};
  int failures = 0;
  for (const bool distinct : {{false, true}}) {{
    for (const auto& values : driver_cases) {{
      driver_distinct = distinct;
      driver_launch(values);
      cudaError_t error = cudaGetLastError();
      if (error == cudaSuccess) error = cudaDeviceSynchronize();
      if (error == cudaSuccess) {{
        for (void* each : driver_arrays) cudaFree(each);
      }} else {{
        std::printf("%s\\n", cudaGetErrorString(error));
        cudaDeviceReset();
        if (++failures == 8) return 1;
      }}
      driver_arrays.clear();
    }}
  }}
  return failures != 0;
}}
"""


@dataclasses.dataclass
class Driver:
    text: str
    options: list[str]  # -D of the file's own command line
    faults: list[str] | None  # what the file says is wrong, as in FAULTS; None if no launch is as meant


@dataclasses.dataclass
class Parameter:
    kind: str
    name: str
    values: list  # of an integer, or the names of functions; empty otherwise
    is_function: bool = False


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)


def dimension(head: str, name: str) -> list[int]:
    found = re.search(rf"--{name}=\[?([\d,]+)", head)
    numbers = [int(each) for each in found[1].split(",")] if found else [1]
    if name == "blockDim":
        while math.prod(numbers) > MOST_BLOCK_THREADS:
            numbers[numbers.index(max(numbers))] //= 2
    return numbers


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


def end_of(code: str, begin: int) -> int:
    """Where the bracket closes that opens before `begin`."""
    depth = 1
    while begin < len(code) and depth:
        depth += (code[begin] == "(") - (code[begin] == ")")
        begin += 1
    return begin


def requirements(body: str, block: list[int]) -> list[str]:
    """The conditions of __requires in the kernel as expressions of Python."""
    found = []
    for each in re.finditer(r"__requires\(", body):
        text = body[each.end() : end_of(body, each.end()) - 1]
        text = text.replace("blockDim.x", str(block[0]))
        text = re.sub(r"\s*\|\|?\s*", " or ", re.sub(r"\s*&&?\s*", " and ", text))
        if re.fullmatch(r"[\w\s<>=!]+", text):
            found.append(text)
    return found


def holds(condition: str, values: dict) -> bool:
    try:
        return bool(eval(condition, {"__builtins__": {}}, values))
    except (NameError, SyntaxError, TypeError):
        return True  # of something else


def holds_all(conditions: list[str], values: dict, functions: list[str]) -> bool:
    return all(holds(each, {**{name: name for name in functions}, **values}) for each in conditions)


def parameter_of(text: str, at: int, required: list[str], block: list[int], code: str, body: str) -> Parameter:
    name = re.search(r"(\w+)\s*(?:\[\w*\]\s*)*$", text)
    kind = text[: name.start()].strip() if name else text
    own = name[1] if name and kind else f"driver_argument{at}"
    about = [each for each in required if re.search(rf"\b{own}\b", each)]
    if "*" in kind or "[" in text:
        kind = re.sub(r"\bconst\b|\bvolatile\b|__restrict(__)?\b", "", kind)
        return Parameter(kind.strip() + ("*" if "[" in text else ""), own, [])
    if re.search(rf"\(\s*\*\s*{re.escape(kind)}\s*\)", code):
        functions = sorted({each for clause in about for each in re.findall(rf"\b{own} == ([a-zA-Z]\w*)", clause)})
        return Parameter(kind, own, [each for each in functions if holds_all(about, {own: each}, functions)], True)
    if REAL.search(kind) or not INTEGER.search(kind):
        return Parameter(kind, own, [])
    if not re.search(rf"\b{own}\b", body) and not about:
        return Parameter(kind, own, [1])
    numbers = [int(each) for clause in about for each in re.findall(r"\b\d+\b", clause) if int(each) <= MOST_LAUNCHES]
    candidates = sorted({*FREE_VALUES, block[0], *range(max(numbers, default=0) + 1)})
    return Parameter(kind, own, [each for each in candidates if holds_all(about, {own: each}, [])])


def cases_of(parameters: list[Parameter], required: list[str], threads: int) -> list[list[int]]:
    """The values of each launch: all combinations, or a random part of them with the first."""
    choices = [range(len(each.values)) if each.is_function else each.values for each in parameters if each.values]
    names = [each.name for each in parameters if each.values and not each.is_function]
    numbers = [at for at, each in enumerate(each for each in parameters if each.values) if not each.is_function]
    most = min(MOST_LAUNCHES, max(4, MOST_THREADS // threads))
    if math.prod(map(len, choices)) <= most:
        cases = [list(each) for each in itertools.product(*choices)]
    else:
        source = random.Random(1)
        cases = [[each[0] for each in choices], *([source.choice(each) for each in choices] for _ in range(most - 1))]
    return [each for each in cases if holds_all(required, {name: each[at] for name, at in zip(names, numbers)}, [])]


def argument_lines(parameters: list[Parameter], has_pointers: bool) -> tuple[list[str], list[str]]:
    """What defines the arguments: lines before the function that launches, and in it."""
    before, inside, column = [], [], 0
    for at, each in enumerate(parameters):
        if each.kind.endswith("*"):
            inside.append(f"  {each.kind} {each.name} = driver_array<std::remove_pointer_t<{each.kind}>>();")
        elif each.is_function and each.values:
            before.append(f"__device__ {each.kind} driver_functions{at}[] = {{{', '.join(each.values)}}};")
            inside += [f"  {each.kind} driver_copies{at}[{len(each.values)}];",
                       f"  cudaMemcpyFromSymbol(driver_copies{at}, driver_functions{at}, sizeof driver_copies{at});",
                       f"  {each.kind} {each.name} = driver_copies{at}[driver_values[{column}]];"]  # fmt: skip
        elif each.values:
            inside.append(f"  {each.kind} {each.name} = static_cast<{each.kind}>(driver_values[{column}]);")
        elif REAL.search(each.kind):
            inside.append(f"  {each.kind} {each.name} = 1;")
        else:
            inside.append(f"  {each.kind} {each.name}{{}};")
            if has_pointers:
                inside.append(f"  driver_fill_pointers({each.name});")
        column += bool(each.values)
    return before, inside


def undefined_functions(code: str) -> list[str]:
    """Definitions of the device functions that the file only declares."""
    lines = []
    for kind, name, parameters in re.findall(r"__device__\s+([\w ]+?)\s*\b(\w+)\s*\(([^()]*)\)\s*;", code):
        if not re.search(rf"\b{name}\s*\([^()]*\)\s*\{{", code):
            body = "" if kind == "void" else f" return static_cast<{kind}>(driver_choice()); "
            lines.append(f"__device__ {kind} {name}({parameters}) {{{body}}}")
    return lines


def driver_of(path: Path, name: str) -> Driver | None:
    """A program that launches the file's last kernel; None if it has none."""
    source = path.read_text(errors="replace")
    head = "\n".join(line for line in source.splitlines()[:12] if line.startswith("//"))
    code = without_comments(source)
    kernels = list(re.finditer(r"__global__\s+(?:__launch_bounds__\([^)]*\)\s*)?void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\(", code))
    if not kernels:
        return None
    kernel = kernels[-1]
    end = end_of(code, kernel.end())
    grid, block = dimension(head, "gridDim"), dimension(head, "blockDim")
    threads = math.prod(grid) * math.prod(block)
    required = requirements(code[end:], block)
    listed = arguments_of(code[kernel.end() : end - 1])
    parameters = [parameter_of(each, at, required, block, code, code[end:]) for at, each in enumerate(listed)]
    cases = cases_of(parameters, required, threads)
    before, inside = argument_lines(parameters, bool(POINTER_MEMBER.search(code)))
    constants = re.findall(r"__constant__\s+\w+\s+(\w+)\s*\[", code)
    shape = f"dim3({', '.join(map(str, grid))}), dim3({', '.join(map(str, block))})"
    names = [each.name for each in parameters]
    if "this_grid()" in code:
        launch = [f"  void* driver_arguments[] = {{{', '.join('&' + each for each in names)}}};",
                  f"  cudaLaunchCooperativeKernel({kernel[1]}, {shape}, driver_arguments);"]  # fmt: skip
    else:
        launch = [f"  {kernel[1]}<<<{shape}>>>({', '.join(names)});"]
    optional = {"curand": "#include <curand_kernel.h>", "cooperative_groups": COOPERATIVE_GROUPS}
    includes = "\n".join(lines for word, lines in optional.items() if word in code)
    rows = ", ".join(f"{{{', '.join(map(str, each)) or 0}}}" for each in cases)
    text = [HEAD.format(includes=includes, tools=TOOLS.format(bytes=max(1 << 20, 4 * threads))), f'#line 1 "{path}"', source, '#line 1 "driver"',
            *undefined_functions(code), *before,
            "static void driver_launch([[maybe_unused]] const long long* driver_values) {", *inside,
            *(f"  driver_fill_symbol({each});" for each in constants), *launch, "}",
            MAIN.format(columns=max(1, len(cases[0])), cases=rows)]  # fmt: skip
    right = [] if re.search(r"^//\s*pass", head, re.IGNORECASE) else None
    return Driver("\n".join(text), re.findall(r"-D\S+", head), FAULTS.get(name, right))

#!/usr/bin/env python3
"""Runs ONNX's own backend node tests through `convlab infer`, and reports which operators pass.

A test of the package `onnx` is a model of one operator (or of the function that defines one), inputs and expected
outputs. `convlab infer` gets the first floating-point input; the others become constants of the model. A test passes,
is refused by convlab with a reason, or is wrong. It is skipped if it has no input, or one that no .npy file can hold.

With --convert, each model that loads is also written by `convlab convert`, and ONNX Runtime must compute the expected
outputs from the result.

Exit status 1 if a test is wrong and EXPECTED does not explain it.

Examples:
    python3 tests/tools/check_onnx_nodes.py build/cpu/bin/convlab
    python3 tests/tools/check_onnx_nodes.py build/cpu/bin/convlab --only resize --convert
    python3 tests/tools/check_onnx_nodes.py build/cpu/bin/convlab --convert --json results/onnx/nodes.json

Needs the packages numpy and onnx, and onnxruntime for --convert.
"""

from __future__ import annotations

import argparse
import collections
import datetime
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

TESTS = Path(onnx.__file__).parent / "backend/test/data/node"

# Tests that convlab does not pass, although it computes what the operator's specification defines.
EXPECTED = {
    f"test_qlinearmatmul_{dimensions}_int8_{kind}": "the recorded output wraps around where the definition saturates"
    for dimensions in ("2D", "3D")
    for kind in ("float16", "float32")
}

@dataclass
class Result:
    test: str
    operator: str
    verdict: str  # passed, refused, wrong, skipped
    reason: str = ""
    converted: str = ""  # "": not requested or not possible; passed, peer's own, wrong
    converted_reason: str = ""


@dataclass
class Test:
    """A test's model with one input, that input, and the expected outputs."""

    name: str
    operator: str
    model: onnx.ModelProto
    input: np.ndarray
    expected: list[np.ndarray] = field(default_factory=list)

    @property
    def outputs(self) -> list[str]:
        return [output.name for output in self.model.graph.output]


class Skipped(Exception):
    """Raised for a test that convlab cannot run; the text is the reason."""


def read(name: str) -> Test:
    model = onnx.load(TESTS / name / "model.onnx")
    nodes = model.graph.node
    data = TESTS / name / "test_data_set_0"

    def tensors(kind: str, count: int) -> list[onnx.TensorProto]:
        read = [onnx.TensorProto() for _ in range(count)]
        for i, tensor in enumerate(read):
            tensor.ParseFromString((data / f"{kind}_{i}.pb").read_bytes())
        return read

    try:
        inputs = tensors("input", len(model.graph.input))
        expected = [numpy_helper.to_array(tensor) for tensor in tensors("output", len(model.graph.output))]
        arrays = [numpy_helper.to_array(tensor) for tensor in inputs]
    except Exception as error:
        raise Skipped("its data is no tensors") from error
    if not inputs:
        raise Skipped("it has no input")
    is_real = [array.dtype.kind == "f" or array.dtype.name == "bfloat16" for array in arrays]
    kept = is_real.index(True) if True in is_real else 0
    for i, tensor in enumerate(inputs):
        if i == kept:
            continue
        constant = model.graph.initializer.add()
        constant.CopyFrom(tensor)
        constant.name = model.graph.input[i].name
    only = model.graph.input[kept]
    del model.graph.input[:]
    model.graph.input.append(only)
    operator = nodes[0].op_type if len(nodes) == 1 else "several"
    return Test(name, operator, model, as_npy(arrays[kept]), expected)


def as_npy(array: np.ndarray) -> np.ndarray:
    """Converts the array to a type that `convlab infer` reads."""
    if array.dtype.name == "bfloat16":
        return array.astype(np.float32)
    if array.dtype == np.bool_:
        return array.astype(np.uint8)
    if array.dtype.kind in "iu" and array.dtype not in (np.uint8, np.int8, np.int32, np.int64):
        return array.astype(np.int64)
    if array.dtype.kind not in "fiu":
        raise Skipped(f"its input is {array.dtype}")
    return array


def difference(got: np.ndarray, expected: np.ndarray) -> str:
    """Returns the difference as text, or "". Integers and bools must be equal."""
    if got.shape != expected.shape:
        return f"its shape is {got.shape}, not {expected.shape}"
    half = expected.dtype == np.float16 or expected.dtype.name == "bfloat16"
    value, wanted = got.astype(np.float64), expected.astype(np.float64)
    if expected.dtype.kind in "iub":
        right = np.array_equal(value, wanted)
    else:
        relative, absolute = (1e-2, 1e-2) if half else (1e-3, 1e-5)
        right = np.allclose(value, wanted, rtol=relative, atol=absolute, equal_nan=True)
    return "" if right else f"it is off by up to {np.nanmax(np.abs(value - wanted)):.3g}"


def command(arguments: list[str | Path]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True, timeout=120)


def first_line(done: subprocess.CompletedProcess[str], path: Path) -> str:
    lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
    return lines[0].removeprefix("convlab: error: ").removeprefix(f"{path}: error: ")


def infer(binary: str, test: Test, folder: Path) -> tuple[str, str]:
    """Returns the verdict on `convlab infer`, and the reason."""
    model, outputs = folder / "model.onnx", folder / "outputs"
    np.save(folder / "x.npy", test.input)
    done = command([binary, "infer", model, "--input", folder / "x.npy", "--output", f"{outputs}/", "--threads", "1"])
    if done.returncode in (2, 3):
        return "refused", first_line(done, model)
    if done.returncode != 0:
        return "wrong", first_line(done, model)
    for name, expected in zip(test.outputs, test.expected):
        if not name:
            continue
        problem = difference(np.load(outputs / f"{name.replace('/', '_').replace(':', '_')}.npy"), expected)
        if problem:
            return "wrong", f"{name}: {problem}"
    return "passed", ""


def run_onnxruntime(model: Path, given: np.ndarray) -> dict[str, np.ndarray]:
    """Returns ONNX Runtime's outputs by name. Raises an exception if it rejects the model."""
    import onnxruntime  # only --convert needs it

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    only = session.get_inputs()[0]
    types = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16}
    kind = types.get(only.type) or np.dtype(only.type.removeprefix("tensor(").removesuffix(")"))
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {only.name: given.astype(kind)})))


def converted_difference(test: Test, model: Path) -> str:
    try:
        values = run_onnxruntime(model, test.input)
    except Exception as error:
        return f"ONNX Runtime refuses: {str(error).strip().splitlines()[0]:.200}"
    for name, expected in zip(test.outputs, test.expected):
        problem = difference(values[name], expected) if name in values else "there is no such output"
        if problem:
            return f"{name}: {problem}"
    return ""


def convert(binary: str, test: Test, folder: Path) -> tuple[str, str]:
    """Returns the verdict of ONNX Runtime on the output of `convlab convert`, and the reason."""
    original, model = folder / "model.onnx", folder / "converted.onnx"
    done = command([binary, "convert", original, "-o", model])
    if done.returncode != 0:
        return "wrong", first_line(done, original)
    try:
        onnx.checker.check_model(str(model))
    except Exception as error:
        return "wrong", f"ONNX's checker: {str(error).strip().splitlines()[0]:.200}"
    problem = converted_difference(test, model)
    if not problem:
        return "passed", ""
    # The peer's own error if ONNX Runtime also fails, or differs from ONNX's definition, on the test's original model.
    return "peer's own" if converted_difference(test, original) else "wrong", problem


def check(binary: str, name: str, converts: bool) -> Result:
    try:
        test = read(name)
    except Skipped as reason:
        return Result(name, "", "skipped", str(reason))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "model.onnx").write_bytes(test.model.SerializeToString())
        result = Result(name, test.operator, *infer(binary, test, folder))
        if converts and result.verdict == "passed":
            result.converted, result.converted_reason = convert(binary, test, folder)
        return result


def table(results: list[Result]) -> list[dict]:
    """One line an operator: numbers of tests by verdict, and the reasons of refusals."""
    lines: dict[str, dict] = {}
    for result in results:
        if result.verdict == "skipped":
            continue
        line = lines.setdefault(result.operator, {"passed": 0, "refused": 0, "wrong": 0, "converted": 0})
        line[result.verdict] += 1
        line["converted"] += result.converted == "passed"
        if result.verdict == "refused":
            reasons = line.setdefault("reasons", [])
            reason = result.reason.partition("): ")[2] or result.reason
            if reason not in reasons and len(reasons) < 4:
                reasons.append(reason)
    return [{"operator": operator, **line} for operator, line in sorted(lines.items())]


def print_table(lines: list[dict]) -> None:
    print(f"{'operator':<30} {'passed':>7} {'refused':>8} {'wrong':>6} {'converted':>10}  reasons")
    for line in lines:
        reasons = "; ".join(line.get("reasons", []))[:120]
        print(
            f"{line['operator']:<30} {line['passed']:>7} {line['refused']:>8} {line['wrong']:>6}"
            f" {line['converted']:>10}  {reasons}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", metavar="BINARY", help="convlab")
    parser.add_argument("--only", default="", metavar="TEXT", help="tests whose name holds this")
    parser.add_argument("--convert", action="store_true", help="also convert each model, and run ONNX Runtime on that")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="tests at a time (2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table and all that is not passed there")
    args = parser.parse_args()
    names = sorted(path.name for path in TESTS.iterdir() if args.only in path.name)
    with ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(lambda name: check(args.binary, name, args.convert), names))
    lines = table(results)
    print_table(lines)
    unexplained = 0
    for result in results:
        explained = EXPECTED.get(result.test)
        if result.verdict == "wrong":
            unexplained += explained is None
            print(f"wrong: {result.test}: {result.reason}" + (f" (expected: {explained})" if explained else ""))
        if result.converted == "wrong":
            unexplained += 1
            print(f"converted, wrong: {result.test}: {result.converted_reason}")
        if result.converted == "peer's own":
            print(f"converted, peer's own fault: {result.test}: {result.converted_reason}")
    verdicts = collections.Counter(result.verdict for result in results)
    converted = collections.Counter(result.converted for result in results if result.converted)
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()))
    if converted:
        print("converted: " + ", ".join(f"{count} {verdict}" for verdict, count in converted.most_common()))
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        record = {
            "onnx": onnx.__version__,
            "when": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "verdicts": dict(verdicts),
            "converted": dict(converted),
            "operators": lines,
            "wrong": [
                {"test": r.test, "reason": r.reason, "expected": EXPECTED.get(r.test, "")}
                for r in results
                if r.verdict == "wrong"
            ],
            "converted_otherwise": [
                {"test": r.test, "verdict": r.converted, "reason": r.converted_reason}
                for r in results
                if r.converted not in ("", "passed")
            ],
        }
        args.json.write_text(json.dumps(record, indent=1) + "\n")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())

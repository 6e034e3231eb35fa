"""Kernels are verified and timed in a child process."""

import subprocess
from pathlib import Path

import pytest

import convlab
from convlab.program import program

PROBLEM = "n1_c3h9w11_k4r3s3"
TEXT = """
void convolve(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S) {
  const int P = H - R + 1, Q = W - S + 1;
  for (int i = 0; i < N * K * P * Q; ++i) {
    const int q = i % Q, p = i / Q % P, k = i / Q / P % K, n = i / Q / P / K;
    float sum = 0;
    for (int c = 0; c < C; ++c) {
      for (int r = 0; r < R; ++r) {
        for (int s = 0; s < S; ++s) sum += x[((n * C + c) * H + p + r) * W + q + s] * w[((k * C + c) * R + r) * S + s];
      }
    }
    STATEMENT
  }
}
"""


def kernel_file(folder: Path, statement: str) -> Path:
    """Returns a CPU kernel file that executes `statement` for each output's sum."""
    file = folder / "mine.cc"
    file.write_text(TEXT.replace("STATEMENT", statement))
    return file


def test_verify():
    result = convlab.verify("cpu.direct", problem=PROBLEM)
    assert result["cases"]
    assert {case["result"] for case in result["cases"]} <= {"PASSED", "SKIPPED"}


def test_bench():
    results = convlab.bench("cpu.direct", problem=PROBLEM, images=[2, 3], seconds=0.01)
    assert "cpu.direct" in {result["kernel"] for result in results}
    assert all(result["hot_ms"]["median"] > 0 for result in results)


@pytest.mark.parametrize("kernel, options", [("cpu.nothing", {}), ("nothing.cu", {}), ("cpu.direct", {"problem": "?"}),
                                             ("cpu.direct", {"no_option": 1})])
def test_errors(kernel, options):
    with pytest.raises(convlab.Error) as error:
        convlab.verify(kernel, **options)
    assert error.value.status == 2 and not str(error.value).startswith("convlab")


def test_no_gpu():
    with pytest.raises(convlab.Error) as error:
        convlab.bench("cuda.basic", device="cuda:99", problem=PROBLEM)
    assert error.value.status == 3


@pytest.mark.parametrize("statement, verdict, reason", [
    ("y[i] = sum;", "PASSED", ""),
    ("y[i] = sum + 1;", "FAILED", "outputs are wrong"),
    ("*(volatile int*)0 = 1;", "FAILED", "crashed"),
])
def test_files(tmp_path, statement, verdict, reason):
    (file,) = convlab.verify(kernel_file(tmp_path, statement), problem=PROBLEM)["files"]
    assert file["verdict"] == verdict
    assert reason in file["cases"][0]["reason"]


def test_a_file_that_does_not_compile(tmp_path):
    with pytest.raises(convlab.Error, match="nonsense") as error:
        convlab.verify(kernel_file(tmp_path, "nonsense;"), problem=PROBLEM)
    assert error.value.status == 2


def test_program():
    listed = subprocess.run([program(), "list", "models"], capture_output=True, text=True, check=True).stdout
    assert "sp25" in listed

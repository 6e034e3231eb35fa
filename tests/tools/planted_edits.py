"""Plants one mistake at a time in kernel files of all kinds, and checks what `convlab verify --device simt` reports.

    python3 planted_edits.py BINARY [N]

N: only every Nth mistake. Every mistake must be detected without a timeout, and for at least 80 % of them the first
line must name the cause: a fault with its location, or a diagnosis of the wrong output. Exit status 1 otherwise; 77 if
the program has no simt.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

LADDER = Path(__file__).resolve().parents[2] / "convlab/kernels/ladder"
SQUARE = ["n3_c4h21w21_k5r4s4"]  # the course's interfaces support only square images and filters
ANY = ["n3_c4h21w23_k5r4s3", "n2_c3h37w35_k6r5s5"]

# By template or rung: the text to replace, and its replacement.
EDITS: dict[str, list[tuple[str, str]]] = {
    "mxnet": [
        ("c < C; ++c", "c < 1; ++c"),
        ("(b * C + c) * H", "(b * C) * H"),
        ("(m * C + c) * K", "(m * C) * K"),
        ("(b * C + c) * H", "(c) * H"),
        ("(m * C + c) * K", "(c) * K"),
        ("(m * C + c) * K", "(m + c) * K"),
        ("(b * C + c) * H", "(b + c) * H"),
        ("c < C; ++c) {", "c < C; ++c) { sum = 0;"),
        ("p < K; ++p", "p < K - 1; ++p"),
        ("q < K; ++q", "q < K - 1; ++q"),
        ("h >= H_out || v", "h >= H_out - 1 || v"),
        ("v >= W_out) return", "v >= W_out - 1) return"),
        ("* H_out + h) * W_out + v] = sum", "* H_out + v) * W_out + h] = sum"),
        ("sum += x[", "if (threadIdx.x + q < TILE_WIDTH && threadIdx.y + p < TILE_WIDTH) sum += x["),
        ("* K + p) * K + q]", "* K + q) * K + p]"),
        ("* K + p) * K + q]", "* K + K - 1 - p) * K + K - 1 - q]"),
        ("const int b = blockIdx.x, m", "const int b = blockIdx.x / 2 * 2, m"),
        ("float sum = 0", "int sum = 0"),
        ("] = sum;", "] = sum < 0 ? 0 : sum;"),
        ("* H + h + p) * W + v + q", "* H + h + p) * W + v"),
        ("((b * M + m) * H_out", "((m) * H_out"),
    ],
    "minidnn": [
        ("if (h >= Height_out || w >= Width_out) return;", ""),
        ("h >= Height_out || w >= Width_out", "h >= Height_out"),
        ("* Height + h + p) * Width + w + q", "* Height + w + p) * Width + h + q"),
        ("* Height + h + p) * Width +", "* Height + h + p) * Width_out +"),
        ("c < Channel;", "c < Channel - 1;"),
        ("int c = 0; c < Channel", "int c = 1; c < Channel"),
        ("float sum = 0;", "float sum = threadIdx.x;"),
        ("* K + p) * K + q];", "* K + p) * K + p];"),
        ("((b * Map_out + m)", "((b * Channel + m)"),
        ("p < K; ++p", "p <= K; ++p"),
        ("((m * Channel + c) * K + p)", "((c * Map_out + m) * K + p)"),
        ("* Width_out + w] = sum;", "* Width_out + w] = sum; if (w > 0) output[((b * Map_out + m) * Height_out + h) * Width_out + w - 1] = sum;"),
    ],
    "function": [
        ("if (i >= N * K * P * Q) return;", ""),
        ("(outputs + threads - 1) / threads", "outputs / threads"),
        ("i / Q % P", "i / Q % Q"),
        ("/ P % K", "/ P % C"),
        ("/ P / K;", "/ P;"),
        ("* H + p + r) * W", "* W + p + r) * W"),
        ("* R + r) * S + s]", "* S + r) * S + s]"),
        ("q + s] *", "q + s + 1] *"),
        ("+ p + r)", "+ p + r + 1)"),
        ("y[i] = sum", "y[i + 1] = sum"),
        ("int q = i % Q", "int q = i % (Q - Q)"),
        ("y[i] = sum", "((float*)nullptr)[i] = sum"),
    ],
    "02_shared_tile.cu": [
        ("      __syncthreads();\n      for (int r", "      for (int r"),
        ("      __syncthreads();\n    }\n    if", "    }\n    if"),
        ("column < columns; column", "column < kTile; column"),
        ("row < rows; row", "row < kTile; row"),
        ("row * columns + column", "row * kTile + column"),
        ("across < shape.w;", "across <= shape.w;"),
        ("filter[i] = w[", "if (i < 16) filter[i] = w["),
        ("if (p < shape.p && q < shape.q) y", "if (q < shape.q) y"),
        ("    float sum = 0;\n", "    if (p >= shape.p || q >= shape.q) return;\n    float sum = 0;\n"),
    ],
    "05_fused_unroll_gemm.cu": [
        ("      __syncthreads();\n      const int staged", "      const int staged"),
        ("__syncthreads();\n    }\n    if (map", "}\n    if (map"),
        ("along < terms ? filter[along] : 0", "true ? filter[along] : 0"),
        ("first < terms; first += kTile", "first + kTile <= terms; first += kTile"),
        ("tile_w[threadIdx.y][i] * tile_x[i][threadIdx.x]", "tile_w[i][threadIdx.y] * tile_x[i][threadIdx.x]"),
        ("tile_x[i][threadIdx.x]", "tile_x[i][threadIdx.x + 1]"),
        ("if (map < shape.maps && pixel < pixels) y", "if (pixel < pixels) y"),
    ],
}  # fmt: skip


def base_text(binary: str, base: str, folder: Path) -> str:
    if base.endswith(".cu"):
        return (LADDER / base).read_text()
    made = folder / f"template_{base}"
    subprocess.run([binary, "new", base, "-o", str(made)], check=True, stdout=subprocess.DEVNULL)
    return made.read_text()


def planted(binary: str, base: str, edits: list[tuple[str, str]], folder: Path) -> list[Path]:
    text, files = base_text(binary, base, folder), []
    for number, (what, by) in enumerate(edits):
        if what not in text:
            sys.exit(f"{base}: has no '{what}'")
        path = folder / f"{base.removesuffix('.cu')}_{number}.{'cuh' if base == 'mxnet' else 'cu'}"
        path.write_text(text.replace(what, by, 1))
        files.append(path)
    return files


def verdicts(binary: str, files: list[Path], shapes: list[str], folder: Path) -> list[dict]:
    (folder / "shapes.txt").write_text("\n".join(shapes) + "\n")
    result = folder / "result.json"
    done = subprocess.run([binary, "verify", *map(str, files), "--device", "simt", "--shapes", str(folder / "shapes.txt"),
                           "--stuck-after", "5", "--json", str(result)], capture_output=True, text=True)  # fmt: skip
    if done.returncode == 3:
        print(done.stderr)
        sys.exit(77)
    return json.loads(result.read_text())["files"]


def main() -> int:
    binary, every = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    count = caught = named = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for base, all_edits in EDITS.items():
            edits = all_edits[::every]
            shapes = SQUARE if base in ("mxnet", "minidnn") else ANY
            for (what, by), file in zip(edits, verdicts(binary, planted(binary, base, edits, folder), shapes, folder), strict=True):
                wrong = [case for case in file["cases"] if case["verdict"] != "PASSED"]
                reason = wrong[0]["reason"].split("\n")[0] if wrong else ""
                is_named = "help: possibly " in reason or any(case["faults"] for case in wrong[:1])
                count, caught, named = count + 1, caught + (file["verdict"] == "FAILED"), named + is_named
                if file["verdict"] != "FAILED" or not is_named:
                    print(f"{base}: '{what}' -> '{by}': {file['verdict']}: {reason[:200]}")
    print(f"{count} mistakes, {caught} caught, {named} named")
    return 0 if count >= 60 // every and caught == count and named >= 0.8 * count else 1


if __name__ == "__main__":
    sys.exit(main())

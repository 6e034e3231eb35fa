"""The programs in examples/python that need third-party packages; each is skipped if its package is not installed."""

import subprocess
import sys

import pytest

from conftest import ROOT

EXAMPLES = ROOT / "examples" / "python"


def run(*arguments) -> str:
    ended = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=100)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_two_lines_port_a_script(tmp_path):
    pytest.importorskip("onnxruntime")
    text = (EXAMPLES / "onnxruntime_port.py").read_text()
    ported = []
    for line in text.splitlines():
        if line.startswith(("# import ", "# session ")):
            while not ported[-1]:
                ported.pop()
            ported[-1] = line.removeprefix("# ")
        else:
            ported.append(line)
    (tmp_path / "ported.py").write_text("\n".join(ported))
    model = ROOT / "models" / "fa19.onnx"
    theirs = run(EXAMPLES / "onnxruntime_port.py", model).split()
    ours = run(tmp_path / "ported.py", model).split()
    assert "onnxruntime" not in "\n".join(ported[5:])
    assert theirs[::2] == ours[::2]
    assert [float(score) for score in ours[1::2]] == pytest.approx([float(score) for score in theirs[1::2]], abs=2e-4)


@pytest.mark.parametrize("package, example", [("ray.data", "ray_data.py"), ("dask.distributed", "dask_actor.py")])
def test_actors(package, example):
    pytest.importorskip(package)
    lines = run(EXAMPLES / example, "sp25", 4000).splitlines()
    assert [line.split(":")[0] for line in lines] == ["1 actors", "2 actors"]

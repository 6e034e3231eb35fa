"""The results of a session, through each way of calling it."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import convlab
from conftest import ROOT


def test_all_ways_give_the_same(session, images):
    scores = session(images)
    assert scores.shape == (3, 10) and scores.dtype == np.float32
    np.testing.assert_allclose(scores.sum(axis=1), 1, rtol=1e-5)
    (run,) = session.run(None, {"data": images})
    (named,) = session.run([session.get_outputs()[0].name], {"data": images})
    np.testing.assert_array_equal(scores, run)
    np.testing.assert_array_equal(scores, named)


def test_batches_of_any_size_in_any_order(session, images):
    scores = session(images)
    for number in (3, 1, 2, 3, 1):
        np.testing.assert_array_equal(session(images[:number]), scores[:number])


def test_what_is_computed_before_stays(session, images):
    first = session(images)
    kept = first.copy()
    session(images[::-1])
    np.testing.assert_array_equal(first, kept)


def test_writes_into_out(session, images):
    out = np.full((3, 10), 7, np.float32)
    assert session(images, out=out) is out
    np.testing.assert_array_equal(out, session(images))
    rest = np.zeros((3, 10), np.float32)
    (same,) = session.run(None, {"data": images}, out=[rest])
    assert same is rest
    np.testing.assert_array_equal(rest, out)


def test_values(session):
    (data,) = session.get_inputs()
    (softmax,) = session.get_outputs()
    assert (data.name, data.type, data.shape) == ("data", "tensor(float)", [None, 1, 86, 86])
    assert (softmax.name, softmax.type, softmax.shape) == ("softmax", "tensor(float)", None)


def test_several_inputs_and_outputs(pair):
    a, b = np.float32([[1, 2, 3]]), np.float32([[4, 5, 6]])
    total, product = pair(a, b)
    np.testing.assert_array_equal(total, a + b)
    np.testing.assert_array_equal(product, a * b)
    np.testing.assert_array_equal(pair.run(["product", "total"], {"b": b, "a": a}), [a * b, a + b])
    (only,) = pair.run(["product"], {"a": a, "b": b})
    np.testing.assert_array_equal(only, a * b)
    out = [np.empty((1, 3), np.float32), np.empty((1, 3), np.float32)]
    assert pair(a, b, out=out)[1] is out[1]
    np.testing.assert_array_equal(out, [a + b, a * b])
    mine = np.empty((1, 3), np.float32)
    assert pair.run(["product"], {"a": a, "b": b}, out=mine)[0] is mine
    np.testing.assert_array_equal(mine, a * b)


def test_plan_and_profile(session, images):
    plan, profile = session.plan(images), session.profile(images, repeat=2)
    assert [step["kernel"] for step in plan] == [step["kernel"] for step in profile]
    assert set(plan[0]) == {"name", "op", "kernel", "flops", "seconds"}
    assert all(step["seconds"] == 0 for step in plan)
    assert sum(step["seconds"] for step in profile) > 0


def test_options(images):
    scores = convlab.Session("sp25", device="cpu")(images)
    for options in ({"plan": "folded"}, {"plan": "layers"}, {"threads": 1}, {"math": "bf16"}):
        other = convlab.Session("sp25", device="cpu", **options)(images)
        np.testing.assert_allclose(other, scores, atol=0.02)


def test_cloned_session(images):
    session = convlab.Session("sp25", device="cpu", threads=1)
    scores = session(images)
    others = [session.clone(device="cpu", threads=1) for _ in range(3)]
    others.append(others[0].clone(device="cpu", plan="layers"))
    del session
    with ThreadPoolExecutor(len(others)) as threads:
        for each in threads.map(lambda other: other(images), others):
            np.testing.assert_allclose(each, scores, atol=1e-5)
    with pytest.raises(convlab.Error, match="tpu"):
        others[0].clone(device="tpu")
    assert others[3].clone(math="fp32").plan(images) == others[3].plan(images) != others[0].plan(images)


def test_device(session):
    assert session.device_name == "cpu"
    assert "threads" in session.device


def test_version():
    assert convlab.__version__.count(".") == 2


def test_same_as_onnx_runtime(session, images):
    onnxruntime = pytest.importorskip("onnxruntime")
    peer = onnxruntime.InferenceSession(ROOT / "models" / "sp25.onnx", providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(session.run(None, {"data": images}), peer.run(None, {"data": images}), atol=1e-5)
    assert peer.get_inputs()[0].type == session.get_inputs()[0].type

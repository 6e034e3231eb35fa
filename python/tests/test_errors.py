"""Errors have a readable message, and the session stays usable."""

import ctypes
import pickle

import numpy as np
import pytest

import convlab


def test_error():
    error = convlab.Error("text", 3)
    assert isinstance(error, RuntimeError) and str(error) == "text" and error.status == 3
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == "text" and copy.status == 3


@pytest.mark.parametrize("model", ["nothing.onnx", b"nothing\xff.onnx", "fa91", "", "with\0zero", 7])
def test_no_model(model):
    with pytest.raises(convlab.Error) as error:
        convlab.Session(model, device="cpu")
    assert error.value.status == 2 and str(error.value)


def test_broken_model(tmp_path, pair_file):
    good = pair_file.read_bytes()
    for name, data in {"empty": b"", "short": good[:-20], "noise": b"\xff" * 100}.items():
        (tmp_path / f"{name}.onnx").write_bytes(data)
        with pytest.raises(convlab.Error, match=name):
            convlab.Session(tmp_path / f"{name}.onnx", device="cpu")


@pytest.mark.parametrize("options, status", [
    ({"device": "tpu"}, 2),
    ({"math": "fp8"}, 2),
    ({"plan": "best"}, 2),
    ({"threads": -1}, 2),
    ({"batch_wait_us": -1}, 2),
    ({"batch_images": -1}, 2),
])
def test_bad_options(pair_file, options, status):
    with pytest.raises(convlab.Error) as error:
        convlab.Session(pair_file, **{"device": "cpu", **options})
    assert error.value.status == status


def test_no_such_gpu(pair_file):
    with pytest.raises(convlab.Error) as error:
        convlab.Session(pair_file, device="cuda:99")
    assert error.value.status == 3


@pytest.mark.parametrize("shape", [(3, 1, 86), (3, 2, 86, 86), (3, 1, 85, 86), (), (7,)])
def test_wrong_shape(session, images, shape):
    with pytest.raises(convlab.Error):
        session(np.zeros(shape, np.float32))
    session(images)


def test_wrong_names(pair):
    a = np.zeros((1, 3), np.float32)
    with pytest.raises(convlab.Error, match="input 'b' is not given"):
        pair.run(None, {"a": a})
    with pytest.raises(convlab.Error, match="no input 'c'; it takes 'a', 'b'"):
        pair.run(None, {"a": a, "b": a, "c": a})
    with pytest.raises(convlab.Error, match="no output 'sum'; it gives 'total', 'product'"):
        pair.run(["sum"], {"a": a, "b": a})
    with pytest.raises(convlab.Error, match="twice"):
        pair.run(["total", "total"], {"a": a, "b": a})
    with pytest.raises(convlab.Error, match="a list"):
        pair.run("total", {"a": a, "b": a})
    with pytest.raises(convlab.Error, match="no output 1"):
        pair.run([1], {"a": a, "b": a})


def test_wrong_number_of_arguments(pair):
    a = np.zeros((1, 3), np.float32)
    for inputs in ((), (a,), (a, a, a)):
        with pytest.raises(convlab.Error, match=f"{len(inputs)} inputs are given; the model takes 2: 'a', 'b'"):
            pair(*inputs)
        with pytest.raises(convlab.Error):
            pair.plan(*inputs)
    with pytest.raises(convlab.Error):
        pair.profile(a, a, repeat=0)


@pytest.mark.parametrize("call", [
    lambda session, x: session.run(None),
    lambda session, x: session.run(None, [x]),
    lambda session, x: session.run(5, {"data": x}),
    lambda session, x: session(x, nothing=1),
    lambda session, x: convlab.Session(),
    lambda session, x: convlab.Session(None),
    lambda session, x: convlab.Session("sp25", "cpu"),
    lambda session, x: convlab.Session("sp25", threads="many"),
])
def test_wrong_arguments_are_type_errors(session, images, call):
    with pytest.raises(TypeError):
        call(session, images)


@pytest.mark.parametrize("stream", ["text", -1, 1 << 70, 1.5])
def test_bad_stream(session, images, stream):
    with pytest.raises(convlab.Error, match="stream"):
        session(images, stream=stream)


def test_stream_on_a_cpu(session, images):
    with pytest.raises(convlab.Error):
        session(images, stream=7)


class OnGpu:
    """An array that claims to be in GPU memory."""

    def __init__(self, array: np.ndarray, device: tuple):
        self.array, self.device = array, device

    def __dlpack__(self, **_):
        capsule = self.array.__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        device = ctypes.cast(pointer(capsule, b"dltensor") + 8, ctypes.POINTER(ctypes.c_int32))
        device[0], device[1] = self.device
        return capsule

    def __dlpack_device__(self):
        return self.device


@pytest.mark.parametrize("device, reason", [((2, 1), "in the memory of cuda:1; the session computes on cpu"),
                                            ((8, 0), "a device that convlab does not know")])
def test_other_devices(session, images, device, reason):
    with pytest.raises(convlab.Error, match=reason):
        session(OnGpu(images, device))


def test_nan_is_computed(session, images):
    clean = session(images)
    images = images.copy()
    images[1, 0, 40, 40] = np.nan
    scores = session(images)
    assert np.isnan(scores[1]).all()
    np.testing.assert_array_equal(scores[[0, 2]], clean[[0, 2]])

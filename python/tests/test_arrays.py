"""Which arrays a session accepts, and in which memory layout."""

import array

import numpy as np
import pytest

import convlab


@pytest.fixture
def a():
    return np.arange(12, dtype=np.float32).reshape(4, 3)


def of_pair(pair, x):
    return pair(x, x)[0]


def test_buffers(pair, a):
    np.testing.assert_array_equal(of_pair(pair, memoryview(a)), 2 * a)
    flat = memoryview(array.array("f", a.ravel())).cast("B").cast("f", a.shape)
    np.testing.assert_array_equal(of_pair(pair, flat), 2 * a)
    np.testing.assert_array_equal(of_pair(pair, memoryview(a.tobytes()).cast("f", a.shape)), 2 * a)


def test_read_only_input(pair, a):
    a.flags.writeable = False
    np.testing.assert_array_equal(of_pair(pair, a), 2 * a)


@pytest.mark.parametrize("type_name", ["float16", "float64", "int8", "int32", "int64", "uint8"])
def test_other_types_are_converted(pair, a, type_name):
    np.testing.assert_array_equal(of_pair(pair, a.astype(type_name)), 2 * a)


def test_bytes_are_pixels(session, images):
    pixels = images.astype(np.uint8)
    np.testing.assert_allclose(session(pixels), session(pixels.astype(np.float32)), atol=1e-6)


def test_strided_inputs_are_copied(pair, a):
    for strided in (np.asfortranarray(a), a[::-1], np.repeat(a, 2, axis=1)[:, ::2], np.broadcast_to(a[:1], (4, 3))):
        assert not strided.flags.c_contiguous
        np.testing.assert_array_equal(of_pair(pair, strided), 2 * strided)


def test_no_images(pair):
    with pytest.raises(convlab.Error, match="input shape 0x3"):
        of_pair(pair, np.empty((0, 3), np.float32))


@pytest.mark.parametrize("make, reason", [
    (lambda a: a.astype(bool), "bool; convlab takes float32"),
    (lambda a: a.astype(np.uint16), "uint16; convlab takes float32"),
    (lambda a: a.astype(np.complex64), "complex64; convlab takes float32"),
    (lambda a: a.astype(">f4"), "gives no array|does not know"),
    (lambda a: a.astype(object), "gives no array"),
    (lambda a: a.tolist(), "is a list that gives no array"),
    (lambda a: None, "is a NoneType"),
    (lambda a: np.datetime64("now"), "is a datetime64"),
    (lambda a: a.reshape((4, 3) + (1,) * 7), "has 9 sizes"),
])
def test_what_is_no_array(pair, a, make, reason):
    with pytest.raises(convlab.Error, match=f"input 'a' .*({reason})") as error:
        of_pair(pair, make(a))
    assert error.value.status == 2


@pytest.mark.parametrize("out, reason", [
    (np.empty((4, 6), np.float32)[:, ::2], "is strided"),
    (np.frombuffer(bytes(48), np.float32).reshape(4, 3), "is read-only"),
    (np.empty((4, 3), np.float64), "float64|type"),
    (np.empty((5, 3), np.float32), "5|shape"),
    (b"bytes", "is read-only"),
    ("text", "is a str"),
])
def test_bad_out(pair, a, out, reason):
    with pytest.raises(convlab.Error, match=reason):
        pair(a, a, out=[out, np.empty((4, 3), np.float32)])


def test_out_apart(pair, a):
    one = np.empty((4, 3), np.float32)
    for out in ([one, one], [a, one], [one, np.concatenate([one, one])[2:6]][:1] + [one[::1]]):
        with pytest.raises(convlab.Error, match="shares memory"):
            pair(a, a, out=out)
    with pytest.raises(convlab.Error, match="1 arrays are given as out for 2 outputs"):
        pair(a, a, out=one)


def test_torch(pair, a):
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(a)
    total, product = pair(x, x)
    assert isinstance(total, torch.Tensor) and torch.equal(total, 2 * x) and torch.equal(product, x * x)
    assert torch.equal(pair(x[:, [2, 1, 0]].T.contiguous().T, x)[0], x[:, [2, 1, 0]] + x)
    out = torch.empty(4, 3), torch.empty(4, 3)
    assert pair(x, x, out=out)[0] is out[0]
    assert torch.equal(out[0], 2 * x)
    assert not of_pair(pair, x.clone().requires_grad_()).requires_grad
    with pytest.raises(convlab.Error, match="bfloat16"):
        of_pair(pair, x.to(torch.bfloat16))
    assert isinstance(of_pair(pair, x.to(torch.float16)), torch.Tensor)

"""Sessions on a GPU, and PyTorch tensors in its memory; skipped if convlab or PyTorch has no GPU."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import convlab
from conftest import ROOT

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("PyTorch has no GPU", allow_module_level=True)

TOLERANCE = 1e-4


@pytest.fixture(scope="module")
def gpu() -> convlab.Session:
    try:
        return convlab.Session(ROOT / "models" / "sp25.onnx", device="cuda:0")
    except convlab.Error as error:
        pytest.skip(str(error))


class Foreign:
    """A tensor of a library other than PyTorch."""

    def __init__(self, tensor: torch.Tensor):
        self.tensor = tensor

    def __dlpack__(self, **options):
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


def test_arrays_of_the_host(gpu, session, images):
    assert gpu.device_name == "cuda:0"
    np.testing.assert_allclose(gpu(images), session(images), atol=TOLERANCE)
    assert not gpu(torch.from_numpy(images)).is_cuda
    np.testing.assert_allclose(gpu(torch.from_numpy(images).pin_memory()).numpy(), session(images), atol=TOLERANCE)


@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8])
def test_tensors_stay_on_the_gpu(gpu, session, images, dtype):
    x = torch.from_numpy(images).to(dtype)
    y = gpu(x.cuda())
    assert isinstance(y, torch.Tensor) and y.device == torch.device("cuda", 0) and y.dtype == torch.float32
    np.testing.assert_allclose(y.cpu().numpy(), session(x.numpy()), atol=TOLERANCE)
    out = torch.full((3, 10), 7.0, device="cuda")
    assert gpu.run(None, {"data": x.cuda()}, out=[out])[0] is out
    assert torch.equal(out, y)


@pytest.mark.parametrize("give", [lambda stream: None, lambda stream: stream, lambda stream: stream.cuda_stream])
def test_work_takes_its_place_in_a_stream(gpu, session, images, give):
    """Earlier work in the stream delays the input and later work reads the output, without synchronization between."""
    wanted = session(images)
    stream = torch.cuda.Stream()
    source = torch.from_numpy(images).cuda()
    torch.cuda.synchronize()
    for _ in range(20):
        with torch.cuda.stream(stream):
            x = torch.zeros_like(source)
            torch.cuda._sleep(2_000_000)
            x.copy_(source)
            doubled = gpu(x, stream=give(stream)) * 2
            x.zero_()
        stream.synchronize()
        np.testing.assert_allclose(doubled.cpu().numpy(), 2 * wanted, atol=2 * TOLERANCE)


def test_another_stream_than_the_current(gpu, session, images):
    """The output is ready in the stream passed to the session."""
    stream = torch.cuda.Stream()
    x = torch.from_numpy(images).cuda()
    torch.cuda.synchronize()
    y = gpu(x, stream=stream.cuda_stream)
    stream.synchronize()
    np.testing.assert_allclose(y.cpu().numpy(), session(images), atol=TOLERANCE)


def test_tensors_of_others(gpu, session, images):
    y = gpu(Foreign(torch.from_numpy(images).cuda()))
    np.testing.assert_allclose(torch.from_dlpack(y).cpu().numpy(), session(images), atol=TOLERANCE)


def test_errors(gpu, images):
    x = torch.from_numpy(images).cuda()
    with pytest.raises(convlab.Error, match="strided"):
        gpu(x.transpose(2, 3))
    with pytest.raises(convlab.Error, match="strided"):
        gpu(x, out=torch.empty(3, 20, device="cuda")[:, ::2])
    for other in (np.empty((3, 10), np.float32), torch.empty(3, 10)):
        with pytest.raises(convlab.Error):
            gpu(x, out=other)
    with pytest.raises(convlab.Error):
        gpu(images, out=torch.empty(3, 10, device="cuda"))
    with pytest.raises(convlab.Error):
        gpu(images, stream=torch.cuda.current_stream())
    with pytest.raises(convlab.Error):
        gpu(x.to(torch.float64))
    if torch.cuda.device_count() > 1:
        with pytest.raises(convlab.Error, match="in the memory of cuda:1; the session computes on cuda:0"):
            gpu(x.to("cuda:1"))
    gpu(x)


def test_threads(gpu, session, images):
    def run(i: int) -> np.ndarray:
        with torch.cuda.stream(torch.cuda.Stream()):
            return gpu(torch.from_numpy(images[: i % 3 + 1]).cuda()).cpu().numpy()

    wanted = session(images)
    with ThreadPoolExecutor(8) as pool:
        for i, result in enumerate(pool.map(run, range(100))):
            np.testing.assert_allclose(result, wanted[: i % 3 + 1], atol=TOLERANCE)

"""convlab: models in ONNX's format, run on CPUs and GPUs, and a laboratory of convolution kernels.

    session = convlab.Session("sp25", device="cpu")
    scores = session(images)                             # float32 [N, 1, 86, 86] -> [N, 10]
    (scores,) = session.run(None, {"data": images})      # as ONNX Runtime has it
"""

from convlab._convlab import Session, library_version as __version__
from convlab.errors import Error
from convlab.kernels import bench, verify
from convlab.values import Value

__all__ = ["Error", "Session", "Value", "__version__", "bench", "verify"]

"""convlab: runs ONNX models on CPUs and GPUs, and verifies and times convolution kernels.

    session = convlab.Session("sp25", device="cpu")
    scores = session(images)                             # float32 [N, 1, 86, 86] -> [N, 10]
    (scores,) = session.run(None, {"data": images})      # same call as in ONNX Runtime
"""

from convlab._convlab import Session, library_version as __version__
from convlab.errors import Error
from convlab.kernels import bench, verify
from convlab.values import Value

__all__ = ["Error", "Session", "Value", "__version__", "bench", "verify"]

#!/usr/bin/env python3
"""A script for ONNX Runtime that classifies images of noise and prints each image's class and score. To port it to
convlab, replace the line before each of the two comments with the comment's line:

    onnxruntime_port.py MODEL"""

import sys

import numpy as np
import onnxruntime as runtime

# import convlab as runtime

session = runtime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
# session = runtime.Session(sys.argv[1], device="cpu")

data = session.get_inputs()[0]
side = data.shape[-1]
images = np.random.default_rng(1).integers(0, 256, (20, 1, side, side)).astype(np.float32)
(scores,) = session.run(["softmax"], {data.name: images})
for image in scores:
    print(image.argmax(), f"{image.max():.4f}")

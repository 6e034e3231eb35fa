#!/usr/bin/env python3
"""Uses a session in Dask actors that classify an array in chunks, and prints images per second of one actor and of two.

    dask_actor.py [MODEL [IMAGES]]"""

import sys
import time

import numpy as np
from dask.distributed import Client

import convlab

CHUNK = 100  # images


class Classifier:
    def __init__(self, model: str):
        self.session = convlab.Session(model, device="cpu", threads=1)

    def classify(self, images: np.ndarray) -> np.ndarray:
        """uint8 [N, 1, side, side] -> classes [N]"""
        return self.session(images).argmax(axis=1)


def classify(actors: list, chunks: list) -> np.ndarray:
    asked = [actors[i % len(actors)].classify(chunk) for i, chunk in enumerate(chunks)]
    return np.concatenate([each.result() for each in asked])


def main() -> int:
    model, count = [*sys.argv[1:], *["sp25", "2000"][len(sys.argv) - 1 :]][:2]
    side = convlab.Session(model, device="cpu").get_inputs()[0].shape[-1]
    images = np.random.default_rng(1).integers(0, 256, (int(count), 1, side, side), np.uint8)
    chunks = [images[i : i + CHUNK] for i in range(0, len(images), CHUNK)]
    answers = []
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        workers = list(client.scheduler_info()["workers"])
        for number in (1, 2):
            asked = [client.submit(Classifier, model, actor=True, workers=[each], pure=False) for each in workers[:number]]
            actors = [each.result() for each in asked]
            classify(actors, chunks[:number])  # the first run prepares the model
            began = time.perf_counter()
            answers.append(classify(actors, chunks))
            print(f"{number} actors: {len(images) / (time.perf_counter() - began):.0f} images/s")
    return 0 if np.array_equal(*answers) else 1


if __name__ == "__main__":
    sys.exit(main())

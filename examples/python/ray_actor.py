#!/usr/bin/env python3
"""A session as the body of Ray's actors, which classify an array in pieces: images a second of one actor and of two.

    ray_actor.py [MODEL [IMAGES]]"""

import sys
import time

import numpy as np
import ray

import convlab

PIECE = 100  # images


@ray.remote(num_cpus=1)
class Classifier:
    def __init__(self, model: str):
        self.session = convlab.Session(model, device="cpu", threads=1)

    def classify(self, images: np.ndarray) -> np.ndarray:
        """uint8 [N, 1, side, side] -> classes [N]"""
        return self.session(images).argmax(axis=1)


def classify(actors: list, pieces: list) -> np.ndarray:
    return np.concatenate(ray.get([actors[i % len(actors)].classify.remote(piece) for i, piece in enumerate(pieces)]))


def main() -> int:
    model, count = [*sys.argv[1:], *["sp25", "2000"][len(sys.argv) - 1 :]][:2]
    side = convlab.Session(model, device="cpu").get_inputs()[0].shape[-1]
    images = np.random.default_rng(1).integers(0, 256, (int(count), 1, side, side), np.uint8)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    pieces = [ray.put(images[i : i + PIECE]) for i in range(0, len(images), PIECE)]
    answers = []
    for number in (1, 2):
        actors = [Classifier.remote(model) for _ in range(number)]
        classify(actors, pieces[:number])  # the first run makes a model ready
        began = time.perf_counter()
        answers.append(classify(actors, pieces))
        print(f"{number} actors: {len(images) / (time.perf_counter() - began):.0f} images/s")
        del actors
    ray.shutdown()
    return 0 if np.array_equal(*answers) else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Uses a session in Ray Data actors that classify a dataset in batches, and prints images per second of one and of two.

    ray_data.py [MODEL [IMAGES]], with 4000 images or more"""

import sys
import time

import numpy as np
import ray

import convlab

BLOCK, BATCH = 1000, 100  # images per Ray block, and per call of the actor


class Classifier:
    def __init__(self, model: str):
        self.session = convlab.Session(model, device="cpu", threads=1)

    def __call__(self, batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """uint8 [N, 1, side, side] as "data" -> classes [N] as "class" """
        return {"class": self.session(batch["data"]).argmax(axis=1)}


def classify(images: ray.data.Dataset, model: str, actors: int) -> tuple[np.ndarray, float]:
    """Returns all classes, and images per second after each actor has opened its session and returned a block."""
    found = images.map_batches(Classifier, fn_constructor_args=[model], batch_size=BATCH, num_cpus=1,
                               compute=ray.data.ActorPoolStrategy(size=actors))
    blocks, ends = [], []
    for block in found.iter_batches(batch_size=BLOCK):
        blocks.append(block["class"])
        ends.append(time.perf_counter())
    return np.concatenate(blocks), sum(map(len, blocks[actors:])) / (ends[-1] - ends[actors - 1])


def main() -> int:
    model, count = [*sys.argv[1:], *["sp25", "20000"][len(sys.argv) - 1 :]][:2]
    side = convlab.Session(model, device="cpu").get_inputs()[0].shape[-1]
    pixels = np.random.default_rng(1).integers(0, 256, (int(count), 1, side, side), np.uint8)
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)  # one CPU for the task that reads the images
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    images = ray.data.from_numpy([pixels[i : i + BLOCK] for i in range(0, len(pixels), BLOCK)])
    answers = []
    for actors in (1, 2):
        classes, rate = classify(images, model, actors)
        answers.append(classes)
        print(f"{actors} actors: {rate:.0f} images/s")
    ray.shutdown()
    return 0 if np.array_equal(*answers) else 1


if __name__ == "__main__":
    sys.exit(main())

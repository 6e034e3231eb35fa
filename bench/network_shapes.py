#!/usr/bin/env python3
"""Writes the convolutions of well-known networks as shape lists for `convlab bench --shapes` and `convlab verify
--shapes`.

    python3 bench/network_shapes.py shapes/layers     # writes resnet50.txt and the others there

Each shape is listed once, for one image, in network order, after a comment with its number of occurrences. Networks are
torchvision's, on images of their training size, except U-Net, which is that of Ronneberger, Fischer and Brox (2015)
with padded convolutions on 256 x 256 pixels. Its 2x2 transposed convolutions are not listed.
"""

from __future__ import annotations

import sys
from pathlib import Path

NETWORKS = {
    "resnet50": "ResNet-50 (He et al. 2015)",
    "vgg16": "VGG-16 (Simonyan and Zisserman 2014)",
    "mobilenet_v2": "MobileNetV2 (Sandler et al. 2018)",
    "efficientnet_b0": "EfficientNet-B0 (Tan and Le 2019), without squeeze-and-excitation (1x1 images)",
    "convnext_tiny": "ConvNeXt-T (Liu et al. 2022); its dense layers over channels are 1x1 filters here",
    "unet": "U-Net (Ronneberger, Fischer and Brox 2015)",
}
SIDE = 224


def text(c: int, h: int, w: int, k: int, filter_size: tuple[int, int], stride: int = 1, padding: int = 0, groups: int = 1) -> str:
    """Returns a problem in convlab's text form."""
    parts = [f"c{c}h{h}w{w}", f"k{k}r{filter_size[0]}s{filter_size[1]}", f"p{padding}" if padding else "", f"st{stride}" if stride > 1 else "",
             f"g{groups}" if groups > 1 else ""]  # fmt: skip
    return "_".join(part for part in parts if part)


def of_torchvision(name: str) -> list[str]:
    import torch
    import torchvision

    model = getattr(torchvision.models, name)(weights=None).eval()
    found = []

    def note(layer: torch.nn.Module, inputs: tuple, output: torch.Tensor) -> None:
        x = inputs[0]
        if isinstance(layer, torch.nn.Conv2d):
            _, c, h, w = x.shape
            found.append(text(c, h, w, layer.out_channels, layer.kernel_size, layer.stride[0], layer.padding[0], layer.groups))
        elif x.dim() == 4:  # over the channels of each pixel (the last dimension)
            _, h, w, c = x.shape
            found.append(text(c, h, w, layer.out_features, (1, 1)))

    for layer in model.modules():
        if isinstance(layer, (torch.nn.Conv2d, torch.nn.Linear)):
            layer.register_forward_hook(note)
    with torch.no_grad():
        model(torch.zeros(1, 3, SIDE, SIDE))
    return [shape for shape in found if "h1w1" not in shape]


def of_unet() -> list[str]:
    found = []
    side, c = 256, 3
    for k in (64, 128, 256, 512, 1024):
        found += [text(c, side, side, k, (3, 3), padding=1), text(k, side, side, k, (3, 3), padding=1)]
        side, c = side // 2, k
    side *= 2
    for k in (512, 256, 128, 64):
        side *= 2
        found += [text(2 * k, side, side, k, (3, 3), padding=1), text(k, side, side, k, (3, 3), padding=1)]
    return [*found, text(64, side, side, 2, (1, 1))]


def listed(name: str) -> str:
    shapes = of_unet() if name == "unet" else of_torchvision(name)
    lines = [f"# {NETWORKS[name]}: its convolutions, for one image. Made by bench/network_shapes.py."]
    for shape in dict.fromkeys(shapes):
        times = shapes.count(shape)
        lines += [f"# {times} times", shape] if times > 1 else ["# once", shape]
    return "\n".join(lines) + "\n"


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in NETWORKS:
        path = folder / f"{name}.txt"
        path.write_text(listed(name))
        print(path, flush=True)


if __name__ == "__main__":
    main()

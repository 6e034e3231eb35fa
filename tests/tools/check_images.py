#!/usr/bin/env python3
"""Compares the preparation of images by `convlab infer --image` with Pillow, torchvision and NumPy, and a network's
scores with ONNX Runtime's.

    python3 tests/tools/check_images.py build/cpu/bin/convlab [FOLDER]

Needs numpy, pillow, torch, torchvision, onnx and onnxruntime. FOLDER has the photographs that Debian's package
python3-skimage ships in skimage/data. Without FOLDER they are read from the installed package, or from the package
file, which apt-get downloads. Their licenses, according to scikit-image's documentation: astronaut.png (NASA),
hubble_deep_field.jpg (NASA) and rocket.jpg (SpaceX) are in the public domain; chelsea.png (Stefan van der Walt) and
coffee.png (Rachel Michetti) are CC0.
"""

import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import PIL
import torch
import torchvision
from PIL import Image
from torchvision import transforms as T

PHOTOGRAPHS = ["astronaut.png", "chelsea.png", "coffee.png", "hubble_deep_field.jpg", "rocket.jpg"]
INSTALLED = "/usr/lib/python3/dist-packages/skimage/data"
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def photographs(folder):
    """Returns the folder of the photographs. A downloaded package is unpacked to `folder`."""
    if len(sys.argv) > 2:
        return sys.argv[2]
    if os.path.isdir(INSTALLED):
        return INSTALLED
    subprocess.run(["apt-get", "download", "-qq", "python3-skimage"], cwd=folder, check=True, stderr=subprocess.DEVNULL)
    package = next(name for name in os.listdir(folder) if name.endswith(".deb"))
    subprocess.run(["dpkg", "-x", package, "skimage"], cwd=folder, check=True)
    return os.path.join(folder, "skimage" + INSTALLED)


def other_forms(photograph, folder):
    """Saves a photograph in other file formats."""
    picture = Image.open(photograph).convert("RGB")
    stem = os.path.join(folder, os.path.splitext(os.path.basename(photograph))[0])
    forms = {
        "q75.jpg": (picture, {"quality": 75}),
        "progressive.jpg": (picture, {"quality": 90, "progressive": True}),
        "444.jpg": (picture, {"quality": 95, "subsampling": 0}),
        "grey.jpg": (picture.convert("L"), {}),
        "cmyk.jpg": (picture.convert("CMYK"), {}),
        "palette.png": (picture.convert("P"), {}),
        "alpha.png": (picture.convert("RGBA"), {}),
        "one_bit.png": (picture.convert("1"), {}),
        "odd.png": (picture.crop((3, 5, 202, 154)), {}),
    }
    for suffix, (form, options) in forms.items():
        form.save(f"{stem}_{suffix}", **options)
        yield f"{stem}_{suffix}"


def network_input(*steps):
    """Returns a torchvision transform: `steps`, then pixels scaled to 0 ... 1."""
    return T.Compose([*steps, T.ToTensor()])


def caffe(picture):
    pixels = np.asarray(T.CenterCrop(224)(T.Resize(256)(picture)), np.float32)[:, :, ::-1]
    return (pixels - np.array([103.939, 116.779, 123.68], np.float32)).transpose(2, 0, 1)


def scaled(short, crop, mean, std, filter=T.InterpolationMode.BILINEAR):
    return T.Compose([network_input(T.Resize(short, filter), T.CenterCrop(crop)), T.Normalize(mean, std)])


CUBIC = T.InterpolationMode.BICUBIC
# convlab's options, the same preparation in Python, and the minimum change of the result per step of a pixel value.
CASES = [
    (["--preset", "imagenet"], scaled(256, 224, MEAN, STD), 1 / 255 / 0.229),
    (["--preset", "torchvision-v2"], scaled(232, 224, MEAN, STD), 1 / 255 / 0.229),
    (["--preset", "timm"], scaled(256, 224, MEAN, STD, CUBIC), 1 / 255 / 0.229),
    (["--preset", "inception"], scaled(342, 299, MEAN, STD), 1 / 255 / 0.229),
    (["--preset", "tf"], scaled(256, 224, [0.5] * 3, [0.5] * 3), 2 / 255),
    (["--preset", "caffe"], caffe, 1),
    (["--preset", "raw"], lambda picture: np.asarray(picture, np.float32).transpose(2, 0, 1), 1),
    (["--resize", "97x211", "--crop", "500x55"], network_input(T.Resize((97, 211)), T.CenterCrop((500, 55))), 1 / 255),
    (["--channels", "grey", "--resize", "28x28"], network_input(T.Grayscale(), T.Resize((28, 28))), 1 / 255),
    (["--resize", "64", "--layout", "nhwc"], lambda picture: network_input(T.Resize(64))(picture).permute(1, 2, 0), 1 / 255),
]


def identity_model(path):
    value = lambda name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", "A", "B", "C"])
    node = onnx.helper.make_node("Identity", ["x"], ["y"])
    graph = onnx.helper.make_graph([node], "same", [value("x")], [value("y")])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8), path)


def infer(binary, model, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "y.npz")
        subprocess.run([binary, "infer", model, *arguments, "--output", output], check=True, stdout=subprocess.DEVNULL)
        return next(iter(np.load(output).values()))


def check_pictures(binary, files, folder):
    model = os.path.join(folder, "same.onnx")
    identity_model(model)
    wrong = 0
    for options, transform, level in CASES:
        worst, equal, pixels = 0.0, 0, 0
        for file in files:
            want = np.asarray(transform(Image.open(file).convert("RGB")), np.float32)
            got = infer(binary, model, "--image", file, *options)[0]
            if got.shape != want.shape:
                sys.exit(f"{file} {options}: {got.shape} instead of {want.shape}")
            worst = max(worst, float(np.abs(got - want).max()) / level)
            equal += int((got == want).sum())
            pixels += got.size
        wrong += not worst <= 1.001
        print(f"{' '.join(options):45} {len(files)} pictures, at most {worst:.3f} levels, {equal / pixels:.2%} equal")
    return wrong


def check_networks(binary, files, folder):
    wrong = 0
    transform = CASES[0][1]
    want_input = np.stack([transform(Image.open(file).convert("RGB")).numpy() for file in files])
    for name in ["resnet18", "mobilenet_v2", "squeezenet1_1"]:
        torch.manual_seed(1)
        network = getattr(torchvision.models, name)(weights=None).eval()
        path = os.path.join(folder, name + ".onnx")
        torch.onnx.export(network, torch.zeros(1, 3, 224, 224), path, input_names=["x"], output_names=["y"],
                          dynamic_axes={"x": {0: "N"}, "y": {0: "N"}}, dynamo=False)
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        want = session.run(None, {"x": want_input})[0]
        got = infer(binary, path, "--image", *files, "--preset", "imagenet")
        error = float(np.linalg.norm(got - want) / np.linalg.norm(want))
        same = int((got.argmax(1) == want.argmax(1)).sum())
        wrong += not (error <= 1e-4 and same == len(files))
        print(f"{name:45} {len(files)} pictures, relative L2 error {error:.1e}, {same} of the same class")
    return wrong


def main():
    binary = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        place = photographs(folder)
        files = [os.path.join(place, name) for name in PHOTOGRAPHS]
        forms = [form for file in files for form in other_forms(file, folder)]
        print(f"Pillow {PIL.__version__}, torchvision {torchvision.__version__}; photographs: {', '.join(PHOTOGRAPHS)}")
        wrong = check_pictures(binary, files + forms, folder) + check_networks(binary, files, folder)
    sys.exit(f"{wrong} checks failed" if wrong else 0)


if __name__ == "__main__":
    main()

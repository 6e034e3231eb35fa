#!/usr/bin/env python3
"""Checks networks of torchvision and timm, exported by both of PyTorch's exporters, in convlab against ONNX Runtime.

    python3 tests/tools/check_architectures.py BINARY [--kind KIND] [--names A,B] [--configs EXPORTER:OPSET[:open],...]
                                               [-o FILE.json]

Weights are random, from a seed. For each network, exporter and opset, reports whether BINARY infer loads the file, and
the relative L2 error of its outputs against ONNX Runtime's: for one image or, if the config ends in ":open" and the
file's batch size is dynamic, the largest for 1, 2 and 3 images. Also checks the file that BINARY convert writes.
Results are added to FILE.json, and configurations that it already has are not run again. Exit status 1 if an error is
above 1e-5. Needs torch, torchvision, onnx, onnxscript, onnxruntime, and timm for its networks, from PyPI.
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

MOST_ERROR = 1e-5
TIMM = (
    "resnet26 resnext50_32x4d seresnet50 skresnet18 ecaresnet26t resnest14d regnetx_002 regnety_002 efficientnet_b0 efficientnet_lite0 "
    "tf_efficientnetv2_b0 mobilenetv3_large_100 mobilenetv4_conv_small mixnet_s hrnet_w18_small dla34 densenet121 dpn68 vgg11_bn xception41 "
    "inception_v4 nfnet_l0 repvgg_a0 convnext_atto convnextv2_atto coatnet_nano_rw_224 mobilevit_xxs ghostnet_100 fbnetc_100 rexnet_100 "
    "tinynet_a lcnet_050 hardcorenas_a selecsls42b cspresnet50 edgenext_xx_small fastvit_t8 repghostnet_050 starnet_s1 mobileone_s0"
).split()


def names_of(kind: str) -> list[str]:
    import torchvision.models as models

    if kind == "timm":
        return TIMM
    module = {"classification": models, "segmentation": models.segmentation, "backbone": models.detection}[kind]
    return models.list_models(module=module)


def network(kind: str, name: str):
    """Returns a network for evaluation, whose batch normalization statistics are not all 0 and 1 and whose layers have
    nonzero weights.
    """
    import torch
    import torchvision

    torch.manual_seed(1)
    if kind == "timm":
        import timm

        model = timm.create_model(name, pretrained=False)
    elif kind == "classification":
        model = torchvision.models.get_model(name, weights=None)
    else:
        model = torchvision.models.get_model(name, weights=None, weights_backbone=None)
        model = model.backbone if kind == "backbone" else model
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.uniform_(-0.1, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    for parameter in model.parameters():
        if not parameter.detach().any():
            torch.nn.init.normal_(parameter, std=0.02)
    return model.eval()


def side_of(kind: str, name: str, model) -> int:
    if kind == "timm":
        return model.pretrained_cfg.get("input_size", (3, 224, 224))[1]
    return {"inception_v3": 299, "ssd300_vgg16": 300}.get(name, 224)


def export(model, x, path: Path, exporter: str, opset: int, is_open: bool) -> None:
    import torch

    torch.backends.mha.set_fastpath_enabled(False)  # export attention as separate operators, not as PyTorch's fused one
    with torch.no_grad():
        if exporter == "dynamo":
            batch = {"dynamic_shapes": ({0: torch.export.Dim("n")},)} if is_open else {}
            torch.onnx.export(model, (x,), str(path), dynamo=True, opset_version=opset, verbose=False, **batch)
        else:
            batch = {"input_names": ["x"], "dynamic_axes": {"x": {0: "n"}}} if is_open else {}
            torch.onnx.export(model, (x,), str(path), dynamo=False, opset_version=opset, **batch)


def relative_error(got, want) -> float:
    import numpy as np

    if got.shape != want.shape:
        return float("inf")
    difference = np.linalg.norm((got.astype(np.float64) - want).ravel())
    return float(difference / max(np.linalg.norm(want.astype(np.float64).ravel()), 1e-30))


class Refused(Exception):
    """BINARY's message, and whether it reported the file as unsupported ("refused")."""


def run_binary(path: Path, *command: str) -> None:
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        verdict = "refused" if run.returncode in (2, 3) else "wrong"
        raise Refused(verdict, run.stderr.replace(str(path), "network.onnx")[:1000])


def session_of(path: Path):
    import onnxruntime

    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def outputs_of(session, x) -> list:
    return session.run(None, {session.get_inputs()[0].name: x.numpy()})


def errors_of(binary: str, path: Path, session, wanted: list, x) -> list[float]:
    """Returns the error of each output of BINARY infer."""
    import numpy as np

    folder = path.parent
    np.save(folder / "x.npy", x.numpy())
    run_binary(path, binary, "infer", str(path), "--input", f"{folder}/x.npy", "--output", f"{folder}/out/")
    files = [output.name.replace("/", "_").replace(":", "_") + ".npy" for output in session.get_outputs()]
    return [relative_error(np.load(folder / "out" / file), want) for file, want in zip(files, wanted)]


def check(binary: str, model, side: int, exporter: str, opset: int, is_open: bool) -> dict:
    import torch

    with tempfile.TemporaryDirectory() as folder:
        path, written = Path(folder, "network.onnx"), Path(folder, "written.onnx")
        inputs = [torch.randn(n, 3, side, side) for n in ((1, 2, 3) if is_open else (1,))]
        try:
            export(model, inputs[is_open], path, exporter, opset, is_open)
            session = session_of(path)
            wanted = [outputs_of(session, x) for x in inputs]
        except Exception as error:  # exporters throw all kinds of errors
            return {"verdict": "not exported", "why": f"{type(error).__name__}: {error}"[:300]}
        try:
            errors = [each for x, want in zip(inputs, wanted) for each in errors_of(binary, path, session, want, x)]
            if is_open:
                run_binary(path, binary, "convert", str(path), "-o", str(written))
                converted = session_of(written)
                for x, want in zip(inputs, wanted):
                    errors += [relative_error(got, each) for got, each in zip(outputs_of(converted, x), want)]
        except Refused as refused:
            verdict, why = refused.args
            return {"verdict": verdict, "why": why}
    return {"verdict": "right" if max(errors) <= MOST_ERROR else "wrong", "error": max(errors)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--kind", choices=["classification", "segmentation", "backbone", "timm"], default="classification")
    parser.add_argument("--names", default="", help="some of them, with commas between (default: all of this kind)")
    parser.add_argument("--configs", default="torchscript:17,dynamo:20", help="exporters (torchscript, dynamo) with opsets, :open for any number of images")
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    results = []
    if arguments.output and arguments.output.exists():
        results = json.loads(arguments.output.read_text())["networks"]
    done = {(each["kind"], each["name"], each["exporter"], each["opset"], each.get("images") == "open") for each in results}
    for name in arguments.names.split(",") if arguments.names else names_of(arguments.kind):
        model = None
        for config in arguments.configs.split(","):
            exporter, opset, is_open = config.split(":")[0], int(config.split(":")[1]), config.endswith(":open")
            if (arguments.kind, name, exporter, opset, is_open) in done:
                continue
            model = model or network(arguments.kind, name)
            found = check(arguments.binary, model, side_of(arguments.kind, name, model), exporter, opset, is_open)
            images = {"images": "open"} if is_open else {}
            results.append({"kind": arguments.kind, "name": name, "exporter": exporter, "opset": opset, **images, **found})
            print(found["verdict"], name, config, found.get("error", found.get("why")), flush=True)
            if arguments.output:
                arguments.output.write_text(json.dumps({"networks": results}, indent=1) + "\n")
    print(dict(Counter(each["verdict"] for each in results)))
    return 1 if any(each["verdict"] == "wrong" for each in results) else 0


if __name__ == "__main__":
    sys.exit(main())

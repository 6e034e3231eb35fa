#!/usr/bin/env python3
"""Compares convlab with PyTorch on well-known CNNs on a GPU: from fp32 images to scores, both in the GPU's memory.

    python3 bench/gpu_cnns.py measure BINARY FOLDER results/cnn_gpu/mine.json     # FOLDER: bench/cnn_networks.py fills it
    python3 bench/gpu_cnns.py measure BINARY FOLDER FILE --networks resnet50 --batches 1 64 --maths fp16 --no-compile
    python3 bench/gpu_cnns.py stream BINARY FOLDER FILE [--network resnet50]      # 10,000 images from the host's memory
    python3 bench/gpu_cnns.py write              docs/measured/gpu_cnns.md, from results/cnn_gpu
    python3 bench/gpu_cnns.py write --check      exits with status 1 if the page is out of date

Each engine runs alone in its own process, interleaved. convlab's time is `convlab infer`'s device_network_s. PyTorch
gets its images in its own type and layout, and its time is the fastest of two layouts, eager or compiled, all replayed
as CUDA graphs. Times are medians. Scores are compared with PyTorch's in fp32. An existing file is extended, and rows
for the same work are replaced.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from gpu_common import ms, now, output_of, rows_of, with_row
from pages import ROOT, publish, read_record, table

RESULTS = ROOT / "results" / "cnn_gpu"
PAGE = ROOT / "docs/measured/gpu_cnns.md"

NETWORKS = ("resnet50", "vgg16", "mobilenet_v2", "efficientnet_b0")
BATCHES = (64, 1)
MATHS = ("fp16", "tf32", "fp32")


def relative_error(got, wanted) -> float:
    import numpy as np

    return float(np.linalg.norm(got - wanted) / np.linalg.norm(wanted))


def images_of(name: str, batch: int):
    import numpy as np
    from cnn_networks import image_size

    size = image_size(name)
    return np.random.default_rng(batch).uniform(-1, 1, (batch, 3, size, size)).astype(np.float32)


def peer(name: str, batch: int, math: str, compiled: bool, scores: Path) -> dict:
    """Returns PyTorch's times by configuration, in milliseconds; writes its fp32 scores to a file."""
    import numpy as np
    import torch
    import torch_gpu
    from cnn_networks import drawn

    model, x = drawn(name)[0].cuda(), torch.from_numpy(images_of(name, batch)).cuda()
    times, kind = {}, torch_gpu.MATHS[math]
    with torch.inference_mode():
        torch_gpu.choose_math("fp32")
        wanted = model(x).cpu().numpy()
        np.save(scores, wanted)
        torch_gpu.choose_math(math)
        error = relative_error(model.to(kind)(x.to(kind)).float().cpu().numpy(), wanted)
        for layout, memory in torch_gpu.LAYOUTS.items():
            network, images = model.to(dtype=kind, memory_format=memory), x.to(kind).contiguous(memory_format=memory)
            ways = {"eager": network}
            if compiled:
                ways["compiled"] = torch.compile(network)
            for way, each in ways.items():
                times[f"{layout}, {way}, graph"] = torch_gpu.event_ms(torch_gpu.replayed(each, images))
            torch.compiler.reset()
    return {**torch_gpu.fastest(times), **torch_gpu.versions(), "error": error}


def stream_peer(name: str, batch: int, images: int, math: str) -> dict:
    """Returns PyTorch's times by configuration, in milliseconds: uint8 images to labels, both in the host's page-locked
    memory, batch by batch, with the copy of the next batch overlapped.
    """
    import time

    import torch
    import torch_gpu
    from cnn_networks import drawn

    torch_gpu.choose_math(math)
    pixels = torch.from_numpy(stream_images(name, images)).pin_memory()
    labels = torch.empty(images, dtype=torch.int64).pin_memory()
    feeds = [torch.empty_like(pixels[:batch], device="cuda") for _ in range(2)]
    copies, times = torch.cuda.Stream(), {}
    with torch.inference_mode():
        for layout, memory in torch_gpu.LAYOUTS.items():
            model = torch_gpu.Labels(drawn(name)[0].cuda(), torch_gpu.MATHS[math], memory)
            for way, each in {"eager": model, "compiled": torch.compile(model)}.items():
                replays = [torch_gpu.replayed_with_result(each, feed) for feed in feeds]

                def whole() -> None:
                    free = [torch.cuda.Event(), torch.cuda.Event()]
                    for number, first in enumerate(range(0, images, batch)):
                        feed, (replay, found) = feeds[number % 2], replays[number % 2]
                        count = min(batch, images - first)
                        with torch.cuda.stream(copies):
                            if number > 1:
                                copies.wait_event(free[number % 2])
                            feed[:count].copy_(pixels[first : first + count], non_blocking=True)
                        torch.cuda.current_stream().wait_stream(copies)
                        replay()
                        labels[first : first + count].copy_(found[:count], non_blocking=True)
                        free[number % 2].record()
                    torch.cuda.synchronize()

                whole()
                taken = []
                for _ in range(3):
                    begin = time.perf_counter()
                    whole()
                    taken.append(1e3 * (time.perf_counter() - begin))
                times[f"{layout}, {way}, graph"] = statistics.median(taken)
            torch.compiler.reset()
    return {**torch_gpu.fastest(times), **torch_gpu.versions()}


def stream_images(name: str, images: int):
    import numpy as np
    from cnn_networks import image_size

    size = image_size(name)
    return np.random.default_rng(images).integers(0, 256, (images, 3, size, size), dtype=np.uint8)


def stream(arguments: argparse.Namespace) -> None:
    """Adds a row for a stream of images to the file."""
    import numpy as np

    name, batch, images, math = arguments.network, arguments.batch, arguments.images, arguments.math
    theirs = output_of([sys.executable, __file__, "stream-peer", name, str(batch), str(images), math])
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "x.npy", stream_images(name, images))
        result = output_of([arguments.binary, "infer", str(arguments.folder / f"{name}.onnx"), "--input", f"{folder}/x.npy", "--output",
                            f"{folder}/y.npy", "--device", "cuda", "--math", math, "--batch", str(batch), "--repeat", "3", "--json", "-"])
    row = {"network": name, "batch": batch, "math": math, "images": images, "when": now(), "ms": 1e3 * result["network_s"],
           "device_ms": 1e3 * result["device_network_s"], "peer": theirs}
    data = read_record(arguments.json)
    data["streams"] = with_row(data.get("streams", []), row, "network", "batch", "math", "images")
    arguments.json.write_text(json.dumps(data, indent=1) + "\n")
    print(f"{name}, {images} images from the host, {batch} at a time, {math}: {ms(row['ms'])} ms (the GPU alone {ms(row['device_ms'])}), "
          f"PyTorch {ms(theirs['ms'])} ms ({theirs['way']}): speedup {theirs['ms'] / row['ms']:.2f}", flush=True)


def measured(binary: str, path: Path, batch: int, math: str, folder: Path) -> tuple:
    """Returns convlab's times and scores."""
    import numpy as np

    x, y = folder / "x.npy", folder / "y.npy"
    np.save(x, images_of(path.stem, batch))
    result = output_of([binary, "infer", str(path), "--input", str(x), "--output", str(y), "--device", "cuda", "--math", math,
                        "--repeat", "30", "--json", "-"])
    layers = sorted(result["layers"], key=lambda layer: -layer["op_time_s"])
    kept = [{key: layer.get(key) for key in ("name", "op", "kernel", "problem", "op_time_s")} for layer in layers]
    return {"ms": 1e3 * result["device_network_s"], "from_host_ms": 1e3 * result["network_s"], "layers": kept}, np.load(y)


def measure(arguments: argparse.Namespace) -> None:
    import numpy as np

    rows = rows_of(arguments.json)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    for name in arguments.networks:
        path = arguments.folder / f"{name}.onnx"
        for batch in arguments.batches:
            for math in arguments.maths:
                with tempfile.TemporaryDirectory() as folder:
                    scores = Path(folder) / "scores.npy"
                    command = [sys.executable, __file__, "peer", name, str(batch), math, str(scores)]
                    if not arguments.compile:
                        command.append("--no-compile")
                    theirs = output_of(command)
                    ours, got = measured(arguments.binary, path, batch, math, Path(folder))
                    wanted = np.load(scores)
                error = relative_error(got, wanted)
                row = {"network": name, "batch": batch, "math": math, "when": now(), "convlab": ours, "peer": theirs, "error": error,
                       "same_labels": float(np.mean(got.argmax(1) == wanted.argmax(1)))}
                rows = with_row(rows, row, "network", "batch", "math")
                data = read_record(arguments.json) if arguments.json.exists() else {"kind": "gpu_cnns"}
                arguments.json.write_text(json.dumps({**data, "rows": rows}, indent=1) + "\n")
                print(line_of(row), flush=True)


def line_of(row: dict) -> str:
    ours, theirs = row["convlab"]["ms"], row["peer"]["ms"]
    return (f"{row['network']}, {row['batch']} images, {row['math']}: {ms(ours)} ms, PyTorch {ms(theirs)} ms ({row['peer']['way']}): "
            f"speedup {theirs / ours:.2f}; relative L2 error {row['error']:.1e}, PyTorch's {row['peer']['error']:.1e}, {100 * row['same_labels']:.0f} % of labels equal")


def way_of(peer: dict) -> str:
    """Returns PyTorch's fastest configuration, and whether compiled ones were not tried."""
    compiled = any("compiled" in way for way in peer["tried"])
    return peer["way"].removesuffix(", graph").replace("NHWC", "nhwc").replace("NCHW", "nchw") + ("" if compiled else ", not compiled")


def section(path: Path) -> list[str]:
    rows = sorted(rows_of(path), key=lambda row: (MATHS.index(row["math"]), -row["batch"], NETWORKS.index(row["network"])))
    cells = []
    for row in rows:
        ours, theirs = row["convlab"]["ms"], row["peer"]["ms"]
        cells.append([row["network"], str(row["batch"]), row["math"], ms(ours), ms(theirs), way_of(row["peer"]),
                      f"{theirs / ours:.2f}", f"{row['error']:.1e}", f"{row['peer']['error']:.1e}"])
    header = ["network", "batch", "math", "convlab, ms", "PyTorch, ms", "PyTorch's fastest configuration", "speedup", "convlab's error", "PyTorch's error"]
    return [f"## {rows[0]['peer']['gpu']}", "", f"Compared with {rows[0]['peer']['version']} ({rows[0]['when'][:10]}).", "", *table(header, cells), "",
            *streams(read_record(path).get("streams", []))]


def streams(rows: list[dict]) -> list[str]:
    """Returns the page's sentences about images that come from the host's memory."""
    return [line for row in rows for line in (
        f"From the host: {row['network']} in {row['math']} on {row['images']} uint8 images, from page-locked host memory to scores there, batch {row['batch']}, takes",
        f"{ms(row['ms'])} ms; the GPU computes for {ms(row['device_ms'])} ms. PyTorch takes {ms(row['peer']['ms'])} ms to labels ({way_of(row['peer'])}, CUDA graphs, with the",
        f"copy of the next batch overlapped): a speedup of {row['peer']['ms'] / row['ms']:.2f}.", "")]


def write(check: bool) -> int:
    page = [
        "# Well-known CNNs on a GPU", "",
        "For engineers who choose an engine: the latency of convlab on well-known CNNs on a GPU, compared with PyTorch.", "",
        "Times are medians, from fp32 images to scores, both in the GPU's memory. Each engine runs alone in its own process, interleaved. convlab's time",
        "includes the conversion of fp32 images to its own layout. PyTorch gets its images in its own type and layout, and its time is the fastest of two",
        "layouts, eager or compiled, replayed as CUDA graphs. Weights are random (`bench/cnn_networks.py`). Errors are relative L2, compared with",
        "PyTorch in fp32. `bench/gpu_cnns.py` measures, and writes this page.", "",
        *[line for path in sorted(RESULTS.glob("*.json")) for line in section(path)],
        "What limits them, from layer times and the bytes and multiplications that layers need:", "",
        "- Batch 64, VGG-16 in fp16: tensor cores, which reach 590 to 750 TFLOP/s in its layers of 128 output channels and more.",
        "- Batch 64, ResNet-50's 1x1 convolutions, MobileNetV2 and EfficientNet-B0: memory. The gates of EfficientNet-B0 read large images twice,",
        "  because L2 does not hold them.",
        "- Batch 64, VGG-16 in fp32: three fp16 products per fp32 product.",
        "- Batch 1, all but VGG-16: the latency of dependent kernel launches.",
        "- Batch 1, VGG-16: reading 247 MB of weights of dense layers takes a third of its time. Each convolution spends 3 to 5 us on start-up,",
        "  the split-K reduction across a cluster, and the end of the kernel."]
    return publish({PAGE: "\n".join(page) + "\n"}, check)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("binary")
    measuring.add_argument("folder", type=Path)
    measuring.add_argument("json", type=Path)
    measuring.add_argument("--networks", nargs="+", default=NETWORKS)
    measuring.add_argument("--batches", nargs="+", type=int, default=BATCHES)
    measuring.add_argument("--maths", nargs="+", default=MATHS, choices=MATHS)
    measuring.add_argument("--no-compile", dest="compile", action="store_false")
    peering = commands.add_parser("peer", help="PyTorch alone, for measure")
    peering.add_argument("name")
    peering.add_argument("batch", type=int)
    peering.add_argument("math")
    peering.add_argument("scores", type=Path)
    peering.add_argument("--no-compile", dest="compile", action="store_false")
    streaming = commands.add_parser("stream")
    streaming.add_argument("binary")
    streaming.add_argument("folder", type=Path)
    streaming.add_argument("json", type=Path)
    streaming.add_argument("--network", default="resnet50")
    streaming.add_argument("--batch", type=int, default=64)
    streaming.add_argument("--images", type=int, default=10000)
    streaming.add_argument("--math", default="fp16", choices=MATHS)
    stream_peering = commands.add_parser("stream-peer", help="PyTorch alone, for stream")
    stream_peering.add_argument("name")
    stream_peering.add_argument("batch", type=int)
    stream_peering.add_argument("images", type=int)
    stream_peering.add_argument("math")
    writing = commands.add_parser("write")
    writing.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.command == "write":
        return write(arguments.check)
    if arguments.command == "measure":
        measure(arguments)
    elif arguments.command == "stream":
        stream(arguments)
    elif arguments.command == "stream-peer":
        print(json.dumps(stream_peer(arguments.name, arguments.batch, arguments.images, arguments.math)))
    else:
        print(json.dumps(peer(arguments.name, arguments.batch, arguments.math, arguments.compile, arguments.scores)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

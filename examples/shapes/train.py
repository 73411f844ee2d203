"""Trains the network on scenes that it draws, and writes it as ONNX. Needs torch and onnx; two cores are enough."""

from __future__ import annotations

import argparse
import io
import math
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import onnx
import torch
from draw import NAMES, draw
from letterbox import Letterbox
from loss import loss
from network import STRIDES, Deployed, Network, anchors
from numpy.typing import NDArray
from torch import Tensor, nn

SEED = 0  # of the drawn set; measure on another
SIDE = 192
BATCH = 32
MOST_SHAPES = 9
LARGEST = 1_000_000  # bytes: the file lives in the repository


def fit(number: int, seed: int) -> tuple[NDArray, NDArray, NDArray]:
    """One scene as the network sees it: pixels (3, S, S) uint8, red first; labels (M,), -1 where none; boxes (M, 4)."""
    scene = draw(seed, number)
    box = Letterbox.around(scene.image, SIDE)
    labels, boxes = np.full(MOST_SHAPES, -1), np.zeros((MOST_SHAPES, 4), np.float32)
    labels[: len(scene.labels)], boxes[: len(scene.labels)] = scene.labels, box.to_input(scene.boxes)
    return np.ascontiguousarray(box.pixels[..., ::-1].transpose(2, 0, 1)), labels, boxes


def draw_set(count: int, workers: int) -> tuple[Tensor, Tensor, Tensor]:
    """Pixels (N, 3, S, S), labels (N, M) and boxes (N, M, 4) of the training set."""
    with ProcessPoolExecutor(workers, initializer=cv2.setNumThreads, initargs=(1,)) as pool:
        columns = zip(*pool.map(partial(fit, seed=SEED), range(count), chunksize=50), strict=True)
        pixels, labels, boxes = (torch.from_numpy(np.stack(column)) for column in columns)
    return pixels, labels, boxes


def vary(pixels: Tensor, boxes: Tensor) -> tuple[Tensor, Tensor]:
    """Mirror, transpose and recolour a batch: none of it changes what a shape is."""
    if torch.rand(()) < 0.5:
        x1, y1, x2, y2 = boxes.unbind(-1)
        pixels, boxes = pixels.flip(3), torch.stack((SIDE - x2, y1, SIDE - x1, y2), -1)
    if torch.rand(()) < 0.5:  # with the mirror, every turn and flip of the square comes up
        x1, y1, x2, y2 = boxes.unbind(-1)
        pixels, boxes = pixels.flip(2), torch.stack((x1, SIDE - y2, x2, SIDE - y1), -1)
    if torch.rand(()) < 0.5:
        pixels, boxes = pixels.transpose(2, 3), boxes[..., [1, 0, 3, 2]]
    images = pixels[:, torch.randperm(3)].float() / 255
    gain, offset = torch.rand(len(images), 3, 1, 1) * 0.4 + 0.8, torch.rand(len(images), 3, 1, 1) * 0.2 - 0.1
    return (images * gain + offset).clamp(0, 1), boxes


def batches(pixels: Tensor, labels: Tensor, boxes: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """One epoch, shuffled."""
    for index in torch.randperm(len(pixels)).split(BATCH):
        if len(index) == BATCH:
            images, moved = vary(pixels[index], boxes[index])
            yield images, labels[index], moved


def train(pixels: Tensor, labels: Tensor, boxes: Tensor, epochs: int) -> Network:
    """Train from nothing; what is returned is the running average of the weights."""
    network = Network(len(NAMES))
    average = deepcopy(network).eval()
    decayed = [p for p in network.parameters() if p.dim() > 1]
    plain = [p for p in network.parameters() if p.dim() == 1]
    peak = 4e-3
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.03}, {"params": plain, "weight_decay": 0.0}])
    steps, step = epochs * (len(pixels) // BATCH), 0
    centres, strides = anchors(SIDE)
    for epoch in range(epochs):
        began, total = time.monotonic(), 0.0
        for images, wanted, where in batches(pixels, labels, boxes):
            warm = min(1.0, step / 200)
            for group in optimizer.param_groups:
                group["lr"] = peak * warm * (0.01 + 0.99 * (1 + math.cos(math.pi * step / steps)) / 2)
            with torch.autocast("cpu", torch.bfloat16):  # 0.6 of the time of float32 where the CPU has AMX
                distributions, logits = network(images)
            value = loss(distributions.float(), logits.float(), centres, strides, wanted, where)
            optimizer.zero_grad()
            value.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 10.0)
            optimizer.step()
            step += 1
            total += value.item()
            follow(average, network, 0.998 * (1 - math.exp(-step / 300)))
        print(
            f"epoch {epoch + 1}/{epochs}  loss {total * BATCH / len(pixels):.3f}  {time.monotonic() - began:.0f} s",
            flush=True,
        )
    return average


@torch.no_grad()
def follow(average: nn.Module, network: nn.Module, keep: float) -> None:
    """Move the average towards the network; counters are copied."""
    for old, new in zip(average.state_dict().values(), network.state_dict().values(), strict=True):
        old.lerp_(new, 1 - keep) if old.is_floating_point() else old.copy_(new)


def export(network: Network, path: Path) -> None:
    """Write ONNX with the metadata that Ultralytics' tools read."""
    buffer = io.BytesIO()
    deployed = Deployed(network, SIDE).eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the exporter that torch now prefers needs onnxscript
        torch.onnx.export(
            deployed,
            (torch.zeros(1, 3, SIDE, SIDE),),
            buffer,
            input_names=["images"],
            output_names=["output0"],
            opset_version=17,
            dynamo=False,
        )
    model = onnx.load_from_string(buffer.getvalue())
    model.ir_version = 8
    model.doc_string = ""
    for node in model.graph.node:
        node.doc_string = ""
        del node.metadata_props[:]
    metadata = {
        "description": "edgekit shapes detector, trained on drawn scenes",
        "author": "edgekit",
        "version": "1.0.0",
        "license": "Apache-2.0",
        "stride": max(STRIDES),
        "task": "detect",
        "batch": 1,
        "imgsz": [SIDE, SIDE],
        "names": dict(enumerate(NAMES)),
        "channels": 3,
        "end2end": False,
    }
    onnx.helper.set_model_props(model, {key: str(value) for key, value in metadata.items()})
    onnx.checker.check_model(model, full_check=True)
    data = model.SerializeToString()
    if len(data) > LARGEST:
        raise SystemExit(f"{len(data)} bytes are more than {LARGEST}")
    path.write_bytes(data)


def main() -> None:
    """Draw, train, export."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("out", type=Path, help="the .onnx file to write")
    parser.add_argument("--scenes", type=int, default=8000)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(SEED)
    began = time.monotonic()
    drawn = draw_set(arguments.scenes, arguments.threads)
    print(f"{arguments.scenes} scenes drawn in {time.monotonic() - began:.0f} s", flush=True)
    network = train(*drawn, arguments.epochs)
    export(network, arguments.out)
    size = arguments.out.stat().st_size
    parameters = sum(p.numel() for p in network.parameters())
    print(f"{arguments.out}: {parameters} parameters, {size} bytes, {time.monotonic() - began:.0f} s in all")


if __name__ == "__main__":
    main()

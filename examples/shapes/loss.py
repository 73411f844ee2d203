"""What the network is punished for: which anchors answer for which shape, and how far off they are."""

from __future__ import annotations

import math

import torch
from network import BINS, distances
from torch import Tensor
from torch.nn import functional

ANCHORS_PER_SHAPE = 8
WEIGHTS = {"score": 0.5, "box": 7.5, "distribution": 1.5}


def overlap(a: Tensor, b: Tensor) -> Tensor:
    """IoU of boxes (..., 4), x1 y1 x2 y2, broadcast."""
    sides = (torch.minimum(a[..., 2:], b[..., 2:]) - torch.maximum(a[..., :2], b[..., :2])).clamp(min=0)
    shared = sides.prod(-1)
    return shared / ((a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1) - shared + 1e-7)


def complete_overlap(a: Tensor, b: Tensor) -> Tensor:
    """IoU less penalties for distant centres and different proportions (CIoU, arXiv 1911.08287)."""
    iou = overlap(a, b)
    hull = torch.maximum(a[..., 2:], b[..., 2:]) - torch.minimum(a[..., :2], b[..., :2])
    apart = (a[..., :2] + a[..., 2:] - b[..., :2] - b[..., 2:]) / 2
    (aw, ah), (bw, bh) = ((box[..., 2:] - box[..., :2]).clamp(min=1e-3).unbind(-1) for box in (a, b))
    shape = (torch.atan(aw / ah) - torch.atan(bw / bh)).square() * 4 / math.pi**2
    with torch.no_grad():
        weight = shape / (1 - iou + shape + 1e-7)
    return iou - apart.square().sum(-1) / (hull.square().sum(-1) + 1e-7) - weight * shape


@torch.no_grad()
def assign(scores: Tensor, predicted: Tensor, centres: Tensor, labels: Tensor, boxes: Tensor) -> tuple[Tensor, Tensor]:
    """Give each shape the anchors within it that already answer best (task-aligned, arXiv 2108.07755).

    Args:
        scores: (B, A, C) in 0..1.
        predicted: (B, A, 4) x1 y1 x2 y2.
        centres: (A, 2).
        labels: (B, M) int, -1 where there is no shape.
        boxes: (B, M, 4).

    Returns:
        owner: (B, A) index of the shape that the anchor answers for; meaningless where `quality` is 0.
        quality: (B, A) in 0..1, the score that the anchor should give.
    """
    iou = overlap(boxes[:, :, None], predicted[:, None])  # (B, M, A)
    chosen = labels.clamp(min=0)[:, :, None].expand_as(iou)
    score = scores.transpose(1, 2).gather(1, chosen)
    inside = ((centres > boxes[:, :, None, :2]) & (centres < boxes[:, :, None, 2:])).all(-1)
    fit = score.sqrt() * iou**6 * (inside & (labels >= 0)[:, :, None])

    best = fit.topk(ANCHORS_PER_SHAPE, 2)
    fit = torch.zeros_like(fit).scatter(2, best.indices, best.values)
    owner = torch.where(fit > 0, iou, -1.0).argmax(1)  # (B, A): where two shapes want an anchor, the closer one has it
    fit = fit * functional.one_hot(owner, fit.shape[1]).transpose(1, 2)
    strongest = fit.amax(2, keepdim=True)
    closest = torch.where(fit > 0, iou, 0.0).amax(2, keepdim=True)
    return owner, (fit / (strongest + 1e-12) * closest).amax(1)


def loss(
    distributions: Tensor, logits: Tensor, centres: Tensor, strides: Tensor, labels: Tensor, boxes: Tensor
) -> Tensor:
    """One number for a batch.

    Args:
        distributions: (B, 4, BINS, A).
        logits: (B, C, A).
        centres: (2, A) in pixels.
        strides: (A,).
        labels: (B, M) int, -1 where there is no shape.
        boxes: (B, M, 4) x1 y1 x2 y2 in pixels.
    """
    logits, points = logits.transpose(1, 2), centres.T
    near, far = (distances(distributions) * strides).transpose(1, 2).split(2, 2)
    predicted = torch.cat((points - near, points + far), 2)
    owner, quality = assign(logits.sigmoid(), predicted, points, labels, boxes)

    wanted = functional.one_hot(labels.clamp(min=0).gather(1, owner), logits.shape[2]) * quality[..., None]
    total = quality.sum().clamp(min=1)
    score = functional.binary_cross_entropy_with_logits(logits, wanted, reduction="sum") / total

    mine = quality > 0
    weight = quality[mine]
    target = boxes.gather(1, owner[..., None].expand(-1, -1, 4))[mine]
    box = ((1 - complete_overlap(predicted[mine], target)) * weight).sum() / total

    batch, anchor = mine.nonzero(as_tuple=True)
    sides = torch.cat((points[anchor] - target[:, :2], target[:, 2:] - points[anchor]), 1) / strides[anchor, None]
    sides = sides.clamp(0, BINS - 1.01)
    lower = sides.long()
    upper_part = sides - lower
    log = distributions.permute(0, 3, 1, 2)[batch, anchor].log_softmax(2)  # (P, 4, BINS)
    at_lower = log.gather(2, lower[..., None])[..., 0]
    at_upper = log.gather(2, lower[..., None] + 1)[..., 0]
    spread = -(at_lower * (1 - upper_part) + at_upper * upper_part)
    distribution = (spread.mean(1) * weight).sum() / total
    return WEIGHTS["score"] * score + WEIGHTS["box"] * box + WEIGHTS["distribution"] * distribution

"""The network: a small anchor-free detector that looks at strides 8, 16 and 32."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

STRIDES = (8, 16, 32)
BINS = 8  # a side's distance is the mean of a distribution over 0 .. BINS-1 strides


class Conv(nn.Sequential):
    """Convolution, normalization, SiLU."""

    def __init__(self, into: int, out: int, kernel: int = 1, stride: int = 1, groups: int = 1) -> None:
        super().__init__(
            nn.Conv2d(into, out, kernel, stride, kernel // 2, groups=groups, bias=False),
            nn.BatchNorm2d(out, eps=1e-3, momentum=0.03),
            nn.SiLU(inplace=True),
        )


class Split(nn.Module):
    """Two halves, one of them refined by residual 3x3 convolutions, joined again."""

    def __init__(self, into: int, out: int) -> None:
        super().__init__()
        half = out // 2
        self.keep, self.enter = Conv(into, half), Conv(into, half)
        self.refine = nn.Sequential(Conv(half, half, 3), Conv(half, half, 3))
        self.join = Conv(2 * half, out)

    def forward(self, x: Tensor) -> Tensor:
        """(B, into, H, W) to (B, out, H, W)."""
        y = self.enter(x)
        return self.join(torch.cat((self.keep(x), y + self.refine(y)), 1))


class Network(nn.Module):
    """Backbone, top-down neck, and per stride one branch for the box and one for the class."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.classes = classes
        self.to8 = nn.Sequential(
            Conv(3, 16, 3, 2), Conv(16, 24, 3, 2), Split(24, 24), Conv(24, 40, 3, 2), Split(40, 40)
        )
        self.to16 = nn.Sequential(Conv(40, 64, 3, 2), Split(64, 64))
        self.to32 = nn.Sequential(Conv(64, 64, 3, 2), Split(64, 64))
        self.up = nn.Upsample(scale_factor=2)
        self.neck32 = Conv(64, 40)
        self.neck16 = Split(64 + 40, 40)
        self.neck8 = Split(40 + 40, 40)
        self.box = nn.ModuleList(
            nn.Sequential(Conv(40, 32, 3), Conv(32, 32, 3, groups=32), nn.Conv2d(32, 4 * BINS, 1)) for _ in STRIDES
        )
        self.score = nn.ModuleList(
            nn.Sequential(Conv(40, 40, 3, groups=40), Conv(40, 40), nn.Conv2d(40, classes, 1)) for _ in STRIDES
        )
        for branch in self.score:  # at first, everything is background
            nn.init.constant_(branch[-1].bias, math.log(0.01 / 0.99))

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """(B, 3, S, S) in 0..1 to distributions (B, 4, BINS, A) and class logits (B, classes, A)."""
        c8 = self.to8(images)
        c16 = self.to16(c8)
        p32 = self.neck32(self.to32(c16))
        p16 = self.neck16(torch.cat((c16, self.up(p32)), 1))
        p8 = self.neck8(torch.cat((c8, self.up(p16)), 1))
        levels = (p8, p16, p32)
        batch = images.shape[0]
        boxes = [branch(level).reshape(batch, 4, BINS, -1) for branch, level in zip(self.box, levels, strict=True)]
        logits = [
            branch(level).reshape(batch, self.classes, -1) for branch, level in zip(self.score, levels, strict=True)
        ]
        return torch.cat(boxes, 3), torch.cat(logits, 2)


def anchors(side: int) -> tuple[Tensor, Tensor]:
    """Centres (2, A) in pixels of the input and strides (A,), stride 8 first, row by row."""
    centres, strides = [], []
    for stride in STRIDES:
        along = (torch.arange(side // stride) + 0.5) * stride
        y, x = torch.meshgrid(along, along, indexing="ij")
        centres.append(torch.stack((x.flatten(), y.flatten())))
        strides.append(torch.full((len(along) ** 2,), float(stride)))
    return torch.cat(centres, 1), torch.cat(strides)


def distances(distributions: Tensor) -> Tensor:
    """(B, 4, BINS, A) to (B, 4, A): left, top, right and bottom, in strides."""
    bins = torch.arange(BINS, dtype=distributions.dtype).reshape(1, 1, BINS, 1)
    return (distributions.softmax(2) * bins).sum(2)


class Deployed(nn.Module):
    """The network as it is exported: one output (B, 4 + classes, A), xywh in pixels of the input, then scores."""

    def __init__(self, network: Network, side: int) -> None:
        super().__init__()
        self.network = network
        centres, strides = anchors(side)
        self.register_buffer("centres", centres)
        self.register_buffer("strides", strides)

    def forward(self, images: Tensor) -> Tensor:
        """(B, 3, S, S) to (B, 4 + classes, A)."""
        distributions, logits = self.network(images)
        near, far = (distances(distributions) * self.strides).split(2, 1)
        return torch.cat((self.centres + (far - near) / 2, near + far, logits.sigmoid()), 1)

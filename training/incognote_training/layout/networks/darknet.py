"""The image paper's YoloV3-DLA (§II.B), as far as it is described; the rest is as in YOLOv3 (Redmon and Farhadi, 2018).

Darknet-65 has 66 convolutions: one at the full size, five with stride 2 that halve the size, and 60 in six residual
units, one for each size from 416 to 13. A unit has five pairs of a 1 × 1 and a 3 × 3 convolution, each pair with a
short cut. The paper's contradictions are listed in docs/layout.md.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 -- torch's own custom

from incognote_training.layout.networks.base import (
    CHANNELS,
    CLASSES,
    Convolution,
    Module,
    Network,
    Targets,
    flat,
    overlap,
)

INPUT = 416
STRIDES = (32, 16, 8)
"""Pixels of the input for a cell of each grid: 13, 26, and 52 cells in a row of the paper's input."""
PAIRS = 5
_LEAK = 0.1
_IGNORED = 0.5  # cells whose box overlaps a region by more are not taught that nothing is there
ANCHORS = (
    (300.0, 170.0), (210.0, 60.0), (130.0, 90.0), (330.0, 30.0), (90.0, 50.0), (220.0, 20.0), (60.0, 25.0),
    (110.0, 14.0), (35.0, 35.0),
)  # fmt: skip
"""Widths and heights in pixels, three for each grid, until `clustered` sets those of the training pages."""


class Unit(Module):
    """A residual unit: `PAIRS` pairs of convolutions."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        half = max(1, channels // 2)
        self.pairs = nn.ModuleList(
            nn.Sequential(Convolution(channels, half, 1, leaky=_LEAK), Convolution(half, channels, 3, leaky=_LEAK))
            for _ in range(PAIRS)
        )

    def forward(self, x: Tensor) -> Tensor:
        for pair in self.pairs:
            x = x + pair(x)
        return x


class Darknet65(Module):
    """Returns the maps of the last three sizes, from fine to coarse."""

    def __init__(self, width: float = 1.0) -> None:
        super().__init__()
        self.channels = [max(2, int(width * 32 * 2**power)) for power in range(6)]
        self.begin = Convolution(CHANNELS, self.channels[0], leaky=_LEAK)
        self.halving = nn.ModuleList(
            Convolution(before, after, 3, 2, leaky=_LEAK)
            for before, after in zip(self.channels[:-1], self.channels[1:], strict=True)
        )
        self.units = nn.ModuleList(Unit(channels) for channels in self.channels)

    def forward(self, x: Tensor) -> list[Tensor]:
        x = self.units[0](self.begin(x))
        made = []
        for halve, unit in zip(self.halving, self.units[1:], strict=True):
            x = unit(halve(x))
            made.append(x)
        return made[-3:]


class YoloV3Dla(Network):
    """Darknet-65 and YOLOv3's three heads.

    Args:
        width: multiplies the channels.
    """

    size = INPUT
    square = True

    def __init__(self, width: float = 1.0) -> None:
        super().__init__()
        self.backbone = Darknet65(width)
        fine, middle, coarse = self.backbone.channels[-3:]
        self.sets = nn.ModuleList(
            (_set(coarse, coarse // 2), _set(middle + middle // 2, middle // 2), _set(fine + fine // 2, fine // 2))
        )
        self.reduced = nn.ModuleList(
            (Convolution(coarse // 2, middle // 2, 1, leaky=_LEAK), Convolution(middle // 2, fine // 2, 1, leaky=_LEAK))
        )
        self.heads = nn.ModuleList(
            nn.Sequential(Convolution(half, 2 * half, 3, leaky=_LEAK), nn.Conv2d(2 * half, 3 * (5 + CLASSES), 1))
            for half in (coarse // 2, middle // 2, fine // 2)
        )
        self.register_buffer("anchors", torch.tensor(ANCHORS))

    def maps(self, pages: Tensor) -> list[Tensor]:
        fine, middle, coarse = self.backbone(pages)
        x = self.sets[0](coarse)
        made = [self.heads[0](x)]
        for index, larger in ((1, middle), (2, fine)):
            x = F.interpolate(self.reduced[index - 1](x), scale_factor=2.0, mode="nearest")
            x = self.sets[index](torch.cat([x, larger], dim=1))
            made.append(self.heads[index](x))
        return made

    def decoded(self, maps: list[Tensor]) -> tuple[Tensor, Tensor]:
        found = [self._boxes(map_, scale) for scale, map_ in enumerate(maps)]
        boxes = torch.cat([boxes for boxes, _ in found], dim=1)
        values = torch.cat([values for _, values in found], dim=1)
        return boxes, values[..., 4:5].sigmoid() * values[..., 5:].sigmoid()

    def _boxes(self, map_: Tensor, scale: int) -> tuple[Tensor, Tensor]:
        """Boxes and raw values of a scale: pages × 3·cells × (4 and 5 + classes), by anchor."""
        rows, columns = map_.shape[2:]
        parts = [flat(part).float() for part in map_.chunk(3, dim=1)]
        cell = torch.arange(rows * columns, device=map_.device)
        corner = torch.stack([cell % columns, torch.div(cell, columns, rounding_mode="floor")], dim=1).float()
        boxes = []
        for number, part in enumerate(parts):
            middle = (corner + part[..., :2].sigmoid()) * STRIDES[scale]
            half = part[..., 2:4].clamp(-6, 6).exp() * self.anchors[3 * scale + number] / 2
            boxes.append(torch.cat([middle - half, middle + half], dim=-1))
        return torch.cat(boxes, dim=1), torch.cat(parts, dim=1)

    def losses(self, maps: list[Tensor], targets: Targets, progress: float) -> dict[str, Tensor]:
        size = targets.boxes[:, 2:] - targets.boxes[:, :2]
        middle = (targets.boxes[:, :2] + targets.boxes[:, 2:]) / 2
        best = _alike(size, self.anchors).argmax(dim=1)
        zero = maps[0].new_zeros((), dtype=torch.float32)
        parts = {"place": zero, "size": zero, "object": zero, "class": zero}
        for scale, map_ in enumerate(maps):
            boxes, values = self._boxes(map_, scale)
            rows, columns = map_.shape[2:]
            object_, weight = torch.zeros_like(values[..., 4]), torch.ones_like(values[..., 4])
            with torch.no_grad():
                for page in range(len(map_)):
                    gold = targets.boxes[targets.pages == page]
                    if len(gold):
                        weight[page] = (overlap(boxes[page][:, None], gold[None]).amax(dim=1) < _IGNORED).float()
            mine = (best // 3 == scale).nonzero()[:, 0]
            if len(mine):
                limit = torch.tensor([columns, rows], device=map_.device) - 1e-3
                at = torch.minimum((middle[mine] / STRIDES[scale]).clamp(min=0), limit)
                row = (best[mine] % 3) * rows * columns + at[:, 1].long() * columns + at[:, 0].long()
                page = targets.pages[mine]
                object_[page, row], weight[page, row] = 1.0, 1.0
                own = values[page, row]
                small = 2 - size[mine].prod(dim=1, keepdim=True) / (rows * columns * STRIDES[scale] ** 2)
                log = (size[mine].clamp(min=1) / self.anchors[best[mine]]).log()
                kinds = F.one_hot(targets.kinds[mine], CLASSES).float()
                place = F.binary_cross_entropy_with_logits(own[:, :2], at - at.floor(), reduction="none")
                parts["place"] = parts["place"] + (place * small).sum()
                parts["size"] = parts["size"] + (0.5 * (own[:, 2:4] - log) ** 2 * small).sum()
                parts["class"] = parts["class"] + F.binary_cross_entropy_with_logits(own[:, 5:], kinds, reduction="sum")
            nothing = F.binary_cross_entropy_with_logits(values[..., 4], object_, reduction="none")
            parts["object"] = parts["object"] + (nothing * weight).sum()
        return {name: value / len(maps[0]) for name, value in parts.items()}


def _set(before: int, half: int) -> nn.Sequential:
    """Five convolutions before a head."""
    return nn.Sequential(
        Convolution(before, half, 1, leaky=_LEAK),
        Convolution(half, 2 * half, 3, leaky=_LEAK),
        Convolution(2 * half, half, 1, leaky=_LEAK),
        Convolution(half, 2 * half, 3, leaky=_LEAK),
        Convolution(2 * half, half, 1, leaky=_LEAK),
    )


def _alike(sizes: Tensor, anchors: Tensor) -> Tensor:
    """The overlap of boxes with the same center: sizes × anchors."""
    common = torch.minimum(sizes[:, None], anchors[None]).prod(dim=2)
    return common / (sizes.prod(dim=1)[:, None] + anchors.prod(dim=1)[None] - common)


def clustered(sizes: Tensor, count: int = 9, rounds: int = 100) -> Tensor:
    """Return dimension clusters (Redmon and Farhadi, YOLO9000, 2017): k-means with one minus the overlap as distance.

    It begins with sizes at equal steps of the order by area.

    Args:
        sizes: widths and heights of the training regions, in pixels of the input.

    Returns:
        `count` widths and heights, from large to small.

    Raises:
        ValueError: there are fewer sizes than clusters.
    """
    if len(sizes) < count:
        raise ValueError("there are fewer regions than clusters")
    order = sizes.prod(dim=1).argsort()
    anchors = sizes[order[((torch.arange(count) + 0.5) * len(sizes) / count).long()]]
    for _ in range(rounds):
        nearest = _alike(sizes, anchors).argmax(dim=1)
        groups = [sizes[nearest == n] for n in range(count)]
        new = torch.stack(
            [group.median(dim=0).values if len(group) else anchors[n] for n, group in enumerate(groups)]
        )
        if bool((new == anchors).all()):
            break
        anchors = new
    return anchors[anchors.prod(dim=1).argsort(descending=True)]

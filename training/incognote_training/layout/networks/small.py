"""The shipped network: about two million weights, four scales, no anchors, one box for each cell.

A cell of a map predicts a score for each class and the distances from its center to the four sides of a box (Tian et
al., FCOS, 2019). Which cells must predict a region is chosen by their own scores and overlaps (Feng et al., TOOD,
2021).
"""

from __future__ import annotations

import math

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
    centers,
    flat,
    overlap,
)

STRIDES = (8, 16, 32, 64)
_BEGIN = 4  # the first convolution sees 4 × 4 pixels as one
_POSITIVES = 10
_WARM = 0.03  # share of the training in which cells are chosen by their place alone


class Residual(Module):
    """Two convolutions and a short cut."""

    def __init__(self, channels: int, kernel: int = 3) -> None:
        super().__init__()
        self.first = Convolution(channels, channels)
        self.wide = Convolution(channels, channels, kernel, groups=channels) if kernel > 3 else nn.Identity()
        self.second = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)
        )

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x + self.second(self.wide(self.first(x))))


class Small(Network):
    """See the module.

    Args:
        width: multiplies the channels.
    """

    def __init__(self, width: float = 1.0) -> None:
        super().__init__()
        c4, c8, c16, c32, c64, neck = (max(8, int(width * each / 8) * 8) for each in (24, 48, 96, 160, 160, 64))
        self.stem = nn.Sequential(
            nn.PixelUnshuffle(_BEGIN), Convolution(CHANNELS * _BEGIN**2, c4), Residual(c4)
        )
        self.stages = nn.ModuleList(
            (
                nn.Sequential(Convolution(c4, c8, stride=2), Residual(c8), Residual(c8)),
                nn.Sequential(Convolution(c8, c16, stride=2), Residual(c16), Residual(c16)),
                nn.Sequential(Convolution(c16, c32, stride=2), Residual(c32, 7), Residual(c32, 7)),
                nn.Sequential(Convolution(c32, c64, stride=2), Residual(c64, 5)),
            )
        )
        self.sides = nn.ModuleList(Convolution(channels, neck, 1) for channels in (c8, c16, c32, c64))
        self.down = nn.ModuleList(Convolution(neck, neck) for _ in STRIDES[1:])
        self.up = nn.ModuleList(Convolution(neck, neck) for _ in STRIDES[1:])
        self.mixed = nn.ModuleList(Convolution(neck, neck) for _ in STRIDES[1:])
        self.trunk = Convolution(neck, neck)
        self.what = nn.Sequential(Convolution(neck, neck), nn.Conv2d(neck, CLASSES, 1))
        self.where = nn.Sequential(Convolution(neck, neck), nn.Conv2d(neck, 4, 1))
        nn.init.constant_(self.what[1].bias, -math.log(99))
        nn.init.constant_(self.where[1].bias, 1.0)

    def maps(self, pages: Tensor) -> list[Tensor]:
        x = self.stem(pages)
        found = []
        for stage, side in zip(self.stages, self.sides, strict=True):
            x = stage(x)
            found.append(side(x))
        for index in (2, 1, 0):  # from the coarse maps to the fine ones, and back
            larger = F.interpolate(found[index + 1], scale_factor=2.0, mode="nearest")
            height, width = found[index].shape[2:]
            found[index] = self.down[index](found[index] + larger[:, :, :height, :width])
        for index in (1, 2, 3):
            smaller = F.max_pool2d(self.up[index - 1](found[index - 1]), 2, ceil_mode=True)
            found[index] = self.mixed[index - 1](found[index] + smaller)
        made = []
        for each in found:
            x = self.trunk(each)
            made.append(torch.cat([self.what(x), self.where(x)], dim=1))
        return made

    def decoded(self, maps: list[Tensor]) -> tuple[Tensor, Tensor]:
        logits, boxes, _ = self._spread(maps)
        return boxes, logits.sigmoid()

    def _spread(self, maps: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """Logits, boxes, and the centers and strides of all cells of all scales."""
        logits, boxes, cells = [], [], []
        for map_, stride in zip(maps, STRIDES, strict=True):
            values = flat(map_).float()
            middle = centers(map_, stride)
            sides = values[..., CLASSES:].clamp(-6, 6).exp() * stride
            boxes.append(torch.cat([middle - sides[..., :2], middle + sides[..., 2:]], dim=-1))
            logits.append(values[..., :CLASSES])
            cells.append(torch.cat([middle, torch.full_like(middle[:, :1], stride)], dim=1))
        return torch.cat(logits, dim=1), torch.cat(boxes, dim=1), torch.cat(cells)

    def losses(self, maps: list[Tensor], targets: Targets, progress: float) -> dict[str, Tensor]:
        logits, boxes, cells = self._spread(maps)
        wanted = torch.zeros_like(logits)
        shared = logits.new_zeros(())
        for page in range(len(logits)):
            mine = targets.pages == page
            if not bool(mine.any()):
                continue
            gold, kinds = targets.boxes[mine], targets.kinds[mine]
            cell, region, quality = chosen(logits[page].detach(), boxes[page].detach(), cells, gold, kinds, progress)
            wanted[page, cell, kinds[region]] = quality
            shared = shared + ((1 - overlap(boxes[page, cell], gold[region], generalized=True)) * quality).sum()
        whole = wanted.sum().clamp(min=1)
        seen = F.binary_cross_entropy_with_logits(logits, wanted, reduction="none")
        weight = torch.where(wanted > 0, torch.ones_like(wanted), logits.detach().sigmoid() ** 1.5)
        return {"class": (seen * weight).sum() / whole, "box": 2 * shared / whole}


def chosen(
    logits: Tensor, boxes: Tensor, cells: Tensor, gold: Tensor, kinds: Tensor, progress: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the cells that must predict regions, the region of each, and how sure each must be (0 to 1).

    Args:
        logits, boxes, cells: of all cells of one page.
        gold, kinds: the regions of that page.
        progress: in the first part of the training, cells are chosen by their place and scale alone.
    """
    middle, stride = cells[:, None, :2], cells[:, None, 2]
    size = gold[:, 2:] - gold[:, :2]
    away = (middle - (gold[:, :2] + gold[:, 2:]) / 2).abs()
    reach = torch.maximum(size / 2, 0.75 * cells[:, None, 2:].clamp(max=8.0 * 2))  # thin regions hold no center
    inside = (away < reach).all(dim=2)
    shared = overlap(boxes[:, None], gold[None]).clamp(min=0)
    if progress < _WARM:
        fit = (torch.log2(size.min(dim=1).values.clamp(min=8)[None] / (3 * stride))).abs()
        score = torch.exp(-2 * (away / size.clamp(min=4)).max(dim=2).values - fit)
    else:
        score = logits.sigmoid()[:, kinds].sqrt() * shared**6 + 1e-9
    score = score * inside
    count = min(_POSITIVES, len(score))
    best = score.topk(count, dim=0)
    mask = torch.zeros_like(score).scatter_(0, best.indices, 1.0) * (score > 0)
    owner = torch.where(mask.sum(dim=1) > 1, (shared * mask + mask).argmax(dim=1), mask.argmax(dim=1))
    cell = mask.any(dim=1).nonzero()[:, 0]
    region = owner[cell]
    won = torch.zeros_like(mask)
    won[cell, region] = 1
    score, shared = score * won, shared * won
    if progress < _WARM:
        return cell, region, torch.ones_like(score[cell, region])
    quality = score / score.max(dim=0).values.clamp(min=1e-9) * shared.max(dim=0).values
    return cell, region, quality[cell, region].clamp(0.05, 1)

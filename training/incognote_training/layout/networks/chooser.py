"""The network that says which candidates of a page are regions, and of which kind."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from incognote.pages.layout import KINDS
from incognote_training.layout.networks.base import Module

_CHANNELS = (8, 16, 32, 48)
_FARTHEST = 6.0  # standard deviations


class Chooser(Module):
    """Numbers and two pictures of candidates to a logit for each kind.

    Args:
        mean, deviation: of the numbers, over the training's candidates.
    """

    def __init__(self, mean: Sequence[float], deviation: Sequence[float], width: int = 192) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean, dtype=torch.float32))
        self.register_buffer("deviation", torch.tensor(deviation, dtype=torch.float32))
        self.whole, self.corner = _tower(), _tower()
        self.first = nn.Sequential(nn.Linear(len(mean), width), nn.ReLU(), nn.Dropout(0.1))
        joined = width + 4 * _CHANNELS[-1]
        self.last = nn.Sequential(
            nn.Linear(joined, width), nn.ReLU(), nn.Dropout(0.1), nn.Linear(width, 96), nn.ReLU(),
            nn.Linear(96, len(KINDS)),
        )  # fmt: skip

    def forward(self, numbers: Tensor, pictures: Tensor, details: Tensor) -> Tensor:
        """Return candidates × kinds.

        Args:
            numbers: as `incognote.pages.measures` returns them.
            pictures, details: candidates × 1 × height × width, gray levels from 0 to 255.
        """
        inside = ((numbers - self.mean) / self.deviation).clamp(-_FARTHEST, _FARTHEST)
        parts = [self.first(inside)]
        for tower, picture in ((self.whole, pictures), (self.corner, details)):
            seen = tower(picture / 255 - 0.5)
            parts += [seen.amax((2, 3)), seen.mean((2, 3))]
        return self.last(torch.cat(parts, dim=1))


def _tower() -> nn.Sequential:
    layers: list[nn.Module] = []
    for before, after in zip((1, *_CHANNELS), _CHANNELS, strict=False):
        layers += [nn.Conv2d(before, after, 3, 2, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
    return nn.Sequential(*layers)

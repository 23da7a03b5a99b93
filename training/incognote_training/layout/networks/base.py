"""What the networks share: convolutions with batch normalization, and what a network returns."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor, nn

CLASSES = 13
CHANNELS = 1


class Module(nn.Module):  # type: ignore[misc] # torch is not analyzed where types are checked
    """A torch module."""


@dataclass(frozen=True, slots=True)
class Targets:
    """The regions of a batch.

    Args:
        boxes: regions × 4, in pixels of the input.
        kinds: their classes.
        pages: the page of the batch that each is on.
    """

    boxes: Tensor
    kinds: Tensor
    pages: Tensor


class Network(Module):
    """Takes pages × 1 × height × width, white is 1 and black is 0."""

    size: int = 640
    """Pixels of the longer side of the input."""
    square: bool = False
    """Whether the input must be square."""

    @abstractmethod
    def maps(self, pages: Tensor) -> list[Tensor]:
        """Return the raw outputs of all scales: pages × channels × rows × columns."""

    @abstractmethod
    def decoded(self, maps: list[Tensor]) -> tuple[Tensor, Tensor]:
        """Return boxes (pages × boxes × 4, in pixels of the input) and scores (pages × boxes × classes, 0 to 1)."""

    @abstractmethod
    def losses(self, maps: list[Tensor], targets: Targets, progress: float) -> dict[str, Tensor]:
        """Return the parts of the loss, to be added.

        Args:
            progress: the share of the training that is done, 0 to 1.
        """

    def forward(self, pages: Tensor) -> tuple[Tensor, Tensor]:
        """Return what `decoded` does."""
        return self.decoded(self.maps(pages))


class Convolution(Module):
    """A convolution, batch normalization, and an activation."""

    def __init__(
        self, before: int, after: int, kernel: int = 3, stride: int = 1, groups: int = 1, leaky: float = 0.0
    ) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(before, after, kernel, stride, kernel // 2, groups=groups, bias=False)
        self.normalization = nn.BatchNorm2d(after)
        self.activation = nn.LeakyReLU(leaky) if leaky else nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.activation(self.normalization(self.convolution(x)))


def centers(map_: Tensor, stride: int) -> Tensor:
    """Return the centers of a map's cells in pixels of the input: rows·columns × 2."""
    rows = torch.arange(map_.shape[2], device=map_.device, dtype=torch.float32)
    columns = torch.arange(map_.shape[3], device=map_.device, dtype=torch.float32)
    y, x = torch.meshgrid(rows, columns, indexing="ij")
    return (torch.stack([x.reshape(-1), y.reshape(-1)], dim=1) + 0.5) * stride


def flat(map_: Tensor) -> Tensor:
    """Return a map as pages × cells × channels."""
    return map_.flatten(2).transpose(1, 2)


def overlap(one: Tensor, other: Tensor, *, generalized: bool = False) -> Tensor:
    """Return the intersection over union of boxes (… × 4) with boxes of a shape that broadcasts.

    Args:
        generalized: subtract the share of the smallest common box that neither covers (Rezatofighi et al., 2019).
    """
    start = torch.maximum(one[..., :2], other[..., :2])
    end = torch.minimum(one[..., 2:], other[..., 2:])
    common = (end - start).clamp(min=0).prod(dim=-1)
    union = (one[..., 2:] - one[..., :2]).clamp(min=0).prod(dim=-1) + (other[..., 2:] - other[..., :2]).clamp(
        min=0
    ).prod(dim=-1) - common
    shared = common / union.clamp(min=1e-6)
    if not generalized:
        return shared
    hull = torch.maximum(one[..., 2:], other[..., 2:]) - torch.minimum(one[..., :2], other[..., :2])
    area = hull.prod(dim=-1).clamp(min=1e-6)
    return shared - (area - union) / area

"""The loss of one batch, with its parts weighted as configured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from incognote_training.student import losses
from incognote_training.student.recurrent import AnyStudent
from incognote_training.training.config import Losses
from incognote_training.training.examples import Floats, Targets


@dataclass(frozen=True, slots=True)
class Objective:
    """Computes the loss of a batch.

    Args:
        student: the student to train.
        weights: of the parts.
        bf16: whether the encoder runs under autocast; losses never do.
    """

    student: AnyStudent
    weights: Losses
    bf16: bool

    def __call__(self, ids: Any, features: Floats, wanted: Targets, progress: float, other: Any = None) -> Tensor:
        """Return the loss, for backpropagation.

        Args:
            ids, features: windows × pieces, windows × pieces × 64.
            progress: 0 at the start of training, 1 at its end.
            other: ids and features of a second view of the same windows, for the consistency loss.
        """
        w = self.weights
        at, mask = torch.from_numpy(wanted.at), torch.from_numpy(wanted.mask)
        soft, tags = torch.from_numpy(wanted.soft), torch.from_numpy(wanted.tags)
        full, early = self._logits(ids, features, at)
        total = self._tagged(full, soft, tags, mask, progress)
        if early is not None and w.early:
            total = total + w.early * self._tagged(early, soft, tags, mask, progress)
        if w.preservation:
            meanings = self.student.words(torch.from_numpy(ids)).detach()
            here = meanings.gather(1, at.unsqueeze(-1).expand(-1, -1, meanings.shape[-1]))
            total = total + self._weight(w.preservation, progress) * losses.preservation(full, soft, mask, here)
        if w.compliance:
            total = total + self._weight(w.compliance, progress) * losses.compliance(full, soft, mask)
        if w.consistency and other is not None:
            again, _ = self._logits(other[0], other[1], at)
            total = total + w.consistency * losses.consistency(full, again, mask)
        return total

    def _tagged(self, logits: Tensor, soft: Tensor, tags: Tensor, mask: Tensor, progress: float) -> Tensor:
        w = self.weights
        total = self._weight(w.detection, progress) * losses.focal(logits, soft, mask, w.gamma)
        if w.crf and self.student.switches.crf:
            total = total + w.crf * self.student.crf(logits, tags, mask)
        return total

    def _weight(self, weight: float, progress: float) -> float:
        return losses.annealed(weight, progress, self.weights.floor) if self.weights.anneal else weight

    def _logits(self, ids: Any, features: Floats, at: Tensor) -> tuple[Tensor, Tensor | None]:
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.bf16):
            full, early = self.student(torch.from_numpy(ids), torch.from_numpy(features))
        return _of_units(full, at), None if early is None else _of_units(early, at)


def _of_units(logits: Tensor, at: Tensor) -> Tensor:
    return logits.float().gather(1, at.unsqueeze(-1).expand(-1, -1, logits.shape[-1]))

"""The student as one torch module."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from incognote.detectors.encoder.units import BITS, LEXICON_BITS, MEDICAL_BIT, SHAPE_BITS
from incognote_training.student.attention import BETA, Layer, gamma
from incognote_training.student.crf import Crf
from incognote_training.student.fusion import Fusion
from incognote_training.student.shape import Sizes, Switches

PAD = 0


def seen(switches: Switches) -> Tensor:
    """The features that a model sees: `BITS` numbers, 1 for those that are switched on and 0 for the others."""
    mask = torch.zeros(BITS)
    mask[SHAPE_BITS] = float(switches.shape)
    mask[LEXICON_BITS] = float(switches.lexicon)
    return mask


class Student(nn.Module):
    """Takes pieces and features, and returns the logits of two exits.

    Args:
        sizes, switches: its architecture.
        classes: their number; there are 1 + 2·classes tags.
    """

    seen: Tensor

    def __init__(self, sizes: Sizes, switches: Switches, classes: int) -> None:
        super().__init__()
        self.sizes, self.switches = sizes, switches
        self.words = nn.Embedding(sizes.vocabulary, sizes.hidden)
        self.positions = nn.Embedding(sizes.positions, sizes.hidden)
        self.features = nn.Linear(BITS, sizes.hidden, bias=False)
        self.norm = nn.LayerNorm(sizes.hidden, eps=1e-12)
        self.drop = nn.Dropout(switches.dropout)
        self.layers = nn.ModuleList(
            Layer(sizes, switches.dropout, specialised=switches.specialised) for _ in range(sizes.layers)
        )
        self.beta = nn.Parameter(torch.tensor(BETA)) if switches.specialised else None
        self.fusion = Fusion(sizes, switches.dropout) if switches.fusion else None
        tags = 1 + 2 * classes
        self.head = nn.Linear(sizes.hidden, tags)
        self.early = nn.Linear(sizes.hidden, tags) if switches.exit_layer else None
        self.crf = Crf(classes)
        self.crf.transitions.requires_grad_(switches.crf)
        nn.init.normal_(self.words.weight, std=0.02)
        nn.init.normal_(self.positions.weight, std=0.02)
        nn.init.normal_(self.features.weight, std=0.02)
        self.register_buffer("seen", seen(switches), persistent=False)

    def forward(self, ids: Tensor, features: Tensor) -> tuple[Tensor, Tensor | None]:
        """The logits of the full exit and of the early one, windows × pieces × tags.

        Args:
            ids: windows × pieces, 0 for padding.
            features: windows × pieces × 64.
        """
        hidden = self.lower(ids, features)
        early = self.early(hidden) if self.early is not None else None
        return self.upper(hidden, ids, features), early

    @property
    def depth(self) -> int:
        """The number of layers below the early exit, or of all layers if there is none."""
        return self.switches.exit_layer or self.sizes.layers

    def lower(self, ids: Tensor, features: Tensor) -> Tensor:
        """The hidden states after the layers up to the early exit, windows × pieces × hidden."""
        places = torch.arange(ids.shape[1], device=ids.device)
        hidden = self.words(ids) + self.positions(places) + self.features(features * self.seen)
        hidden = self.drop(self.norm(hidden))
        return self._through(self.layers[: self.depth], hidden, ids, features)

    def upper(self, hidden: Tensor, ids: Tensor, features: Tensor) -> Tensor:
        """The logits of the full exit."""
        hidden = self._through(self.layers[self.depth :], hidden, ids, features)
        if self.fusion is not None:
            hidden = self.fusion(hidden, (ids != PAD).to(hidden.dtype))
        return self.head(hidden)

    def _through(self, layers: nn.ModuleList, hidden: Tensor, ids: Tensor, features: Tensor) -> Tensor:
        real = (ids != PAD).to(hidden.dtype)
        blocked = ((real - 1) * 1e4)[:, None, None, :]
        dense = gamma(features[:, :, MEDICAL_BIT], real, self.beta) if self.beta is not None else None
        for layer in layers:
            hidden = layer(hidden, blocked, dense)
        return hidden

"""The model of several languages: BiLSTM-CNN-Char with a CRF (papers/001 §4.1.2), plus the features of each word.

A word is represented by its vector in a vocabulary, by its characters through a convolution, and by its shape and its
entry in the lexicon. Two bidirectional LSTM layers read the words of a window in both directions.

Our additions to the paper's model are the features, more than one layer, and blanking: in training, the model sees some
words only by their characters, because names in new texts are mostly unknown words. It has one exit.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from incognote.detectors.encoder.units import BITS
from incognote.detectors.encoder.words import CHARACTERS, WordRows
from incognote_training.student.crf import Crf
from incognote_training.student.model import PAD, Student, seen
from incognote_training.student.shape import Switches, WordSizes


class Recurrent(nn.Module):
    """Takes rows of words and features, and returns logits. It has the interface of `Student`.

    Args:
        sizes, switches: its architecture; of the switches, `shape`, `lexicon` and `crf` apply.
        vocabulary: the number of ids of words.
        classes: their number; there are 1 + 2·classes tags.
    """

    seen: Tensor

    def __init__(self, sizes: WordSizes, switches: Switches, vocabulary: int, classes: int) -> None:
        super().__init__()
        self.sizes, self.switches = sizes, switches
        self.words = nn.Embedding(vocabulary, sizes.word)
        self.characters = nn.Embedding(CHARACTERS, sizes.character)
        self.narrow = nn.Conv1d(sizes.character, sizes.filters, 3, padding=1)
        self.features = nn.Linear(BITS, sizes.features, bias=False)
        self.lstm = nn.LSTM(
            sizes.word + sizes.filters + sizes.features, sizes.hidden, sizes.layers, bidirectional=True,
            batch_first=True, dropout=sizes.dropout if sizes.layers > 1 else 0.0,
        )  # fmt: skip
        self.head = nn.Linear(2 * sizes.hidden, 1 + 2 * classes)
        self.drop = nn.Dropout(sizes.dropout)
        self.early: nn.Linear | None = None
        self.crf = Crf(classes)
        self.crf.transitions.requires_grad_(switches.crf)
        nn.init.normal_(self.words.weight, std=0.1)
        self.register_buffer("seen", seen(switches), persistent=False)

    def forward(self, ids: Tensor, features: Tensor) -> tuple[Tensor, Tensor | None]:
        """The logits, windows × words × tags, and None for the early exit.

        Args:
            ids: windows × words × `words.WIDTH`, 0 for padding.
            features: windows × words × 64.
        """
        return self.upper(self.lower(ids, features), ids, features), None

    def lower(self, ids: Tensor, features: Tensor) -> Tensor:
        """The hidden states, windows × words × 2·hidden."""
        known = ids[:, :, 0]
        if self.training:
            blank = torch.rand(known.shape) < self.sizes.blank
            known = torch.where(blank & (known != PAD), WordRows.unknown, known)
        n, length, width = ids.shape[0], ids.shape[1], ids.shape[2] - 1
        letters = ids[:, :, 1:].reshape(n * length, width)
        shown = self.narrow(self.characters(letters).transpose(1, 2))
        shown = torch.relu(shown).max(dim=2).values.reshape(n, length, -1)
        told = torch.relu(self.features(features * self.seen))
        together = self.drop(torch.cat([self.words(known), shown, told], dim=2))
        return self.lstm(together)[0]

    def upper(self, hidden: Tensor, ids: Tensor, features: Tensor) -> Tensor:
        """The logits."""
        return self.head(self.drop(hidden))


class Ensemble(nn.Module):
    """Several models of words as one: the mean of their logits and transitions.

    Args:
        students: trained with the same vocabulary.
    """

    def __init__(self, students: Sequence[Recurrent]) -> None:
        super().__init__()
        self.students = nn.ModuleList(students)
        first = students[0]
        self.sizes, self.switches, self.features = first.sizes, first.switches, first.features
        self.early: nn.Linear | None = None
        self.crf = Crf((first.head.out_features - 1) // 2)
        with torch.no_grad():
            self.crf.transitions.copy_(torch.stack([each.crf.transitions for each in students]).mean(dim=0))

    def lower(self, ids: Tensor, features: Tensor) -> Tensor:
        """The hidden states of all models, windows × words × (their widths together)."""
        return torch.cat([each.lower(ids, features) for each in self.students], dim=2)

    def upper(self, hidden: Tensor, ids: Tensor, features: Tensor) -> Tensor:
        """The mean of the logits."""
        parts = hidden.chunk(len(self.students), dim=2)
        made = [each.upper(part, ids, features) for each, part in zip(self.students, parts, strict=True)]
        return torch.stack(made).mean(dim=0)


AnyStudent = Student | Recurrent | Ensemble

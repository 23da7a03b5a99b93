"""Token, segment, and document levels and their gated sum (Guan §3.2.2, Algorithm 2).

The paper leaves some points open, which we decide as follows. Segments are WIDTH pieces with a stride of WIDTH, so that
each token has one. The convolution has a kernel of three. The document is the window that the encoder sees. Gates
weight each level element by element. They start almost fully on the token level, so that training starts from the
pretrained representation.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from incognote_training.student.attention import Layer
from incognote_training.student.shape import Sizes

WIDTH = 16
"""Number of pieces in a segment."""
_OPEN = 3.0
"""The initial bias of the token gate. The others start at minus this value."""


class Fusion(nn.Module):
    """H = g_token·h_token + g_segment·h_segment + g_document·h_document.

    Args:
        sizes: of the model.
        dropout: of the segments' layer.
    """

    def __init__(self, sizes: Sizes, dropout: float) -> None:
        super().__init__()
        d = sizes.hidden
        self.convolution = nn.Linear(3 * d, d)
        self.segments = Layer(sizes, dropout, specialised=False)
        self.query = nn.Parameter(torch.randn(d) * 0.02)
        self.key = nn.Linear(d, d)
        self.of_token = nn.Linear(d, 3 * d)
        self.of_segment = nn.Linear(d, 3 * d, bias=False)
        self.of_document = nn.Linear(d, 3 * d, bias=False)
        with torch.no_grad():
            for part in (self.of_token, self.of_segment, self.of_document):
                part.weight.mul_(0.1)
            self.of_token.bias.copy_(torch.tensor([_OPEN, -_OPEN, -_OPEN]).repeat_interleave(d))

    def forward(self, hidden: Tensor, real: Tensor) -> Tensor:
        """Args: hidden, windows × pieces × hidden; real, windows × pieces, 1 or 0."""
        asked = hidden.shape[1]
        hidden, real = _filled(hidden), _filled(real.unsqueeze(-1)).squeeze(-1)
        n, length, d = hidden.shape
        rows = real.unsqueeze(-1)
        kept = hidden * rows
        edge = torch.zeros_like(kept[:, :1])
        beside = torch.cat([torch.cat([edge, kept[:, :-1]], 1), kept, torch.cat([kept[:, 1:], edge], 1)], dim=-1)
        local = nn.functional.gelu(self.convolution(beside)) - (1 - rows) * 1e4
        pooled = local.view(n, length // WIDTH, WIDTH, d).amax(dim=2)
        there = real.view(n, length // WIDTH, WIDTH).amax(dim=2)
        pooled = pooled * there.unsqueeze(-1)
        blocked = (there - 1) * 1e4
        segments = self.segments(pooled, blocked.view(n, 1, 1, -1))
        sought = (self.key(segments) * self.query).sum(dim=-1) / math.sqrt(d) + blocked
        document = (torch.softmax(sought, dim=-1).unsqueeze(-1) * segments).sum(dim=1, keepdim=True)
        coarse = self.of_segment(segments) + self.of_document(document)
        fine = self.of_token(hidden).view(n, length // WIDTH, WIDTH, 3 * d)
        gates = torch.sigmoid(fine + coarse.unsqueeze(2))
        token, segment, whole = gates.split(d, dim=-1)
        levels = hidden.view(n, length // WIDTH, WIDTH, d)
        fused = token * levels + segment * segments.unsqueeze(2) + whole * document.unsqueeze(2)
        return fused.reshape(n, length, d)[:, :asked]


def _filled(rows: Tensor) -> Tensor:
    """Windows × pieces × any, padded with zeros so that the last segment is complete."""
    length = rows.shape[1]
    behind = rows.new_zeros(rows.shape[0], WIDTH - 1, rows.shape[2])
    return torch.cat([rows, behind], dim=1)[:, : (length + WIDTH - 1) // WIDTH * WIDTH]

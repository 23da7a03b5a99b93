"""BERT-style transformer layers, eager, with Guan's specialized heads (§3.2.1) as a switch.

The heads of each layer are split into three groups of h/3: temporal, spatial, and identity. Guan prints
softmax((Q·Kᵀ)/√(d·α·γ(context))·V with a bracket missing. So α and γ may be under the root, next to it, or after the
softmax. We use them as factors of the scores:

    softmax(α_group · γ · Q·Kᵀ/√d) · V,    γ = 1 + β·log(1 + density)

The reason is that the paper reports narrower attention for the special heads (§4.2.2, entropy 2.3 to 2.9 bits against
3.4), and only here does a γ above 1 narrow it. Under the root it would widen attention, and after the softmax it would
not change where the heads look. One α per layer and group is learned, starting from 1, and one β for the model,
starting from 0.1. Density is the share of the window's pieces that belong to medical words. Training decides what each
group learns, because the paper does not tie groups to entity types. With α = 1 and no medical word, the layer is the
pretrained one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from incognote_training.student.shape import Sizes

GROUPS = ("temporal", "spatial", "identity")
BETA = 0.1
Attention = Callable[[Tensor, Tensor, Tensor, Tensor, int, nn.Module], Tensor]
"""Queries, keys, and values (windows × pieces × hidden), the term added to the scores, number of heads, dropout."""


class Layer(nn.Module):
    """One post-norm layer: self-attention and feed-forward, each added and normalized.

    Args:
        sizes: of the model.
        dropout: of attention weights and of both outputs.
        specialised: whether the heads have groups.
    """

    def __init__(self, sizes: Sizes, dropout: float, *, specialised: bool) -> None:
        super().__init__()
        self.heads, self.width = sizes.heads, sizes.hidden // sizes.heads
        self.attention: Attention = attention  # the export replaces it
        self.qkv = nn.Linear(sizes.hidden, 3 * sizes.hidden)
        self.out = nn.Linear(sizes.hidden, sizes.hidden)
        self.norm = nn.LayerNorm(sizes.hidden, eps=1e-12)
        self.up = nn.Linear(sizes.hidden, sizes.intermediate)
        self.down = nn.Linear(sizes.intermediate, sizes.hidden)
        self.last = nn.LayerNorm(sizes.hidden, eps=1e-12)
        self.drop = nn.Dropout(dropout)
        self.alpha = nn.Parameter(torch.ones(len(GROUPS))) if specialised else None
        group = torch.arange(sizes.heads) * len(GROUPS) // sizes.heads
        self.register_buffer("group", group, persistent=False)

    def forward(self, hidden: Tensor, blocked: Tensor, gamma: Tensor | None = None) -> Tensor:
        """Compute the next hidden state.

        Args:
            hidden: windows × pieces × hidden.
            blocked: windows × 1 × 1 × pieces, added to the scores: a large negative number for padding.
            gamma: one per window.
        """
        q, k, v = self.qkv(hidden).chunk(3, dim=-1)
        if self.alpha is not None and gamma is not None:
            factors = self.alpha[self.group].repeat_interleave(self.width) * gamma.view(-1, 1, 1)
            q = q * factors  # equivalent to scaling the scores, and cheaper by the window's length
        mixed = self.attention(q, k, v, blocked, self.heads, self.drop)
        hidden = self.norm(hidden + self.drop(self.out(mixed)))
        return self.last(hidden + self.drop(self.down(nn.functional.gelu(self.up(hidden)))))


def attention(q: Tensor, k: Tensor, v: Tensor, blocked: Tensor, heads: int, drop: nn.Module) -> Tensor:
    """softmax(Q·Kᵀ/√d)·V over all heads, windows × pieces × hidden."""
    n, length, hidden = q.shape
    q, k, v = (each.view(n, length, heads, -1).transpose(1, 2) for each in (q, k, v))
    scores = q @ k.transpose(-1, -2) * (1 / math.sqrt(hidden // heads))
    weights: Tensor = drop(torch.softmax(scores + blocked, dim=-1))
    return (weights @ v).transpose(1, 2).reshape(n, length, hidden)


def gamma(medical: Tensor, real: Tensor, beta: Tensor) -> Tensor:
    """Guan's γ(context) of each window, at least 1 unless β is negative.

    Args:
        medical, real: windows × pieces; 1 where a piece belongs to a medical word, and where it is not padding.
    """
    density = medical.sum(dim=1) / real.sum(dim=1).clamp(min=1)
    return 1 + beta * torch.log1p(density)

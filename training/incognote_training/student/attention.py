"""Transformer layers of the BERT kind, eager, with Guan's specialised heads (§3.2.1) as a switch.

The heads of each layer are parted into three groups, temporal, spatial and identity, h/3 each. Guan prints
softmax((Q·Kᵀ)/√(d·α·γ(context))·V with a bracket missing, so that α and γ may stand under the root, beside it, or
behind the softmax. We take them as factors of the scores:

    softmax(α_group · γ · Q·Kᵀ/√d) · V,    γ = 1 + β·log(1 + density)

because the paper reports that its special heads attend more narrowly (§4.2.2, entropy 2.3 to 2.9 bits against 3.4),
and a γ above 1 does so only here: under the root it would blunt them, behind the softmax not touch where they look.
One α per layer and group is learned, from 1; one β for the model, from 0.1; density is the share of the window's pieces
that belong to medical words. Which group learns what is left to training: nothing in print ties a group to its types.
At α = 1 and no medical word the layer is the pretrained one.
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
"""queries, keys and values (windows × pieces × hidden), what is added to the scores, the number of heads, dropout."""


class Layer(nn.Module):
    """One post-norm layer: self-attention and feed-forward, each added and normalised.

    Args:
        sizes: of the model.
        dropout: of attention weights and of both outputs.
        specialised: whether the heads have groups.
    """

    def __init__(self, sizes: Sizes, dropout: float, *, specialised: bool) -> None:
        super().__init__()
        self.heads, self.width = sizes.heads, sizes.hidden // sizes.heads
        self.attention: Attention = attention  # the export puts another in its place
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
        """The next hidden state.

        Args:
            hidden: windows × pieces × hidden.
            blocked: windows × 1 × 1 × pieces, added to the scores: far below zero for padding.
            gamma: one per window.
        """
        q, k, v = self.qkv(hidden).chunk(3, dim=-1)
        if self.alpha is not None and gamma is not None:
            factors = self.alpha[self.group].repeat_interleave(self.width) * gamma.view(-1, 1, 1)
            q = q * factors  # the same as on the scores, and a window's length cheaper
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
    """Guan's γ(context) of each window, at least 1 while β is not negative.

    Args:
        medical, real: windows × pieces, 1 where a piece belongs to a medical word, and where it is no padding.
    """
    density = medical.sum(dim=1) / real.sum(dim=1).clamp(min=1)
    return 1 + beta * torch.log1p(density)

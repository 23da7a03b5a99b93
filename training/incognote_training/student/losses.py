"""The losses: CIPHER's two (eqs. 4 to 6) and Guan's four (§3.3.2), on logits of words.

Shapes: logits and soft targets are windows × words × tags, masks are windows × words. Guan prints names and aims but no
formulas; our choices are given below. Guan's L_PII is the focal loss.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def focal(logits: Tensor, targets: Tensor, mask: Tensor, power: float) -> Tensor:
    """Soft cross-entropy with each tag weighted by (1 - q)^power, mean per word (CIPHER eq. 5). Power 0: plain."""
    log_q = torch.log_softmax(logits, dim=-1)
    parts = targets * log_q
    if power:
        parts = parts * (1 - log_q.exp()).clamp(min=0) ** power
    return _mean(-parts.sum(dim=-1), mask)


def preservation(logits: Tensor, targets: Tensor, mask: Tensor, meanings: Tensor) -> Tensor:
    """How much the meaning of the remaining text differs from the meaning of the text that should remain.

    It is one minus the cosine of two mean word vectors. In one, words are weighted by their probability of staying. In
    the other, they are weighted by whether gold lets them stay.

    Args:
        meanings: windows × words × hidden; the caller detaches them, because this loss must not train them.
    """
    real = mask.to(logits.dtype).unsqueeze(-1)
    stays = torch.softmax(logits, dim=-1)[..., :1] * real
    should = targets[..., :1] * real
    one, other = (stays * meanings).sum(dim=1), (should * meanings).sum(dim=1)
    return (1 - torch.cosine_similarity(one, other, dim=-1, eps=1e-6)).mean()


def compliance(logits: Tensor, targets: Tensor, mask: Tensor) -> Tensor:
    """A penalty for missed identifiers, with equal weight for every class that occurs.

    It is minus the log of the probability of any tag except O, averaged over the words of a class, then over classes.
    """
    log_q = torch.log_softmax(logits, dim=-1)
    caught = torch.log1p(-log_q[..., 0].exp().clamp(max=1 - 1e-6))
    of_class = targets[..., 1::2] + targets[..., 2::2]
    weights = of_class * mask.to(logits.dtype).unsqueeze(-1)
    total = weights.sum(dim=(0, 1))
    missed = -(weights * caught.unsqueeze(-1)).sum(dim=(0, 1)) / total.clamp(min=1e-6)
    return missed.sum() / (total > 0).sum().clamp(min=1)


def consistency(one: Tensor, other: Tensor, mask: Tensor) -> Tensor:
    """The difference of the outputs for a window and an augmented view of it: symmetric Kullback-Leibler divergence."""
    p, q = torch.log_softmax(one, dim=-1), torch.log_softmax(other, dim=-1)
    return _mean(((p.exp() - q.exp()) * (p - q)).sum(dim=-1) / 2, mask)


def annealed(weight: float, progress: float, floor: float) -> float:
    """Guan's λ_i(t): cosine annealing from `weight`.

    As printed, it ends at 0, and the last steps would train nothing. So it never falls below `floor` times the weight.
    The paper names an adaptation factor without defining it; it is 1 here.

    Args:
        progress: 0 at the start, 1 at the end.
    """
    return weight * max(floor, (1 + math.cos(math.pi * min(1.0, progress))) / 2)


def _mean(losses: Tensor, mask: Tensor) -> Tensor:
    real = mask.to(losses.dtype)
    return (losses * real).sum() / real.sum().clamp(min=1)

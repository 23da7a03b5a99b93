"""What is minimised: CIPHER's two losses (eqs. 4 to 6) and Guan's four (§3.3.2), on logits of words.

Shapes: logits and soft targets are windows × words × tags, masks windows × words. Guan prints names and aims, not
formulas; what stands for each is said below. His L_PII is the focal loss.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def focal(logits: Tensor, targets: Tensor, mask: Tensor, power: float) -> Tensor:
    """Soft cross-entropy, each tag's part weighed by (1 - q)^power, mean per word (CIPHER eq. 5); power 0 is plain."""
    log_q = torch.log_softmax(logits, dim=-1)
    parts = targets * log_q
    if power:
        parts = parts * (1 - log_q.exp()).clamp(min=0) ** power
    return _mean(-parts.sum(dim=-1), mask)


def preservation(logits: Tensor, targets: Tensor, mask: Tensor, meanings: Tensor) -> Tensor:
    """How far what is left of the text means something else than what should be left of it.

    One minus the cosine of two mean word vectors: words weighed by their probability of staying, and by whether gold
    lets them stay.

    Args:
        meanings: windows × words × hidden, not to be trained by this: the caller detaches them.
    """
    real = mask.to(logits.dtype).unsqueeze(-1)
    stays = torch.softmax(logits, dim=-1)[..., :1] * real
    should = targets[..., :1] * real
    one, other = (stays * meanings).sum(dim=1), (should * meanings).sum(dim=1)
    return (1 - torch.cosine_similarity(one, other, dim=-1, eps=1e-6)).mean()


def compliance(logits: Tensor, targets: Tensor, mask: Tensor) -> Tensor:
    """What is missed of each kind of identifier, every kind that occurs weighing the same.

    Minus the log of the probability of any tag but O, averaged over the words of a class, then over the classes.
    """
    log_q = torch.log_softmax(logits, dim=-1)
    caught = torch.log1p(-log_q[..., 0].exp().clamp(max=1 - 1e-6))
    of_class = targets[..., 1::2] + targets[..., 2::2]
    weights = of_class * mask.to(logits.dtype).unsqueeze(-1)
    total = weights.sum(dim=(0, 1))
    missed = -(weights * caught.unsqueeze(-1)).sum(dim=(0, 1)) / total.clamp(min=1e-6)
    return missed.sum() / (total > 0).sum().clamp(min=1)


def consistency(one: Tensor, other: Tensor, mask: Tensor) -> Tensor:
    """How much the answers to a window and to an augmented view of it differ: symmetric Kullback-Leibler divergence."""
    p, q = torch.log_softmax(one, dim=-1), torch.log_softmax(other, dim=-1)
    return _mean(((p.exp() - q.exp()) * (p - q)).sum(dim=-1) / 2, mask)


def annealed(weight: float, progress: float, floor: float) -> float:
    """Guan's λ_i(t): cosine annealing from `weight`.

    As printed it ends at 0, and the last steps would train nothing; so it never falls below `floor` times the weight.
    His adaptation factor is named and not defined: 1 here.

    Args:
        progress: 0 at the start, 1 at the end.
    """
    return weight * max(floor, (1 + math.cos(math.pi * min(1.0, progress))) / 2)


def _mean(losses: Tensor, mask: Tensor) -> Tensor:
    real = mask.to(losses.dtype)
    return (losses * real).sum() / real.sum().clamp(min=1)

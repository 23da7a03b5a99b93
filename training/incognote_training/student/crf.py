"""The negative log-likelihood of tag sequences under a linear-chain CRF (CIPHER, eqs. 2, 3 and 6).

The forward algorithm runs on all sequences at once and computes log-sum-exp as a matrix product of exponentials, which
is three times as fast as over tags × tags. There are no start or end weights, because windows are cut anywhere. A
window may begin inside a span.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from incognote.detectors.encoder.bundle import allowed

FORBIDDEN = -30.0
"""Used for minus infinity: e^-30 is negligible compared with 1, and its gradient is finite."""


class Crf(nn.Module):
    """Transitions and the likelihood.

    Args:
        classes: their number; there are 1 + 2·classes tags.
    """

    legal: Tensor

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.transitions = nn.Parameter(torch.zeros(1 + 2 * classes, 1 + 2 * classes))
        self.register_buffer("legal", torch.from_numpy(allowed(classes)), persistent=False)

    def weights(self) -> Tensor:
        """The transitions, tags × tags, with FORBIDDEN where a tag may not follow."""
        return torch.where(self.legal, self.transitions, FORBIDDEN)

    def forward(self, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """The mean negative log-likelihood per word.

        Args:
            emissions: sequences × words × tags, float32.
            tags: sequences × words.
            mask: sequences × words, True for words; False only after the last word.
        """
        a = self.weights()
        real = mask.to(emissions.dtype)
        of_words = emissions.gather(2, tags.unsqueeze(2)).squeeze(2) * real
        of_steps = a[tags[:, :-1], tags[:, 1:]] * real[:, 1:]
        gold = of_words.sum(dim=1) + of_steps.sum(dim=1)
        high = a.max()
        exponentials = torch.exp(a - high)
        alpha = emissions[:, 0]
        for t in range(1, emissions.shape[1]):
            top = alpha.max(dim=1, keepdim=True).values.detach()
            summed = torch.log(torch.exp(alpha - top) @ exponentials + 1e-30) + top + high
            alpha = torch.where(mask[:, t : t + 1], summed + emissions[:, t], alpha)
        losses = (torch.logsumexp(alpha, dim=1) - gold) * real[:, 0]
        return losses.sum() / real.sum().clamp(min=1)

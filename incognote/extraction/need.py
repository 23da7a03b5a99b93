"""Decide where a second pass over a chunk is worth its cost (`passes = "need"`).

A second pass over every chunk doubled the tokens of RedactOR's setting and found nothing in any recorded note. So a
chunk is read again in two cases only:

    missed    rules and encoder are both certain of an identifier that the reply does not contain
    dense     the reply has many mentions, and the embedded detectors still expect missed identifiers elsewhere

The second pass sees masks in place of the first reply's findings and of everything of which both detectors are certain.
Those are replaced in any case, so the model is asked only about the rest. The request also differs from the first one
after an empty reply.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from incognote.align.merge import merge
from incognote.detectors.agreement import is_weak
from incognote.extraction.routing import chances
from incognote.nouns import Span
from incognote.schemas.policy import Policy
from incognote.settings import Passes

DENSE = 10
"""A reply is dense if it has a mention for every so many words, or fewer."""
DOUBTFUL = 100
"""A chunk is doubtful if one missed identifier is expected, and one for every so many words."""
MEAN = 1.05
"""Mean number of passes by need, for estimates: 2 of 66 recorded notes got a second pass with prompt 3."""
MISSED = {"doubt": 0.2, "alone": 0.15}
"""The expected number of missed identifiers for the square of a doubt's score, and for a disagreement."""
_BOTH = frozenset(("rules", "encoder"))
_TOKEN = re.compile(r"\w+")


def mean_passes(passes: Passes) -> float:
    """Return the number of passes over a chunk to expect."""
    return MEAN if passes == "need" else passes


def more_masks(words: int, evidence: Sequence[Span], named: Sequence[Span], policy: Policy) -> list[Span] | None:
    """Return what to mask in a second pass besides the model's findings; None if a second pass is not worth its cost.

    Args:
        words: the length of the chunk.
        evidence: the spans of the embedded detectors in the chunk, overlapping and unmerged.
        named: the model's findings in the chunk.
    """
    rest = [span for span in _certain(evidence, policy) if not _touched(span.start, span.end, named)]
    tokens = {token for span in named for token in _tokens(span)}
    if any(not tokens.issuperset(_tokens(span)) for span in rest if _telling(span)):
        return rest
    left = [chance for chance in chances(evidence, policy) if not _touched(chance.start, chance.end, named)]
    doubtful = sum(MISSED[chance.kind] * chance.score**2 for chance in left) >= max(1, words / DOUBTFUL)
    return rest if doubtful and DENSE * len(named) >= words else None


def _certain(evidence: Iterable[Span], policy: Policy) -> list[Span]:
    """Return, merged, what rules and encoder both hold above the policy's thresholds."""
    strong = (
        s for s in evidence if policy.replaces(s.type) and (c := policy.choice(s.type)) and s.score >= c.threshold
    )
    return [span for span in merge(strong) if {source.partition(":")[0] for source in span.sources} >= _BOTH]


def _telling(span: Span) -> bool:
    """Whether a missed span says something about the model's reply.

    It does not if it was known beforehand, or if the only rules that found it are often wrong.
    """
    others = [source for source in span.sources if source.partition(":")[0] != "encoder"]
    return all(source.startswith("rules:") for source in others) and not all(map(is_weak, others))


def _touched(start: int, end: int, named: Iterable[Span]) -> bool:
    return any(span.start < end and start < span.end for span in named)


def _tokens(span: Span) -> list[str]:
    return _TOKEN.findall(span.text.casefold())

"""Whether a recording was heard well enough to be released without a person who listens to it."""

from __future__ import annotations

from incognote.speech.intervals import seconds
from incognote.speech.nouns import Heard

LEAST_CONFIDENCE = 0.55
"""The mean confidence of words, weighted by their time, below which a recording was hard to hear."""
MOST_UNHEARD = 0.25
"""The share of voiced time without words above which a recording was hard to hear."""


def is_poor(heard: Heard) -> bool:
    """Whether a recording was hard to hear, or nothing was heard in it."""
    time = sum(word.end - word.start for word in heard.words)
    if not time:
        return True
    return confidence(heard) < LEAST_CONFIDENCE or seconds(heard.gaps) > MOST_UNHEARD * seconds(heard.voiced)


def confidence(heard: Heard) -> float:
    """Return the mean confidence of words, weighted by their time; 0 without words."""
    time = sum(word.end - word.start for word in heard.words)
    return sum((word.end - word.start) * word.confidence for word in heard.words) / time if time else 0.0

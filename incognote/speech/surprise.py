"""How likely English words follow each other, by the language model that comes with PocketSphinx."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

UNKNOWN = -20.0
"""The logarithm for a word that the model does not know, and the least of all."""
UNHELPED = -7.0
"""The logarithm for every word if PocketSphinx is not installed: that of a usual word."""
_BASE = 1.0001
_STEP = 1e-4  # the natural logarithm of the base, nearly


def likelihoods(words: Sequence[str]) -> list[tuple[float, float]]:
    """Return for each word the natural logarithms of its likelihood alone, and after the two words before it.

    Args:
        words: in lower case.
    """
    log = _model()
    if log is None:
        return [(UNHELPED, UNHELPED)] * len(words)
    return [(log((word,)), log((word, *words[max(0, at - 2) : at][::-1]))) for at, word in enumerate(words)]


@cache
def _model() -> Callable[[tuple[str, ...]], float] | None:
    """Return what gives the logarithm for a word and those before it, the last one first. None without the model."""
    try:
        from pocketsphinx import Config, LogMath, NGramModel, get_model_path
    except ImportError:
        return None
    path = get_model_path("en-us/en-us.lm.bin")
    model: Any = NGramModel(Config(lm=path), LogMath(_BASE), path)

    @cache
    def log(words: tuple[str, ...]) -> float:
        return max(UNKNOWN, _STEP * float(model.prob(list(words))))

    return log

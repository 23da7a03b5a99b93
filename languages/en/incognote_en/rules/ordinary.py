"""Which words are ordinary: usual in general or clinical prose, so no evidence of a place or an institution."""

from __future__ import annotations

from functools import cache

from incognote.detectors.rules.lexicon import BRAND, EPONYM, EPONYM_NOUN, MEDICAL, commonness, lexicon

_KINDS = MEDICAL | BRAND | EPONYM | EPONYM_NOUN


@cache
def ordinary(rare: bool = False) -> frozenset[str]:
    """Usual English words, words of medicine, brands and eponyms, folded; rare English ones too if asked for."""
    least = 1 if rare else 2
    return frozenset(word for word, entry in lexicon().items() if commonness(entry) >= least or entry & _KINDS)

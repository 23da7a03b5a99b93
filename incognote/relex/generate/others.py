"""What is no name and no number: words of family become neutral ones; race and ethnicity become their label."""

from __future__ import annotations

from incognote.detectors.rules.lexicon import fold
from incognote.relex.generate.base import Draw, Kind, like
from incognote.relex.generate.taken import Taken
from incognote.relex.nouns import Identity, Rendered, Surrogate, Variant


class Others(Kind):
    """Words of family (§A.9.5: wife → spouse): no part; what has no neutral word is told by its label."""

    group = "OTHER"

    def generate(self, identity: Identity, draw: Draw, taken: Taken) -> Surrogate:
        return Surrogate({}, self.pools.version)

    def whole(self, surrogate: Surrogate) -> str:
        """Nothing: the words are everybody's."""
        return ""

    def render(self, variant: Variant, identity: Identity, surrogate: Surrogate) -> Rendered | None:
        neutral = self.pools.data("others")["neutral"].get(fold(variant.words.strip()))
        return Rendered(like(variant.words, neutral)) if neutral else None

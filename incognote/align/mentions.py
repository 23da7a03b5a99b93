"""Map the mentions of a model to stretches of the text it saw. Each mention gets a placement: none is dropped silently.

The steps, in this order: the phrase as given; the folded phrase (case, white space, quotes, Unicode); similar phrases
by edit distance; then the identifier's words alone. Names are placed wherever they occur, and numbers where the context
fits (RedactOR, §A.4: 76 years, 76 mg). A mention that fits no context is placed everywhere or nowhere, and is not
certain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from incognote.align import fitting
from incognote.align.matching import Stretch, bounded, folded, similarity, trimmed, unmasked
from incognote.align.searched import HEARD, MASK, MOST, Fits, SearchedText, Sought, disjoint
from incognote.nouns import Mention

__all__ = ["Fits", "Placement", "place"]

How = Literal["exact", "folded", "near", "bare", "everywhere", "echo", "nowhere"]
_AGREED = 0.6  # the share of a hint that must be around a place for the hint to choose it
_SURELY = 0.9  # below this similarity, the same words in another order are preferred
_AGAINST = -0.4  # evidence below this means that a number is something else


@dataclass(frozen=True, slots=True)
class Placement:
    """The places of a mention in the text.

    Attributes:
        stretches: (start, end) in code points of the given text, in order, outside its masks. Empty if the mention
            could not be placed, or if it only echoes a mask.
        how: the step that placed it. "bare": the identifier's words where the context fits, or a name wherever it
            occurs; "everywhere": all places, because no context fits; "echo": only a mask; "nowhere": not found.
        certain: False makes the verdict `review`.
    """

    mention: Mention
    stretches: tuple[Stretch, ...] = field(repr=False)
    how: How
    certain: bool


def place(
    text: str, mentions: Sequence[Mention], *, masks: Sequence[Stretch] = (), fits: Fits | None = None
) -> list[Placement]:
    """Place the mentions that a model returned for a text.

    Args:
        text: the text that the model saw; in later passes, earlier findings are masked in it.
        mentions: the model's answer. If nothing else decides, a phrase has as many places as it has repeats.
        masks: the positions of masks in `text`, as (start, end).
        fits: evidence from another source for numbers without a decisive context.

    Returns:
        One placement per mention, in the same order.
    """
    align = _Aligner(SearchedText(text, masks, fits))
    repeated = Counter(mentions)
    placed: dict[Mention, Placement] = {}
    waiting: list[Sought] = []
    for mention in repeated:
        sought = Sought.of(mention)
        found = align.by_phrase(sought)
        if found is None:
            waiting.append(sought)
        else:
            placed[mention] = found
    waiting.sort(key=lambda one: fitting.numberlike(one.words))  # words that may be any number come last
    for sought in waiting:
        placed[sought.mention] = align.by_words(sought, repeated[sought.mention])
    return [placed[mention] for mention in mentions]


class _Aligner:
    """The steps, in the order in which they are tried. Stretches placed with certainty are claimed."""

    def __init__(self, searched: SearchedText) -> None:
        self._searched = searched

    def by_phrase(self, sought: Sought) -> Placement | None:
        """Place the whole phrase. Return None if it does not occur, or has no hint to distinguish places."""
        if self._searched.echo(sought):
            return Placement(sought.mention, (), "echo", True)
        if not sought.words or not sought.hinted:
            return None
        steps: tuple[tuple[How, list[Stretch]], ...] = (
            ("exact", self._searched.exact(sought)),
            ("folded", self._searched.folded(sought)),
        )
        for how, places in steps:
            whole = [p for p in places if bounded(self._searched.text, *p)]
            if whole:
                return self._placed(sought, self._likely(sought, whole), how)
        near = self._near_phrase(sought)
        return self._placed(sought, near, "near") if near else None

    def _likely(self, sought: Sought, places: list[Stretch]) -> list[Stretch]:
        """Filter the places of a hinted number: keep those where the context does not say that it is something else."""
        if len(places) < 2 or not fitting.numberlike(sought.words):
            return places
        return [p for p in places if self._searched.evidence(sought, p) > -1] or places

    def _near_phrase(self, sought: Sought) -> list[Stretch]:
        found = [
            (phrase + 0.1 * words, words, place)
            for phrase, words, place in self._searched.near(sought)
            if words >= 0.6 or (len(sought.words) < 5 and phrase >= 0.85)
        ]
        if not found:
            return []
        best = max(score for score, _, _ in found)
        top = [(words, place) for score, words, place in found if score >= best - 0.01]
        if all(words < 1 for words, _ in top):  # are the exact words elsewhere, and the hint with them?
            heard = [self._searched.votes(sought, p) for p in self._searched.bare(sought.words)[:HEARD]]
            if heard and (max(heard) >= _AGREED or best < 0.9):
                return []
        return [place for _, place in top]

    def by_words(self, sought: Sought, times: int) -> Placement:
        """Place the identifier's own words. This last step always returns a placement."""
        words = MASK.sub(" ", sought.words).strip()
        if not words:
            return self._within(sought)
        places = self._searched.bare(words)
        if places and fitting.numberlike(words):
            return self._telling(sought, places, times)
        if places:
            return self._name(sought, places, times)
        near = self._searched.regrouped(words) or self._near_words(sought, words)
        if not near or similarity(words, self._searched.folds(near[0])) < _SURELY:
            near = self._searched.turned(words) or near
        if near:
            return self._placed(sought, near, "near")
        return self._pieces(sought, words) or self._within(sought)

    def _telling(self, sought: Sought, places: list[Stretch], times: int) -> Placement:
        """Place a number, or a word that is usually not a name, only where the context fits."""
        heard = [(self._searched.evidence(sought, p), p) for p in places]
        if sought.hinted and len(places) <= HEARD:
            heard = [(told + 3 * self._searched.votes(sought, p), p) for told, p in heard]
            best = max(told for told, _ in heard)
            if best >= 1.5:
                return self._placed(sought, [p for told, p in heard if told > best - 0.4], "bare")
        # Every mention has its own place. Mentions of the same type with a hint may already have taken some.
        wanted = times + sum(self._searched.claims.by(sought.mention.type, p) for p in places)
        if 1 < len(places) <= times:
            return self._placed(sought, places, "bare", certain=all(told > _AGAINST for told, _ in heard))
        fit = [p for told, p in heard if told >= fitting.STRONG]
        if len(fit) < wanted:
            fit = [p for told, p in heard if told > 0]
        neutral = [p for told, p in heard if told > _AGAINST]
        if len(fit) < wanted and len(neutral) > len(fit):
            certain = len(neutral) <= wanted
            return self._placed(sought, neutral, "bare" if certain else "everywhere", certain=certain)
        if fit:
            return self._placed(sought, fit, "bare")
        return self._placed(sought, places, "everywhere", certain=False)

    def _name(self, sought: Sought, places: list[Stretch], times: int) -> Placement:
        """Place a name wherever it occurs. A name that is also an ordinary word must have the same case."""
        own = _letters(sought.mention.words)
        written = [(_letters(self._searched.text[start:end]), (start, end)) for start, end in places]
        cased = [p for letters, p in written if letters == own]
        how: How = "bare" if sought.hinted or not cased else "exact"
        common = fitting.ordinary(sought.words)
        chosen = cased if cased and (common or len(own) < 4) else places
        if common:
            heard = [(self._searched.votes(sought, p), p) for p in places[:HEARD]] if sought.hinted else []
            best = max((vote for vote, _ in heard), default=0.0)
            if best >= _AGREED:
                return self._placed(sought, [p for vote, p in heard if vote > best - 0.15], how)
            if len(own) > 2 and own.isupper():
                chosen = [p for letters, p in written if letters[:1].isupper()]
            elif len(own) > 2 and own.islower():
                chosen = places
            elif not cased:
                chosen = places if self._searched.caseless else []
            if not chosen:
                return Placement(sought.mention, (), "nowhere", False)
            if len(chosen) > 1 and (len(own) < 3 or own.islower()):
                return self._telling(sought, chosen, times)
        free = [p for p in chosen if not self._searched.claims.by_another(sought.mention.type, p)] or chosen
        named = [p for p in free if not self._searched.thing(p)]
        return self._placed(sought, named or free, how)

    def _near_words(self, sought: Sought, words: str) -> list[Stretch]:
        found = [
            (alike + (0.5 * self._searched.votes(sought, p) if sought.hinted else 0.0), p)
            for alike, p in self._searched.near_words(sought, words)
        ]
        best = max((score for score, _ in found), default=0.0)
        top = [p for score, p in found if score > best - 0.02]
        if not sought.hinted:  # the same words at all other places
            top = sorted({p for near in top for p in (near, *self._searched.bare(self._searched.folds(near)))})
        return [p for p in top if not self._searched.thing(p)] or top

    def _pieces(self, sought: Sought, words: str) -> Placement | None:
        """Place the single words of a name that does not occur as a whole: the model may have completed it."""
        told = fitting.parts(words)
        if len(told) < 2:
            return None
        telling = [
            word
            for word in told
            if len(word) > 2 and not (fitting.ordinary(word) or fitting.echoes(word) or fitting.numberlike(word))
        ]
        places = [p for word in telling for p in self._searched.bare(word)]
        named = [p for p in places if not self._searched.text[p[0]].islower() or self._searched.caseless]
        return self._placed(sought, named, "everywhere", certain=False) if named else None

    def _within(self, sought: Sought) -> Placement:
        """Place a phrase that occurs only inside longer words, or nowhere."""
        places = [p for p in self._searched.exact(sought) if not self._searched.masked(p)]
        if not places:
            return Placement(sought.mention, (), "nowhere", False)
        if sought.hinted:
            return self._placed(sought, places, "exact")
        return self._placed(sought, places, "everywhere", certain=False)

    def _placed(self, sought: Sought, places: Iterable[Stretch], how: How, *, certain: bool = True) -> Placement:
        """Build the placement, with stretches at word boundaries and outside masks."""
        chosen = sorted(set(places))
        masks, text = self._searched.masks, self._searched.text
        pieces: list[Stretch] = []
        for one in chosen:
            start, end = self._searched.grown(*one, sought.mention.words)
            for low, high in unmasked(start, end, masks):
                if (low, high) != (start, end):
                    low, high = trimmed(text, low, high, "")
                    if low >= high or fitting.echoes(folded(text[low:high])):
                        continue
                pieces.append((low, high))
        if not pieces:
            return Placement(sought.mention, (), "echo", True)
        stretches = tuple(disjoint(pieces))
        certain = certain and len(chosen) < MOST
        if certain:
            self._searched.claims.add(sought.mention.type, stretches)
        return Placement(sought.mention, stretches, how, certain)


def _letters(words: str) -> str:
    """Return the letters and digits as written, to compare the case of words."""
    return "".join(c for c in words if c.isalnum())

"""Mentions of a model to stretches of the text it saw: total, so that nothing a model said is dropped silently.

Tried in this order: the phrase as it is; folded (case, white space, quotes, Unicode); by Levenshtein distance; then the
identifier's bare words, names wherever they stand, numbers where the context fits (RedactOR, §A.4: 76 years, 76 mg).
What is left, or fits nowhere, is placed everywhere or nowhere and is not certain.
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
_AGREED = 0.6  # how much of a hint must stand around a place for the hint to choose it
_SURELY = 0.9  # words less alike yield to the very words in another order
_AGAINST = -0.4  # evidence below this says that a number is something else


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a mention stands.

    Attributes:
        stretches: (start, end) in code points of the text given, in order, outside its masks; empty where it could not
            be placed, or where it only echoes a mask.
        how: the step that placed it. "bare": the identifier's words where the context fits, or names wherever they
            stand; "everywhere": for want of a fitting context; "echo": nothing but a mask; "nowhere": not found.
        certain: False makes the verdict `review`.
    """

    mention: Mention
    stretches: tuple[Stretch, ...] = field(repr=False)
    how: How
    certain: bool


def place(
    text: str, mentions: Sequence[Mention], *, masks: Sequence[Stretch] = (), fits: Fits | None = None
) -> list[Placement]:
    """Place the mentions a model gave for a text.

    Args:
        text: what the model saw; in later passes with earlier findings masked.
        mentions: its answer. How often one phrase is repeated tells how many places are meant where nothing else does.
        masks: where in `text` masks stand, as (start, end).
        fits: evidence from elsewhere for numbers without a telling context.

    Returns:
        One placement per mention, in their order.
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
    waiting.sort(key=lambda one: fitting.numberlike(one.words))  # what may be any number yields to what may not
    for sought in waiting:
        placed[sought.mention] = align.by_words(sought, repeated[sought.mention])
    return [placed[mention] for mention in mentions]


class _Aligner:
    """The steps, in the order of trial; what they place with certainty is claimed."""

    def __init__(self, searched: SearchedText) -> None:
        self._searched = searched

    def by_phrase(self, sought: Sought) -> Placement | None:
        """Where the whole phrase stands; None where it does not, or where it has no hint to tell places apart."""
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
        """Of several places of one hinted number, those where nothing beside it says that it is something else."""
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
        if all(words < 1 for words, _ in top):  # the words stand elsewhere as they were given: does the hint, too?
            heard = [self._searched.votes(sought, p) for p in self._searched.bare(sought.words)[:HEARD]]
            if heard and (max(heard) >= _AGREED or best < 0.9):
                return []
        return [place for _, place in top]

    def by_words(self, sought: Sought, times: int) -> Placement:
        """Where the identifier's own words stand: total, the last resort."""
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
        """A number, or a word that mostly is no name: only where what stands beside it fits."""
        heard = [(self._searched.evidence(sought, p), p) for p in places]
        if sought.hinted and len(places) <= HEARD:
            heard = [(told + 3 * self._searched.votes(sought, p), p) for told, p in heard]
            best = max(told for told, _ in heard)
            if best >= 1.5:
                return self._placed(sought, [p for told, p in heard if told > best - 0.4], "bare")
        # Every mention has a place of its own; some may be taken by mentions of the type that had a hint.
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
        """A name, wherever it stands; one that is an ordinary word, too, only in its own case."""
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
        if not sought.hinted:  # the same words, wherever else they stand
            top = sorted({p for near in top for p in (near, *self._searched.bare(self._searched.folds(near)))})
        return [p for p in top if not self._searched.thing(p)] or top

    def _pieces(self, sought: Sought, words: str) -> Placement | None:
        """Where single words of a name stand that as a whole does not: the model may have completed it."""
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
        """Where the phrase stands only inside longer words; else nowhere."""
        places = [p for p in self._searched.exact(sought) if not self._searched.masked(p)]
        if not places:
            return Placement(sought.mention, (), "nowhere", False)
        if sought.hinted:
            return self._placed(sought, places, "exact")
        return self._placed(sought, places, "everywhere", certain=False)

    def _placed(self, sought: Sought, places: Iterable[Stretch], how: How, *, certain: bool = True) -> Placement:
        """The placement, its stretches at edges of words and outside masks."""
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
    """What tells words of one case apart: letters and digits as written."""
    return "".join(c for c in words if c.isalnum())

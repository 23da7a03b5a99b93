"""Mentions of a model to stretches of the text it saw: total, so that nothing a model said is dropped silently.

Tried in this order: the phrase as it is; folded (case, white space, quotes, Unicode); by Levenshtein distance; then the
identifier's bare words, names wherever they stand, numbers where the context fits (RedactOR, §A.4: 76 years, 76 mg).
What is left, or fits nowhere, is placed everywhere or nowhere and is not certain.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from incognote.align import fitting
from incognote.align.folding import Folded, folded
from incognote.align.nearest import Near, Nearest, carried, similarity
from incognote.align.snapping import Stretch, bounded, snapped, trimmed, unmasked
from incognote.nouns import Mention
from incognote.schemas.catalogue import catalogue

How = Literal["exact", "folded", "near", "bare", "everywhere", "echo", "nowhere"]
Fits = Callable[[str, int, int, str], bool]
"""(text, start, end, type): whether evidence from elsewhere, such as rules, says that this place is of that type."""

MOST = 1000
"""Places of one mention; where there are more, it is not certain."""
_HEARD = 300  # places a hint votes on
_MASK = re.compile(r"\[([A-Za-z][A-Za-z0-9_]*)\]")


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
    scene = _Scene(text, masks, fits)
    repeated = Counter(mentions)
    placed: dict[Mention, Placement] = {}
    waiting: list[_Sought] = []
    for mention in repeated:
        sought = _Sought.of(mention)
        found = scene.by_phrase(sought)
        if found is None:
            waiting.append(sought)
        else:
            placed[mention] = found
            scene.claim(found)
    for sought in waiting:
        placed[sought.mention] = scene.by_words(sought, repeated[sought.mention])
    return [placed[mention] for mention in mentions]


@dataclass(frozen=True, slots=True)
class _Sought:
    """A mention as it is compared: its phrase folded, its identifier at start:end of it, its hint in parts."""

    mention: Mention
    phrase: str
    start: int
    end: int
    left: list[str]
    right: list[str]

    @classmethod
    def of(cls, mention: Mention) -> _Sought:
        whole = Folded(mention.phrase)
        start, end = whole.forward(mention.start), whole.forward(mention.end)
        lead = len(whole.folded) - len(whole.folded.lstrip())
        tail = len(whole.folded.rstrip())
        start, end = min(max(start, lead), tail), min(end, tail)
        while start < end and whole.folded[start] == " ":
            start += 1
        while start < end and whole.folded[end - 1] == " ":
            end -= 1
        left, right = fitting.parts(whole.folded[lead:start]), fitting.parts(whole.folded[end:tail])
        return cls(mention, whole.folded[lead:tail], start - lead, end - lead, left, right)

    @property
    def words(self) -> str:
        return self.phrase[self.start : self.end]

    @property
    def hinted(self) -> bool:
        return bool(self.left or self.right)


class _Scene:
    """One text and what is known of it so far. Places are stretches of the text; `_hay` is the text folded."""

    def __init__(self, text: str, masks: Sequence[Stretch], fits: Fits | None) -> None:
        self._text = text
        self._hay = Folded(text)
        self._nearest = Nearest(self._hay)
        self._masks = _disjoint(masks)
        self._mask_words = {text[start:end].casefold() for start, end in self._masks}
        self._fits = fits
        self._claims: defaultdict[Stretch, set[str]] = defaultdict(set)

    def claim(self, placement: Placement) -> None:
        """Remember what a phrase with its hint was placed on: bare words are less likely to mean it."""
        for stretch in placement.stretches:
            self._claims[stretch].add(placement.mention.type)

    # ---- the phrase, with its hint ----

    def by_phrase(self, sought: _Sought) -> Placement | None:
        """Where the whole phrase stands; None where it does not, or where it has no hint to tell places apart."""
        if self._echo(sought):
            return Placement(sought.mention, (), "echo", True)
        if not sought.words or not sought.hinted:
            return None
        exact = [p for p in self._standing(sought) if bounded(self._text, *p)]
        if exact:
            return self._placed(sought, self._likely(sought, exact), "exact")
        same = [p for p in self._standing_folded(sought.phrase, sought.start, sought.end) if bounded(self._text, *p)]
        if same:
            return self._placed(sought, self._likely(sought, same), "folded")
        near = self._near_phrase(sought)
        return self._placed(sought, near, "near") if near else None

    def _standing(self, sought: _Sought) -> list[Stretch]:
        mention = sought.mention
        starts = _find(self._text, mention.phrase)
        return [(start + mention.start, start + mention.end) for start in starts]

    def _standing_folded(self, phrase: str, start: int, end: int) -> list[Stretch]:
        return [self._hay.back(at + start, at + end) for at in _find(self._hay.folded, phrase)]

    def _likely(self, sought: _Sought, places: list[Stretch]) -> list[Stretch]:
        """Of several places of one hinted number, those where nothing beside it says that it is something else."""
        if len(places) < 2 or not fitting.numberlike(sought.words):
            return places
        return [p for p in places if self._evidence(sought, p) > -1] or places

    def _near_phrase(self, sought: _Sought) -> list[Stretch]:
        found: list[tuple[float, Stretch, bool]] = []
        for near in self._nearest.find(sought.phrase):
            place = self._carry(sought, near)
            if place is None or self._masked(place):
                continue
            alike = similarity(sought.words, folded(self._text[place[0] : place[1]]))
            if alike >= 0.6 or (len(sought.words) < 3 and near.similarity >= 0.85):
                found.append((near.similarity + 0.1 * alike, place, alike == 1.0))
        if not found:
            return []
        best = max(score for score, _, _ in found)
        top = [(place, same) for score, place, same in found if score >= best - 0.01]
        if not any(same for _, same in top):  # the words stand elsewhere as they were given: does the hint, too?
            heard = [self._votes(sought, p) for p in self._bare(sought.words)[:_HEARD]]
            if heard and (max(heard) >= 0.6 or best < 0.9):
                return []
        return [place for place, _ in top]

    def _carry(self, sought: _Sought, near: Near) -> Stretch | None:
        where = carried(sought.phrase, self._hay.folded[near.start : near.end], sought.start, sought.end)
        if where is None:
            return None
        return self._grown(*self._hay.back(near.start + where[0], near.start + where[1]), sought)

    # ---- the identifier's bare words ----

    def by_words(self, sought: _Sought, times: int) -> Placement:
        """Where the identifier's own words stand: total, the last resort."""
        words = sought.words
        masked = _MASK.search(words)
        if masked:
            words = _MASK.sub(" ", words).strip()
        if not words:
            return self._within(sought)
        places = self._bare(words)
        if places and fitting.numberlike(words):
            return self._telling(sought, places, times)
        if places:
            return self._name(sought, places, times)
        near = self._near_words(sought, words)
        if near:
            return self._placed(sought, near, "near")
        turned = self._turned(words)
        if turned:
            return self._placed(sought, turned, "near")
        return self._pieces(sought, words) or self._within(sought)

    def _bare(self, words: str) -> list[Stretch]:
        """The places of folded words, at edges of words, outside masks."""
        places = self._standing_folded(words, 0, len(words))
        return [p for p in places if bounded(self._text, *p) and not self._masked(p)]

    def _telling(self, sought: _Sought, places: list[Stretch], times: int) -> Placement:
        """A number, or a word that mostly is no name: only where what stands beside it fits."""
        heard = [self._evidence(sought, p) for p in places]
        if sought.hinted and len(places) <= _HEARD:
            heard = [told + 3 * self._votes(sought, p) for told, p in zip(heard, places, strict=True)]
            best = max(heard)
            if best >= 1.5:
                return self._placed(
                    sought, [p for told, p in zip(heard, places, strict=True) if told > best - 0.4], "bare"
                )
        # Every mention has a place of its own; some may be taken by mentions of the type that had a hint.
        wanted = times + sum(sought.mention.type in self._claims.get(p, ()) for p in places)
        fit: list[Stretch] = []
        for low, high in ((fitting.STRONG, 99.0), (0.1, fitting.STRONG), (-0.9, 0.1)):
            group = [p for told, p in zip(heard, places, strict=True) if low <= told < high]
            if low < 0 and len(fit) + len(group) > wanted:
                return self._placed(sought, fit + group, "everywhere", certain=False)
            fit += group
            if len(fit) >= min(wanted, len(places)):
                return self._placed(sought, fit, "bare")
        if fit:
            return self._placed(sought, fit, "bare")
        return self._placed(sought, places, "everywhere", certain=False)

    def _name(self, sought: _Sought, places: list[Stretch], times: int) -> Placement:
        own = _letters(sought.mention.words)
        cased = [p for p in places if _letters(self._text[p[0] : p[1]]) == own]
        how: How = "bare" if sought.hinted or not cased else "exact"
        common = fitting.ordinary(sought.words)
        heard = [self._votes(sought, p) for p in places[:_HEARD]] if sought.hinted else []
        if heard and max(heard) >= 0.6 and (not cased or common):
            best = max(heard)
            return self._placed(sought, [p for v, p in zip(heard, places, strict=False) if v > best - 0.15], how)
        if not cased and common and not self._caseless():
            return Placement(sought.mention, (), "nowhere", False)
        chosen = cased or places
        if len(chosen) > 1 and common and (len(own) < 3 or own.islower()):
            return self._telling(sought, chosen, times)
        free = [p for p in chosen if not self._claimed(p, sought.mention.type)] or chosen
        named = [p for p in free if not fitting.eponym(self._hay.folded, self._forward(p)[1])]
        return self._placed(sought, named or free, how)

    def _near_words(self, sought: _Sought, words: str) -> list[Stretch]:
        if len(words) < 4:
            return []
        found = []
        for near in self._nearest.find(words, 0.75 if len(words) < 8 else 0.8):
            place = self._grown(*self._hay.back(near.start, near.end), sought)
            alike = similarity(words, folded(self._text[place[0] : place[1]]))
            if alike >= 0.7 and not self._masked(place):
                found.append((near.similarity + 0.5 * self._votes(sought, place), place))
        best = max((score for score, _ in found), default=0.0)
        return [place for score, place in found if score > best - 0.02]

    def _turned(self, words: str) -> list[Stretch]:
        """The places where all words stand together, in another order: "Smith, John" for "John Smith"."""
        told = [word for word in fitting.parts(words) if len(word) > 1]  # "John Q. Smith" is John Smith
        if not 2 <= len(told) <= 6:
            return []
        rare = min(told, key=lambda word: self._hay.folded.count(word))
        reach = len(words) + 8
        found = []
        for low, high in self._bare(rare)[:_HEARD]:
            low, high = self._hay.forward(low), self._hay.forward(high)
            first = max(0, low - reach)
            window = self._hay.folded[first : high + reach]
            spans = [re.search(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", window) for word in told]
            ends = [match.span() for match in spans if match]
            if len(ends) == len(told) and max(e for _, e in ends) - min(s for s, _ in ends) <= reach:
                found.append(self._hay.back(first + min(s for s, _ in ends), first + max(e for _, e in ends)))
        return found

    def _pieces(self, sought: _Sought, words: str) -> Placement | None:
        """Where single words of a name stand that as a whole does not: the model may have completed it."""
        told = [word for word in fitting.parts(words) if len(word) > 2 and not fitting.ordinary(word)]
        told = [word for word in told if not fitting.echoes(word) and not fitting.numberlike(word)]
        if len(fitting.parts(words)) < 2:
            return None
        places = sorted(
            {p for word in told for p in self._bare(word) if not self._text[p[0]].islower() or self._caseless()}
        )
        return self._placed(sought, places, "everywhere", certain=False) if places else None

    def _within(self, sought: _Sought) -> Placement:
        """Where the phrase stands only inside longer words; else nowhere."""
        places = [p for p in self._standing(sought) if not self._masked(p)]
        if not places:
            return Placement(sought.mention, (), "nowhere", False)
        if sought.hinted:
            return self._placed(sought, places, "exact")
        return self._placed(sought, places, "everywhere", certain=False)

    # ---- what tells places apart ----

    def _evidence(self, sought: _Sought, place: Stretch) -> float:
        kind = sought.mention.type
        told = fitting.evidence(self._hay.folded, *self._forward(place), kind)
        if self._fits is not None and self._fits(self._text, *place, kind):
            told += fitting.STRONG + 1
        return told - 1 if self._claimed(place, kind) else told

    def _votes(self, sought: _Sought, place: Stretch) -> float:
        return fitting.votes(self._hay.folded, *self._forward(place), sought.left, sought.right)

    def _forward(self, place: Stretch) -> Stretch:
        return self._hay.forward(place[0]), self._hay.forward(place[1])

    def _claimed(self, place: Stretch, type: str) -> bool:
        types = self._claims.get(place)
        return types is not None and type not in types

    def _caseless(self) -> bool:
        """Whether the text is written without capitals, so that case tells nothing."""
        letters = [c for c in self._text[:2000] if c.isalpha()]
        return sum(c.isupper() for c in letters) <= len(letters) // 100

    def _masked(self, place: Stretch) -> bool:
        return not any(True for _ in unmasked(*place, self._masks))

    def _echo(self, sought: _Sought) -> bool:
        """Whether the identifier is nothing but masks of earlier passes and the words that go with them."""
        words = sought.mention.words
        tokens = [m for m in _MASK.finditer(words) if self._is_mask(m, sought.mention.type)]
        if not tokens:
            return False
        rest = words
        for token in reversed(tokens):
            rest = rest[: token.start()] + " " + rest[token.end() :]
        return fitting.echoes(folded(rest))

    def _is_mask(self, token: re.Match[str], type: str) -> bool:
        name = token[1].upper()
        return token[0].casefold() in self._mask_words or name == type or name in catalogue()

    # ---- what comes out ----

    def _grown(self, start: int, end: int, sought: _Sought) -> Stretch:
        """A stretch at edges of words, without what the identifier does not have at its ends."""
        start, end = trimmed(self._text, *snapped(self._text, start, end), sought.mention.words)
        return (start, end) if start < end else (start, max(end, start + 1))

    def _placed(self, sought: _Sought, places: Iterable[Stretch], how: How, *, certain: bool = True) -> Placement:
        chosen = sorted(set(places))
        pieces: list[Stretch] = []
        for place in chosen:
            start, end = self._grown(*place, sought)
            whole = list(unmasked(start, end, self._masks))
            if whole == [(start, end)]:
                pieces.append((start, end))
                continue
            for low, high in whole:
                low, high = trimmed(self._text, low, high, "")
                if low < high and not fitting.echoes(folded(self._text[low:high])):
                    pieces.append((low, high))
        if not pieces:
            return Placement(sought.mention, (), "echo", True)
        return Placement(sought.mention, tuple(_disjoint(pieces)), how, certain and len(chosen) < MOST)


def _find(text: str, words: str) -> Iterator[int]:
    """Where words stand, none overlapping the one before."""
    at = text.find(words)
    for _ in range(MOST):
        if at < 0:
            return
        yield at
        at = text.find(words, at + len(words))


def _letters(words: str) -> str:
    """What tells words of one case apart: letters and digits as written."""
    return "".join(c for c in words if c.isalnum())


def _disjoint(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Sorted, overlapping ones united, empty ones left out."""
    united: list[Stretch] = []
    for start, end in sorted(stretches):
        if start >= end:
            continue
        if united and start < united[-1][1]:
            united[-1] = (united[-1][0], max(end, united[-1][1]))
        else:
            united.append((start, end))
    return united

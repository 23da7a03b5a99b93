"""Identifiers known beforehand, sought in every variant through one index by first token."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations

from rapidfuzz.distance import OSA

from incognote.detectors.roster import known_from, read_roster
from incognote.detectors.rules.lexicon import is_common
from incognote.detectors.variants import TOKEN, Form, codes_of, folded, forms_of
from incognote.nouns import Known, Span, Text

__all__ = ["KnownDetector", "known_from", "read_roster"]

_NAME_GAP, _CODE_GAP = 3, 3  # characters that may stand between two tokens of one form
_GAP_SIGNS = frozenset(" ,.'’ʼ‐-–_/\t\n\r\u00a0")
_CODE_SIGNS = frozenset(" .-–_/()+@#:\t\n\r\u00a0")
_LONGEST_CODE = 12  # tokens; an IBAN in groups of four has nine


class KnownDetector:
    """Finds known identifiers; implements `Detector`.

    Names are sought whole, inverted, by initials, by each part (a common word only capitalised), without diacritics, in
    any case, and with typos (optimal string alignment distance 1 from 6 letters, 2 from 10); dates as every written
    form of their day; numbers and codes by their letters and digits, whatever stands between.

    Args:
        known: what is sought; ages, races and the like are not.
    """

    name = "known"
    version = "1"

    def __init__(self, known: Iterable[Known]) -> None:
        self._forms: dict[str, list[Form]] = {}
        self._codes: dict[str, str] = {}
        self._fuzzy: dict[str, Form] = {}
        for one in dict.fromkeys(known):
            for form in forms_of(one, is_common):
                self._forms.setdefault(form.tokens[0], []).append(form)
                if form.fuzzy:
                    self._fuzzy.setdefault(form.tokens[0], form)
            for code in codes_of(one):
                self._codes.setdefault(code, one.type)
        for forms in self._forms.values():
            forms.sort(key=lambda f: (-len(f.tokens), f.tokens, f.type))

    def __bool__(self) -> bool:
        return bool(self._forms or self._codes)

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(code[:n] for code in self._codes for n in range(1, len(code) + 1))

    @cached_property
    def _misspelt(self) -> dict[str, list[str]]:
        """Every fuzzy part under each spelling with one letter (from 10: up to two) left out."""
        index: dict[str, list[str]] = {}
        for part in self._fuzzy:
            for short in shortened(part):
                index.setdefault(short, []).append(part)
        return index

    def detect(self, texts: Sequence[Text]) -> list[list[Span]]:
        """One list of spans per text, in order; they may overlap."""
        return [self._spans(text, typos=True) if self else [] for text in texts]

    def leaks(self, text: str) -> list[str]:
        """The types of the known values that still stand in a text, exactly; sorted. Typos do not count."""
        return sorted({span.type for span in self._spans(Text(text), typos=False)}) if self else []

    def _spans(self, text: Text, *, typos: bool) -> list[Span]:
        content = text.content
        starts: list[int] = []
        ends: list[int] = []
        words: list[str] = []
        for match in TOKEN.finditer(content):
            starts.append(match.start())
            ends.append(match.end())
            words.append(folded(match.group()))
        found: set[tuple[int, int, str, float, str]] = set()

        def joined(i: int, signs: frozenset[str], longest: int) -> bool:
            """Whether token i follows token i-1 closely enough."""
            gap = content[ends[i - 1] : starts[i]]
            return len(gap) <= longest and signs.issuperset(gap)

        for i, word in enumerate(words):
            for form in self._forms.get(word, ()):
                last = i + len(form.tokens) - 1
                if (
                    last < len(words)
                    and all(
                        words[i + k] == token and joined(i + k, _GAP_SIGNS, _NAME_GAP)
                        for k, token in enumerate(form.tokens)
                        if k
                    )
                    and not (form.capital and not all(content[starts[k]].isupper() for k in (i, last)))
                ):
                    found.add((starts[i], ends[last], form.type, form.score, "variant"))
            if word in self._beginnings:
                found |= self._code_at(i, starts, ends, words, joined)
            elif typos and self._fuzzy and len(word) >= 5 and word not in self._forms and (part := self._nearest(word)):
                found.add((starts[i], ends[i], part.type, 0.7, "typo"))
        return [
            Span(text, start, end, kind, score, (f"known:{rule}",)) for start, end, kind, score, rule in sorted(found)
        ]

    def _code_at(
        self,
        i: int,
        starts: list[int],
        ends: list[int],
        words: list[str],
        joined: Callable[[int, frozenset[str], int], bool],
    ) -> set[tuple[int, int, str, float, str]]:
        found = set()
        normal = ""
        for k in range(i, min(i + _LONGEST_CODE, len(words))):
            if k > i and not joined(k, _CODE_SIGNS, _CODE_GAP):
                break
            normal += words[k]
            if normal not in self._beginnings:
                break
            # a number that goes on is another number
            if normal in self._codes and not (
                k + 1 < len(words) and ends[k] == starts[k + 1] and words[k + 1].isdigit()
            ):
                found.add((starts[i], ends[k], self._codes[normal], 1.0, "code"))
        return found

    def _nearest(self, word: str) -> Form | None:
        """The part that a word misspells, unless it is a word of its own."""
        candidates = {part for short in shortened(word) for part in self._misspelt.get(short, ())}
        for part in sorted(candidates):
            allowed = 2 if len(part) >= 10 else 1
            if OSA.distance(word, part, score_cutoff=allowed) <= allowed and not is_common(word):
                return self._fuzzy[part]
        return None


def shortened(word: str) -> Iterator[str]:
    """A word, and the word with one letter left out; from 10 letters with two as well (symmetric-delete index)."""
    yield word
    for missing in range(1, 3 if len(word) >= 9 else 2):
        for kept in combinations(range(len(word)), len(word) - missing):
            yield "".join(word[k] for k in kept)

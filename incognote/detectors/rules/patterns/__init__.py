"""The contextual rules engine: finds identifiers with a form (numbers, codes, network addresses, dates, ages).

The engine walks over the tokens once. An index gives the few rules that could begin at each token, and only those
patterns are tried, anchored at the token. Every quantifier in the shipped rules is bounded, so the time is linear in
the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from incognote.detectors.rules.patterns.context import BEFORE_WINDOW
from incognote.detectors.rules.patterns.rule import PatternRule, Retype, shipped_macros, shipped_rules, validator
from incognote.detectors.rules.view import Candidate, View

_FOUND = 0.5  # a candidate with at least this score is found; below it, doubtful
_FLOOR = 0.3  # candidates below this score are dropped (detectors/__init__.py)
_LABELLED_FLOOR = 0.8  # a failed check never lowers a labeled identifier below this score
_CHECK_HOLDS, _CHECK_FAILS = 0.15, -0.35
_CHUNK = 256  # characters searched on each side of a trigger for a chunk
_SHAPE = str.maketrans(dict.fromkeys("0123456789", "9") | dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "A"))
_ANY_DIGITS = "0-9"  # in a rule's `then`
_Try = tuple[Callable[[str, int], re.Match[str] | None], PatternRule]  # a rule and its pattern's own `match`
_SKIPPED = frozenset(".-_")  # allowed between the tokens of a label

# Between a label and its value: "no."/"#"/"number", "/ Sex", "(home)", "is", dot leaders, table bars, quotes.
_FILL = r"[ \t\u00a0:=#.\-–—|>~*\"'\[\]_]{0,48}"
_SHORT_WORD = r"(?:[ \t]?/[ \t]?[^\W\d_]{1,12}(?:\([^\W\d_]{1,3}\))?)?(?:[ \t]?\([^()\n\d]{1,24}\))?(?:[ ]?,[ ])?"
_NEVER = "(?!)"


class PatternFinder:
    """Runs a set of rules over a View. Immutable once built, so threads may share it.

    Args:
        rules: the shipped rules or those of a site pack, in any order.
        retypes: contexts that make the type of a match more precise.
        code: a language. Its macros `label_noun` and `label_verb` define the words allowed between a label and its
            value ("number", "is"), and `list_word` the words between two values ("and").
    """

    def __init__(self, rules: Iterable[PatternRule], retypes: Iterable[Retype] = (), code: str = "en") -> None:
        macros = shipped_macros(code)
        between = (
            rf"(?:[ \t._/-]{{0,2}}(?:{macros.get('label_noun', _NEVER)})(?![^\W_]))?{_SHORT_WORD}{_FILL}"
            rf"(?:(?:{macros.get('label_verb', _NEVER)})(?![^\W_]){_FILL})?"
        )
        self._between = re.compile(between, re.IGNORECASE), re.compile(rf"{between}(?:\r?\n{_FILL})?", re.IGNORECASE)
        joint = rf"\s{{0,3}}(?:[,;&/+]|{macros.get('list_word', _NEVER)})\s{{0,3}}"
        self._joint = re.compile(joint, re.IGNORECASE)
        self._labels: dict[str, list[tuple[tuple[str, ...], list[PatternRule]]]] = {}
        self._words: dict[str, list[_Try]] = {}
        self._chunks: dict[str, list[PatternRule]] = {}
        self._codes: list[_Try] = []
        self._digits: list[PatternRule] = []
        self._by_digits: dict[tuple[int, str, str], tuple[_Try, ...]] = {}
        self._retypes: dict[str, list[Retype]] = {}
        phrases: dict[tuple[str, ...], list[PatternRule]] = {}
        for rule in rules:
            for label in rule.labels:
                phrases.setdefault(label, []).append(rule)
            for word in rule.words:
                self._words.setdefault(word, []).append((rule.pattern.match, rule))
            for word in rule.chunk:
                self._chunks.setdefault(word, []).append(rule)
            if rule.code:
                self._codes.append((rule.pattern.match, rule))
            if rule.digits:
                self._digits.append(rule)
        for label in sorted(phrases, key=len, reverse=True):
            self._labels.setdefault(label[0], []).append((label[1:], phrases[label]))
        for retype in retypes:
            self._retypes.setdefault(retype.of, []).append(retype)
        self._then = frozenset(token for rule in self._digits for token in rule.then)
        self._triggers = frozenset([*self._labels, *self._words, *self._chunks])
        self._heads = frozenset([*self._labels, *self._words])

    def find(self, view: View) -> list[Candidate]:
        """Return candidates ordered by offset. None is inside another candidate with the same or a higher score."""
        found: list[Candidate] = []
        scanned: dict[str, int] = {}
        triggers, lowers, starts = self._triggers, view.lowers, view.starts
        text = view.text if view.text.isascii() else view.text.translate(_plain_digits())
        code_end = 0
        for i, word in enumerate(lowers):
            if word in triggers:
                self._at_word(view, text, i, word, scanned, found)
            elif word[0].isdecimal():
                start = starts[i]
                if start and (before := text[start - 1]) not in " \n":
                    if start >= code_end and (before.isalpha() or before in "-/._:"):
                        code_end = self._at_code(view, text, i, found)
                    if before.isalnum() or before in "$£€¥":
                        continue
                    if before in "/.,:-" and start > 1 and text[start - 2].isdecimal():
                        continue
                self._at_digits(view, text, i, found)
            elif "-" in word and (head := word.partition("-")[0]) in self._heads:
                self._at_word(view, text, i, head, scanned, found)
        return _settled(self._retyped(text, found))

    def _at_word(
        self, view: View, text: str, i: int, word: str, scanned: dict[str, int], found: list[Candidate]
    ) -> None:
        start = view.starts[i]
        for matching, rule in self._words.get(word, ()):
            if match := matching(text, start):
                _add(rule, text, match, match.start(), found)
        if word in self._labels and not (start and text[start - 1].isalnum()):
            self._at_label(view, text, i, word, found)
        for rule in self._chunks.get(word, ()):
            floor = scanned.get(rule.id, 0)
            if start < floor:
                continue
            low, high = _chunk(text, start)
            for match in rule.pattern.finditer(text, max(low, floor), high):
                _add(rule, text, match, match.start(), found)
            scanned[rule.id] = high

    def _at_label(self, view: View, text: str, i: int, word: str, found: list[Candidate]) -> None:
        """Try the labels that begin with a word. The word may be the first part of a token: "AHV" of "AHV-Nr"."""
        lowers = view.lowers
        parts = view.words[i].split("-") if lowers[i] != word else [view.words[i]]
        for rest, rules in self._labels[word]:
            if len(parts) > 1 and not rest:
                continue  # "ref" of "ref-based"
            j, end, more = i, view.starts[i] + len(parts[0]), parts[1:]
            for token in rest:
                if more:
                    if more[0].lower() != token:
                        break
                    end += 1 + len(more.pop(0))
                    continue
                j += 1
                while j < len(lowers) and lowers[j] in _SKIPPED and lowers[j] != token:
                    j += 1
                if j >= len(lowers) or lowers[j] != token or view.starts[j] - view.ends[j - 1] > 3:
                    break
                end = view.ends[j]
            else:
                tried = [self._labelled(rule, text, view.starts[i], end, found) for rule in rules]
                if any(tried):
                    return

    def _labelled(self, rule: PatternRule, text: str, start: int, end: int, found: list[Candidate]) -> bool:
        separator = self._between[rule.wrap].match(text, end)
        match = rule.pattern.match(text, separator.end() if separator else end)
        if not match or not _add(rule, text, match, start, found):
            return False
        if rule.more:
            shape = match.group().upper().translate(_SHAPE)
            for _ in range(8):
                gap = self._joint.match(text, match.end())
                following = rule.pattern.match(text, gap.end()) if gap else None
                if not following or following.group().upper().translate(_SHAPE) != shape:
                    break
                match = following
                _add(rule, text, match, start, found)
        return True

    def _at_digits(self, view: View, text: str, i: int, found: list[Candidate]) -> None:
        following = view.lowers[i + 1] if i + 1 < len(view) else ""
        if "-" in following and following not in self._then:
            following = following.partition("-")[0]
        if following not in self._then:
            following = _ANY_DIGITS if following[:1].isdecimal() else ""
        start, end = view.starts[i], view.ends[i]
        behind = text[end] if end < len(text) else " "
        glued = "letter" if behind.isalpha() else "any" if behind in "-/." else ""
        key = (min(end - start, 24), following, glued)
        tries = self._by_digits.get(key)
        if tries is None:
            tries = self._by_digits[key] = tuple((r.pattern.match, r) for r in self._digits if _fits(r, *key))
        for matching, rule in tries:
            if match := matching(text, start):
                _add(rule, text, match, start, found)

    def _at_code(self, view: View, text: str, i: int, found: list[Candidate]) -> int:
        """Try the code rules at the start of the chunk that contains token i. Return the end of the last match."""
        first = i
        for _ in range(6):
            if not first or view.starts[first] != view.ends[first - 1]:
                break
            previous = view.words[first - 1]
            if not (previous[0].isalnum() or previous in "-/._:"):
                break
            first -= 1
        while first < i and not view.words[first][0].isalnum():
            first += 1
        if not view.words[first][0].isalpha():
            return 0
        seen = 0
        start = view.starts[first]
        for matching, rule in self._codes:
            match = matching(text, start)
            if match and _add(rule, text, match, match.start(), found):
                seen = max(seen, match.end())
        return seen

    def _retyped(self, text: str, found: list[Candidate]) -> list[Candidate]:
        for n, candidate in enumerate(found):
            for retype in self._retypes.get(candidate.type, ()):
                if retype.before.search(text, max(0, candidate.start - BEFORE_WINDOW), candidate.start):
                    found[n] = candidate._replace(type=retype.to, score=max(candidate.score, retype.score))
                    break
        return found


def _chunk(text: str, start: int) -> tuple[int, int]:
    """Return the unspaced stretch around an offset."""
    before, behind = text[max(0, start - _CHUNK) : start], text[start : start + _CHUNK]
    low = start if not before or before[-1].isspace() else start - len(before.rsplit(None, 1)[-1])
    return low, start + len(behind.split(None, 1)[0])


def _fits(rule: PatternRule, length: int, following: str, glued: str) -> bool:
    """Whether a `digits` rule applies to a run of this length before this token and this kind of character."""
    followed = following in rule.then or (following[:1].isdecimal() and _ANY_DIGITS in rule.then)
    return (
        length in rule.digits
        and (not rule.then or followed)
        and (not rule.glued or rule.glued == glued or (rule.glued == "any" and glued == "letter"))
    )


def _add(rule: PatternRule, text: str, match: re.Match[str], start: int, found: list[Candidate]) -> bool:
    """Score a match whose prefix ends at `start`, and add its spans. Return False if context or score rules it out."""
    end = match.end()
    floor = max(0, start - rule.window)
    if (
        match.start() == end
        or (rule.not_after and rule.not_after.match(text, end))
        or (rule.not_before and rule.not_before.before(text, start))
        or (rule.not_near and rule.not_near.near(text, floor, start))
    ):
        return False
    score = rule.score
    if rule.boosted != score and (
        (rule.after and rule.after.match(text, end))
        or (rule.before and rule.before.before(text, start))
        or (rule.near and rule.near.near(text, floor, start))
    ):
        score = rule.boosted
    if score < _FLOOR:
        return False
    spans = [match.span(name) for name in rule.groups if match[name]] or [match.span()]
    if rule.validators:
        score = _checked(rule, text[spans[0][0] : spans[-1][1]], score)
        if score < _FLOOR:
            return False
    for low, high in spans:
        while high > low and text[high - 1].isspace():
            high -= 1
        found.append(Candidate(low, high, rule.type, score, rule.id))
    return True


def _checked(rule: PatternRule, words: str, score: float) -> float:
    for name in rule.validators:
        check = validator(name)
        answer = check(words) if check is not None else None
        if answer is not None:
            score += _CHECK_HOLDS if answer else _CHECK_FAILS
    if rule.labels:
        score = max(score, _LABELLED_FLOOR)
    return round(min(max(score, 0.0), 0.99), 4)


def _settled(found: Sequence[Candidate]) -> list[Candidate]:
    """Drop candidates inside another one with at least their score, or with their type.

    In the second case, the outer candidate takes the higher score.
    """
    kept: list[Candidate] = []
    wider: list[int] = []  # indices in kept of those that end after the current start
    for candidate in sorted(found, key=lambda c: (c.start, -c.end, -c.score, c.type, c.rule)):
        wider = [n for n in wider if kept[n].end > candidate.start]
        within = [n for n in wider if kept[n].end >= candidate.end]
        if any(kept[n].score >= candidate.score for n in within):
            continue
        same = next((n for n in within if kept[n].type == candidate.type and kept[n].score >= _FOUND), None)
        if same is not None:
            kept[same] = kept[same]._replace(score=candidate.score)
            continue
        wider.append(len(kept))
        kept.append(candidate)
    return kept


@cache
def _plain_digits() -> dict[int, str]:
    """Map the decimal digits of every script to ASCII digits. Lengths do not change."""
    return {n: str(int(chr(n))) for n in range(128, 0x20000) if chr(n).isdecimal()}


@cache
def finder(code: str = "en") -> Callable[[View], list[Candidate]]:
    """Return a function that finds identifiers with a form, by a language's rules."""
    return PatternFinder(*shipped_rules(code), code).find

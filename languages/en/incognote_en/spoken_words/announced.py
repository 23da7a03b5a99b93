"""Identifiers in a transcript by what people say around them. It finds more than the rules of notes, and errs more."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from incognote.languages import language
from incognote.text.lexicon import EPONYM, KINDS, MEDICAL, PLACE, commonness, fold, given, lexicon, surname
from incognote_en.rules.gazetteer import gazetteer
from incognote_en.rules.professions import vocabulary
from incognote_en.spoken_words.cases import Words
from incognote_en.spoken_words.dates import MONTHS, WEEKDAYS
from incognote_en.spoken_words.heard import lists
from incognote_en.spoken_words.written import read

Announced = tuple[int, int, str]
"""The first word, the word after the last one, and the entity type."""
_CLINICAL = re.compile(
    r".*(?:osis|esis|ysis|nin|itis|emia|aemia|oma|omas|uria|pathy|plasty|ectomy|otomy|ostomy|oscopy|ography|ogram|algia|"
    r"ine|ole|ide|ate|azole|cillin|mycin|mab|nib|pril|artan|olol|statin|gliptin|pneumoniae?|emic|aemic|tic|al|ous|"
    r"ic|ation|ency|ar|ary|oid|ol|ing|ed|ly|ness|less|able|ible|ism|ist|ia|enia|otic|lysis|phagia|sats|resps|"
    r"cyte|cytes|stain|stains)s?\Z"
)
"""The endings of clinical and of derived words."""
_STOPS = frozenset(
    "hi hello dear hey lovely great gross fine thanks thank morning afternoon evening line period comma colon "
    "paragraph".split()
)
"""Words that are in no answer, besides those of `spoken.toml`."""
_HESITATIONS = frozenset("um uh er eh erm hmm mm mhm hm ah".split())
_PUNCTUATION = '.,?!;:"()'
_LEAST = 3  # letters of a word
_AGO = 2  # lines between what identifies someone and figures that are said again
_RARE, _NAME = 2, 4  # a word less common than this is rare; a name more common than this is usual
_FEW = 4  # figures beside an abbreviation, which are a value
_CODE = "GUID"
_ACRONYM = re.compile(r"(?<![\w'-])[a-z](?: [a-z](?![\w'-]))+")
_LINE = re.compile(r"[^\n]+")


class _Rule(NamedTuple):
    id: str
    type: str
    pattern: re.Pattern[str]
    asked: re.Pattern[str] | None
    within: int
    runs: int
    rare: bool


def identifiers(words: Sequence[str], pauses: Sequence[float] | None = None) -> Iterator[Announced]:
    """Yield what people announce, ask for, or name in a transcript. Stretches may overlap.

    Args:
        words, pauses: as for `written`. Words that are already written lose their punctuation.
    """
    of = read([word.strip(_PUNCTUATION) or word for word in words], pauses)
    yield from _raised(of)
    yield from _unknown(of)
    yield from _ruled(of)


def _raised(of: Words) -> Iterator[Announced]:
    """Names, places, and institutions, which the written form has in upper case."""
    for k in sorted(of.raised):
        piece, low = of.pieces[k], of.low(k)
        entry = lexicon().get(fold(low.removesuffix("'s")), 0)
        if low not in WEEKDAYS | lists()["titles"] and not low.startswith("i'") and low != "i" and not entry & EPONYM:
            yield piece.first, piece.last, "PERSON" if k in of.named else "ORGANIZATION"


def _unknown(of: Words) -> Iterator[Announced]:
    """Words that are no usual words, and do not look like clinical words."""
    for k, piece in enumerate(of.pieces):
        low = of.low(k).removesuffix("'s")
        if len(low) < _LEAST or "'" in low or low in _usual():
            continue
        entry = lexicon().get(fold(low), 0)
        placed = of.low(k - 1) in lists()["at"] | {"of"} and of.follows(k)
        if placed and commonness(entry) < _RARE and gazetteer().at([low], 0):
            yield piece.first, piece.last, "LOCATION"
        if not commonness(entry) and not entry & KINDS & ~PLACE and (placed or not _CLINICAL.match(low)):
            yield piece.first, piece.last, "PERSON"


@cache
def _usual() -> frozenset[str]:
    """Words that the lexicon of words does not have, and that are no names."""
    return lists()["fillers"] | lists()["function"] | lists()["titles"] | WEEKDAYS | MONTHS


def _ruled(of: Words) -> Iterator[Announced]:
    """Yield what the rules of `announced.toml` find, and figures that are said again."""
    heard = of.heard
    kept = [i for i, word in enumerate(heard.words) if word not in _HESITATIONS]
    starts = [0, *accumulate(len(heard.words[i]) + 1 for i in kept)]
    ends = [heard.ended(i, after) for i, after in pairwise([*kept, len(heard)])]
    text = "".join(heard.words[i] + ("\n" if end else " ") for i, end in zip(kept, ends, strict=True))

    def words(start: int, end: int) -> tuple[int, int]:
        return kept[bisect_right(starts, start) - 1], kept[bisect_right(starts, end - 1) - 1] + 1

    lines = [match.span() for match in _LINE.finditer(text)]
    for rule in _rules():
        for match in _matches(rule, text, lines):
            for start, end in _runs(text, *match.span("v"), rule.runs) if rule.runs else [match.span("v")]:
                if text[start:end].strip() and (not rule.rare or _is_rare(text[start:end].split())):
                    yield *words(start, end), rule.type
    for start, end in _again(text, lines):
        yield *words(start, end), _CODE


def _matches(rule: _Rule, text: str, lines: Sequence[tuple[int, int]]) -> Iterator[re.Match[str]]:
    if rule.asked is None:
        yield from rule.pattern.finditer(text)
        return
    for number, (start, end) in enumerate(lines):
        if rule.asked.search(text[start:end]):
            for first, last in lines[number + 1 : number + 1 + rule.within]:
                if match := rule.pattern.match(text, first, last):
                    yield match


def _again(text: str, lines: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield lines of nothing but figures and letters, shortly after a line that identifies someone."""
    reply, identifying = _reply(), _identifying()
    since = _AGO + 1
    for start, end in lines:
        if since <= _AGO and (match := reply.fullmatch(text, start, end)):
            yield match.span("v")
            since = 0
        since = 0 if identifying.search(text, start, end) else since + 1


def _runs(text: str, start: int, end: int, least: int) -> Iterator[tuple[int, int]]:
    """The runs of at least so many figures and letters, if no unit follows."""
    for match in _figures().finditer(text, start, end):
        said = match[0].split()
        letters = {each.replace(" ", "") for each in _ACRONYM.findall(match[0])}
        known = len([each for each in said if len(each) > 1]) < _FEW and not lists()["acronyms"].isdisjoint(letters)
        if len(said) >= least and not known and not _unit().match(text, match.end()):
            yield match.span()


def _is_rare(words: Iterable[str]) -> bool:
    """Whether a word is no usual word, or a usual name."""
    for word in words:
        entry = lexicon().get(fold(word.removesuffix("'s")), 0)
        plain = "'" in word.removesuffix("'s") or word in _usual() or entry & (MEDICAL | EPONYM)
        if len(word) < _LEAST or plain or _CLINICAL.match(word):
            continue
        if commonness(entry) < _RARE or (commonness(entry) == _RARE and max(given(entry), surname(entry)) > _NAME):
            return True
    return False


@cache
def _macros() -> dict[str, str]:
    made: dict[str, str] = {}
    stops = lists()["function"] | lists()["fillers"] | lists()["titles"] | _STOPS
    function = "|".join(sorted(map(re.escape, stops), key=len, reverse=True))
    made["word"] = rf"(?!(?:{function})(?![\w'-]))[a-z][\w'-]*(?![\w'-])"
    made["kin"] = rf"(?:{'|'.join(sorted(lists()['kin'], key=len, reverse=True))})"
    ways = sorted(lists()["streets"] | lists()["ways"], key=len, reverse=True)
    made["way"] = rf"(?:{'|'.join(ways)})"
    titles = vocabulary()["alone"] | vocabulary()["head"]
    plain = sorted(map(re.escape, titles - vocabulary()["clinical"]), key=len, reverse=True)
    made["title"] = rf"(?:{'|'.join(plain)})s?(?![\w'-])"
    for name, pattern in language("en").table("spoken_words", "announced.toml")["macros"].items():
        made[name] = _filled(pattern, made)
    return made


def _filled(pattern: str, macros: dict[str, str]) -> str:
    return re.sub(r"\{([a-z]+)\}", lambda match: macros[match[1]], pattern)


@cache
def _rules() -> tuple[_Rule, ...]:
    return tuple(map(_rule, language("en").table("spoken_words", "announced.toml")["rule"]))


def _rule(row: dict[str, Any]) -> _Rule:
    asked = _compiled(row["asked"]) if "asked" in row else None
    pattern = _compiled("{lead}" * (asked is not None) + row["pattern"])
    more = row.get("within", 1), row.get("runs", 0), row.get("rare", False)
    return _Rule(row["id"], row["type"], pattern, asked, *more)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_filled(pattern, _macros()))


@cache
def _reply() -> re.Pattern[str]:
    single = r"(?:{num}|[a-z](?![\w'-]))"
    after = "(?: {fill}| got it| correct){0,3}"
    between = "(?:(?:and|then|not|no|sorry|it's|that's) ){0,3}"
    return _compiled("{lead}(?P<v>" + single + "(?: " + between + single + ")*)" + after)


@cache
def _identifying() -> re.Pattern[str]:
    """Figures, a date, spelled letters, or a word for an identifier."""
    return _compiled(
        r"(?<![\w'-])(?:{num} {num} {num}|{month}|the {ordinal}|[a-z] [a-z] [a-z](?![\w'-])|date of birth|"
        r"address|number|phone|policy|spelled|social|last four|digits|code|member|group|account|id|i d|"
        r"licen[cs]e|record|"
        r"chart|born|birthday|call ?back|claim|reference|"
        r"{num} {word} {way})(?![\w'-])"
    )


@cache
def _figures() -> re.Pattern[str]:
    letter = rf"[ai](?= (?:[a-z]|{_macros()['num']})(?![\w'-]))"
    single = rf"(?:{_macros()['num']}|[b-hj-z](?![\w'-])|{letter})"
    return re.compile(rf"(?<![\w'-]){single}(?: (?:(?:and|then) )*{single})*")


@cache
def _unit() -> re.Pattern[str]:
    return re.compile(rf" (?:{_macros()['unit']})\b")

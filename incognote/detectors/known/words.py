"""Words as known identifiers are sought: tokens of a text, ways to write a name, the lists of a language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from incognote.detectors.rules.lexicon import fold
from incognote.detectors.rules.view import cut
from incognote.languages import language

# Letters with their combining marks, so that a decomposed accent cuts no word in two; digits apart from letters, so
# that MRN12345 holds 12345.
_TOKEN = re.compile("([^\\W\\d_](?:[^\\W\\d_]|[\u0300-\u036f])*|\\d+)")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


class KnownWords(NamedTuple):
    """What a language says of known identifiers, from the file `words/known.toml` of its bundle; all of it folded.

    Attributes:
        titles, suffixes, particles: what may stand before, behind and within a name.
        not_initials: letters with full stops that are no initials.
        verbs: names that are verbs, too.
        make_ordinary: what follows an ordinary word that only looks like a name.
        letters: single letters that are words or ends of words.
        months: by the number of each, in English and other languages.
        before_day: what stands before a day and a month without a year.
        before_month: what stands before a month that may also be a name.
        links: what stands between the parts of a date.
        between: what stands between numbers that are said.
        signs: words for the signs of an e-mail address.
        extension, postal_code, po_box: patterns of telephone numbers and addresses.
    """

    titles: frozenset[str]
    suffixes: frozenset[str]
    particles: frozenset[str]
    not_initials: frozenset[str]
    verbs: frozenset[str]
    make_ordinary: frozenset[str]
    letters: frozenset[str]
    months: dict[str, int]
    before_day: frozenset[str]
    before_month: frozenset[str]
    links: frozenset[str]
    between: frozenset[str]
    signs: frozenset[str]
    extension: re.Pattern[str]
    postal_code: re.Pattern[str]
    po_box: re.Pattern[str]


@cache
def vocabulary() -> KnownWords:
    """The words of the language, read once per process."""
    written = language().table("words", "known.toml")
    names, dates, numbers = written["names"], written["dates"], written["numbers"]
    months = {
        word: number
        for lists in (dates.pop("more_months"), dates.pop("months"))
        for number, line in enumerate(lists, 1)
        for word in line.split()
    }
    patterns: dict[str, Any] = {key: re.compile(numbers.pop(key)) for key in ("extension", "postal_code", "po_box")}
    lists: dict[str, Any] = {key: frozenset(words.split()) for key, words in (names | dates | numbers).items()}
    return KnownWords(**lists, months=months, **patterns)


class TokenList(NamedTuple):
    """Parallel lists; `lows` are folded (lower case, no marks), `words` as written."""

    text: str
    words: list[str]
    lows: list[str]
    starts: list[int]
    ends: list[int]

    def gap(self, i: int) -> str:
        """What stands between token i-1 and token i."""
        return self.text[self.ends[i - 1] : self.starts[i]]


def tokens(text: str) -> TokenList:
    """The tokens of a text."""
    starts, ends, words, _ = cut(_TOKEN, text)
    folded = str.lower if text.isascii() else fold
    return TokenList(text, words, list(map(folded, words)), starts, ends)


def unspaced(value: str) -> bool:
    """The value is written in a script that puts no blanks between words (Han, Kana, Thai, …)."""
    return bool(_UNSPACED.search(value))


class NameForm(NamedTuple):
    """A sequence of folded tokens that stands for the person; `kind` is whole, part, initial or initials."""

    tokens: tuple[str, ...]
    kind: str


def variants(name: str) -> Iterator[NameForm]:
    """Every way the name may be written: in full, inverted, shortened, initialled, its parts alone.

    A comma means LAST, FIRST MIDDLE. Hyphened parts also stand alone; particles (van, de, al) never do.
    """
    given, family = _split(name)
    if not given and not family:
        return
    if not family:
        yield from _parts(given)
        return
    first, middles = given[:1], given[1:]
    surname = _flat(family)
    if first:
        forms = {surname: None, _flat(family[-1:]): None, tuple("".join(word) for word in family): None}
        for form in forms:  # in full, its last part, O'Brien as OBrien
            yield from _combined(first, middles, form)
    yield from _parts([*given, *family])
    if len(family) > 1:
        yield NameForm(surname, "whole")
    initials = tuple(word[0][0] for word in (*given, *family) if word[0] not in vocabulary().particles)
    if len(initials) > 1:
        yield NameForm(initials, "initials")
        yield NameForm((initials[0], initials[-1]), "initials")


def _combined(
    first: list[tuple[str, ...]], middles: list[tuple[str, ...]], surname: tuple[str, ...]
) -> Iterator[NameForm]:
    one, rest = _flat(first), _flat(middles)
    letters = tuple(word[0][0] for word in middles)
    initial = (first[0][0][0],)
    every = ((*one, *rest), one, (*one, *letters), (*initial, *letters), initial, (*initial, *rest), rest)
    for given in dict.fromkeys(every):
        if given:
            kind = "initial" if min(map(len, given)) == 1 else "whole"
            yield NameForm((*given, *surname), kind)
            yield NameForm((*surname, *given), kind)


def _parts(words: list[tuple[str, ...]]) -> Iterator[NameForm]:
    for word in words:
        if len(word) == 1 and (word[0] in vocabulary().particles or len(word[0]) < 2):
            continue
        yield NameForm(word, "part")
        if len(word) > 1:
            yield NameForm(("".join(word),), "part")


def _flat(words: list[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(token for word in words for token in word)


def _split(name: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Given names and family names, each a list of words, a word being its tokens (O'Brien has two)."""
    name = re.sub(r"\([^)]*\)|[\"“”]", " ", name)
    head, comma, tail = name.partition(",")
    if comma and (rest := [w for w in _words(tail) if w[0] not in vocabulary().suffixes]):
        return rest, _words(head)
    chunks = [words for chunk in head.split() if (words := _words(chunk))]
    chunks = [words for k, words in enumerate(chunks) if not _ornament(words, k == 0, k > 0)]
    if len(chunks) < 2:
        return [word for words in chunks for word in words], []
    cut = len(chunks) - 1
    while (
        cut > 1
        and len(chunks[cut - 1]) == 1
        and chunks[cut - 1][0][0] in vocabulary().particles
        and len(chunks[cut - 1][0][0]) > 1
    ):
        cut -= 1  # Ludwig van Beethoven
    return [w for words in chunks[:cut] for w in words], [w for words in chunks[cut:] for w in words]


def _ornament(words: list[tuple[str, ...]], first: bool, later: bool) -> bool:
    """A title before the name or a credential after it."""
    low = words[0][0]
    return (
        len(words) == 1
        and len(words[0]) == 1
        and ((first and low in vocabulary().titles) or (later and low in vocabulary().suffixes))
    )


def _words(written: str) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for chunk in re.split(r"[\s\-‐.,]+", written):
        lows = tuple(tokens(chunk).lows)
        if lows:
            found.append(lows)
    return found

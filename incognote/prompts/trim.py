"""Where in an unmarked phrase the identifier itself stands, by its type, as far as that is certain.

A phrase of contract 1 carries hint words ("Mr. John Smith, the patient"). What surely is none of the identifier is left
to the hint; in doubt a word is taken for the identifier, which costs a clinical word and never a patient.
"""

from __future__ import annotations

import re
from functools import cache

from incognote.languages import language
from incognote.schemas.catalogue import catalogue

_MASK = re.compile(r"\[([A-Za-z][A-Za-z0-9_]*)\]")
_WORD = re.compile(r"\S+")
_LABEL = re.compile(r"\A[A-Za-z][A-Za-z .#/()'-]{0,40}[:#=]\s*(?=\S)")
_DIGIT = re.compile(r"\d")
_ADDRESS_LIKE = re.compile(r"[\w.+%-]+@[\w.-]+\w|\b(?:https?://|www\.)\S+[\w/]")
_EDGES = " \t\r\n,;:.()[]{}\"'\u2018\u2019\u201c\u201d"


def trimmed(type: str, phrase: str) -> tuple[int, int]:
    """The identifier's stretch within a phrase; the whole phrase where nothing of it surely is hint."""
    group = catalogue()[type].group if type in catalogue() else ""
    whole = _stripped(phrase, *_unmasked(phrase))
    if group in ("CONTACT", "ID") and (found := _ADDRESS_LIKE.search(phrase)):
        return found.span()
    start, end = whole
    if label := _LABEL.match(phrase[start:end]):
        start += label.end()
    if group in ("CONTACT", "ID"):
        start, end = _numbered(phrase, start, end)
    else:
        comma = re.search(r",\s+(?=[a-z])", phrase[start:end])
        # a type's name before the comma is a mask that was quoted badly
        if group == "PERSON" and comma and phrase[start:][: comma.start()].strip(_EDGES).upper() not in catalogue():
            end = start + comma.start()
        start, end = _worded(phrase, start, end, titles=group == "PERSON")
    start, end = _stripped(phrase, start, end)
    return (start, end) if start < end else whole if whole[0] < whole[1] else (0, len(phrase))


def _numbered(phrase: str, start: int, end: int) -> tuple[int, int]:
    """From the first to the last word that has a digit, with what is written in capitals before it ("KDX 688Z").

    All of it where no word has a digit.
    """
    words = list(_WORD.finditer(phrase, start, end))
    numbered = [at for at, word in enumerate(words) if _DIGIT.search(word.group())]
    if not numbered:
        return start, end
    first, labels = numbered[0], _words("labels")
    while first and (before := words[first - 1].group()).isupper() and before.strip(_EDGES).lower() not in labels:
        first -= 1
    return words[first].start(), words[numbered[-1]].end()


def _unmasked(phrase: str) -> tuple[int, int]:
    """The longest stretch of a phrase between masks of an earlier pass: a mask is hint, never identifier.

    Models quote masks in whatever case they like.
    """
    masks = (m for m in _MASK.finditer(phrase) if m[0].isupper() or m[1].upper() in catalogue())
    edges = [0, *(edge for mask in masks for edge in mask.span()), len(phrase)]
    stretches = zip(edges[::2], edges[1::2], strict=True)
    return max(stretches, key=lambda s: sum(map(str.isalnum, phrase[slice(*s)])))


def _worded(phrase: str, start: int, end: int, *, titles: bool) -> tuple[int, int]:
    """Without the function words and titles at both ends, so long as something stays."""
    words = [m.span() for m in _WORD.finditer(phrase, start, end)]

    def loose(at: int, listed: frozenset[str]) -> bool:
        word = phrase[slice(*words[at])].strip(_EDGES)
        # a capital tells a surname (Dr. The, Mrs. An) from a function word, but for titles
        return word in listed or (titles and word.lower() in _words("titles"))

    first, last = 0, len(words)
    while first < last - 1 and loose(first, _words("leading")):
        first += 1
    while first < last - 1 and loose(last - 1, _words("trailing")):
        last -= 1
    return (words[first][0], words[last - 1][1]) if words else (start, end)


def _stripped(phrase: str, start: int, end: int) -> tuple[int, int]:
    while start < end and phrase[start] in " \t\r\n,;:":
        start += 1
    while end > start and phrase[end - 1] in " \t\r\n,;:":
        end -= 1
    return start, end


@cache
def _words(name: str) -> frozenset[str]:
    """A list of `words/phrases.toml` of the language."""
    return frozenset(language().table("words", "phrases.toml")[name].split())

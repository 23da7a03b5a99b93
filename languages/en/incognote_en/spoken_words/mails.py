"""E-mail and web addresses as people say them."""

from __future__ import annotations

from incognote.text.lexicon import commonness, fold, given, lexicon, surname
from incognote_en.spoken_words.heard import Heard, Piece, lists
from incognote_en.spoken_words.numbers import number

_SIGNS = {"dot": ".", "period": ".", "point": ".", "dash": "-", "hyphen": "-", "underscore": "_", "slash": "/"}
_SIGNS |= {"plus": "+", "colon": ":"}
_SILENT = frozenset(("all", "capital", "cap", "lowercase", "case", "sign"))
_HOST = 6
"""A host has at most this many words before its ending."""
_USER = 16
"""The name of a user has at most this many words."""


def mails(heard: Heard) -> list[Piece]:
    """Every address in a transcript, in order."""
    found: list[Piece] = []
    for i in range(1, len(heard)):
        if heard.at(i) in ("dot", "period", "point") and (end := _ending(heard, i + 1)):
            least = found[-1].last if found else 0
            if i >= least and (piece := _address(heard, i, end, least)):
                found.append(piece)
    return found


def _ending(heard: Heard, i: int) -> int:
    """Where a top-level domain at a word ends; 0 if there is none."""
    if heard.at(i) in lists()["domains"] and (heard.at(i - 1) == "dot" or len(heard.at(i)) == 3):
        return i + 1
    letters = "".join(heard.words[i : i + 3])
    if letters in ("com", "org", "net", "edu", "gov") and all(len(word) == 1 for word in heard.words[i : i + 3]):
        return i + 3
    return i + 2 if "".join(heard.words[i : i + 2]) in ("uk", "us", "io", "co", "ca") else 0


def _address(heard: Heard, dot: int, end: int, least: int) -> Piece | None:
    while heard.at(end) in ("dot", "period") and (more := _ending(heard, end + 1)):
        end = more
    at = next((j for j in range(dot - 1, max(dot - 2 * _HOST, least) - 1, -1) if heard.at(j) == "at"), -1)
    between = heard.words[at + 1 : dot]
    if at > least and len(between) <= 2 * _HOST and not lists()["function"] & set(between) - {"my", "the"}:
        first = _user(heard, at, least)
        if first < at:
            return Piece(f"{_joined(heard, first, at)}@{_joined(heard, at + 1, end)}", first, end, "mail")
    earlier = range(max(dot - 2 * _HOST, least), dot - 1)
    web = [j for j in earlier if heard.at(j) == "www" or heard.says(j, ("w", "w", "w"))]
    first = web[0] if web else dot - 1
    while first > least and (heard.at(first - 1) in _SIGNS or heard.at(first) in _SIGNS or _is_part(heard, first - 1)):
        first -= 1
    while heard.at(end) == "slash" and end + 1 < len(heard):
        end += 2
    return Piece(_joined(heard, first, end), first, end, "mail") if heard.at(first) not in _SIGNS else None


def _is_part(heard: Heard, i: int) -> bool:
    word = heard.at(i)
    return len(word) == 1 and word not in ("a", "i")


def _user(heard: Heard, at: int, least: int) -> int:
    """The first word of the user before "at"."""
    first = at
    while first > max(least, at - _USER):
        word = heard.at(first - 1)
        glued = heard.at(first) in _SIGNS or word in _SIGNS
        letter = len(word) == 1 and word.isalpha()
        if (begun := _before_interruption(heard, first)) < first:
            first = begun
            continue
        if heard.ended(first - 1, first) and not (glued or letter or number(heard, first - 1)):
            return first
        if glued or letter or number(heard, first - 1) or word in ("double", "triple", "all", "capital", "cap"):
            if letter and word in ("a", "i") and len(heard.at(first)) > 1 and not glued and first < at:
                return first
        elif word in lists()["function"] or word in lists()["mail_cues"] or (first < at and not _is_name(word)):
            return first
        first -= 1
    return first


def _before_interruption(heard: Heard, i: int) -> int:
    """Where an interruption before a word begins, if it stands in an address: "j underscore / slow down / at"."""
    first = i
    while i - first < 7 and (heard.at(first - 1) in lists()["pauses"] or heard.at(first - 1) in _SIGNS):
        first -= 1
    before = heard.before(first, _USER)
    broken = heard.ended(first - 1, i) and not lists()["pauses"].isdisjoint(heard.words[first:i])
    return first if broken and before and len(before[-1]) == 1 and not set(before).isdisjoint(_SIGNS) else i


def _is_name(word: str) -> bool:
    entry = lexicon().get(fold(word), 0)
    return not entry or (max(given(entry), surname(entry)) > 1 and commonness(entry) < 3)


def _joined(heard: Heard, first: int, last: int) -> str:
    """The words of an address, with its signs and figures."""
    parts: list[str] = []
    i = first
    while i < last:
        word = heard.at(i)
        found = number(heard, i) if word not in ("a", "o") else None
        if word in _SIGNS:
            parts.append(_SIGNS[word])
        elif found and found.end <= last:
            parts.append(found.figures)
            i = found.end - 1
        elif word in ("double", "triple") and i + 1 < last:
            parts.append(heard.at(i + 1) * (2 if word == "double" else 3))
            i += 1
        elif word == "as" and heard.at(i + 1) == "in":
            i += 2
        elif word == "for" and parts and heard.at(i + 1)[:1] == parts[-1]:
            i += 1
        elif len(word) == 1 or word not in lists()["fillers"] | lists()["pauses"] | _SILENT:
            parts.append(word.replace("'", ""))
        i += 1
    return "".join(parts)

"""The finder of Arabic institutions, towns and named areas."""

from __future__ import annotations

from collections.abc import Iterator

from incognote.detectors.rules.view import Candidate, View
from incognote_ar.rules.words import Words, named, own, table

_MOST = 8  # words of an institution after its head
_AREAS = frozenset(("LOCATION", "STREET", "STATE"))
_QUOTES = frozenset('«»"“”')


def places(view: View) -> Iterator[Candidate]:
    """Yield the institutions, areas and towns of a text."""
    words, at = Words(view), 0
    while at < len(words):
        found = _institution(words, at) or _town(words, at)
        if found:
            candidate, at = found
            yield candidate
        else:
            at += 1


def _institution(words: Words, at: int) -> tuple[Candidate, int] | None:
    """Return the institution or area that begins at token `at`, and the index after it."""
    head = words.phrase(at, own().heads)
    if not head or (head[2] and len(words.keys[at]) - head[2] < 2):
        return None
    if at and words.keys[at - 1] in ("عن", "هذا", "هذه", "اي", "كل", "نفس") and words.joined(at):
        return None
    view, type_, i = words.view, head[0], at + head[1]
    weak = head[1] == 1 and any(words.keys[at].endswith(word) for word in table("weak"))
    end = _proper(words, i, weak=weak, definite=words.keys[at][head[2] :] in table("definite"), area=type_ in _AREAS)
    if end == i:
        return None
    start = words.start(at, head[2])
    return Candidate(start, view.ends[end - 1], type_, 0.85, "places.institution"), end


def _proper(words: Words, i: int, *, weak: bool, definite: bool, area: bool) -> int:
    """Return the index after the proper words of an institution whose head ends before token i; i if it has none."""
    view, at, last, sure = words.view, i, i, False
    most = 3 if area else _MOST
    while at < len(words) and at - i < most:
        word, key = view.words[at], words.keys[at]
        if word in _QUOTES and words.linked(at):
            at += 1
            continue
        if word in "-–—" and at + 1 < len(words) and last > i and words.linked(at) and not area:
            follows = words.keys[at + 1]
            if words.linked(at + 1) and (follows == "فرع" or words.phrase(at + 1, own().towns)):
                at += 1
                continue
            break
        if not (words.joined(at) or (view.gap(at) == "" and view.words[at - 1] in _QUOTES)) or not word[0].isalpha():
            break
        if not "\u0600" <= word[0] <= "\u06ff":
            break
        kind, town = words.kind(at), words.phrase(at, own().towns)
        bare = named(key[2:]) if key.startswith("ال") and kind.derived else 0
        proper = town or (kind.weight and kind.common < 2) or not kind.common or bare >= 4
        unwanted = table("generic") if weak else table("never_inside")
        if at == i and not town and key in unwanted and not definite:
            break
        if key in own().joining or key == "فرع" or key in own().particles or (key in ("د", "ا", ".") and at == i):
            at += 1
            continue
        if proper and not (kind.attached and key.startswith("و") and not town):
            sure = True
            at += town[1] if town else 1
        elif at > i and words.keys[at - 1] in own().joining:
            sure = True
            at += 1
        elif at == i and not weak and not definite and not area and _continues(words, at):
            at += 1
            continue
        elif key in table("inside"):
            sure = sure or at > i or not weak or definite
            at += 1
        elif (
            (not weak or sure)
            and not (definite and not sure)
            and key.startswith(("ال", "لل", "وال", "بال"))
            and at - i < 4
        ):
            if area and last > i:
                break
            sure = True
            at += 1
        else:
            break
        last = at
    return last if sure else i


def _continues(words: Words, at: int) -> bool:
    """Whether an ordinary word without the article is inside a name: "هيئة قناة السويس", "مستشفى حمام العليل"."""
    if words.keys[at].startswith(("ال", "لل", "و", "ب", "ل")) or words.keys[at] in table("never_inside"):
        return False
    if words.kind(at).common > 2 or at + 1 >= len(words) or not words.joined(at + 1):
        return False
    return words.keys[at + 1].startswith("ال") or words.kind(at + 1).weight >= 4


def _town(words: Words, at: int) -> tuple[Candidate, int] | None:
    """Return the town, region or country at token `at`, and the index after it."""
    found = words.phrase(at, own().towns)
    if not found:
        return None
    type_, n, attached = found
    kind = words.kind(at)
    near = attached > 0 or (
        at > 0 and (words.keys[at - 1] in own().near or (kind.common < 2 and words.view.words[at - 1] in "(،/–-"))
    )
    plain = n > 1 or kind.derived or not (kind.common or (kind.weight >= 2 and not kind.attached))
    plain = plain or (type_ == "COUNTRY" and kind.common < 2)
    if not plain and not (near and (kind.common < 2 or kind.derived or words.keys[at] in table("towns"))):
        return None
    if attached and kind.common >= 2 and n == 1:
        return None
    if at + n < len(words) and words.joined(at + n) and words.keys[at + n] in table("after_town"):
        n, type_ = n + 1, "HOSPITAL"
    return Candidate(words.start(at, attached), words.view.ends[at + n - 1], type_, 0.7, "places.town"), at + n

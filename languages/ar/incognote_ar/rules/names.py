"""The finder of Arabic names. Arabic has no capitals, so a title, a label, a relative or the lexicon shows a name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.detectors.rules.view import Candidate, View
from incognote_ar.rules.words import Words, own, table

_MOST = 8  # words of a name
_LABEL, _TITLE, _KIN, _BARE = 3, 2, 1, 0  # how surely a name is announced
_UNIT = "سنة|سنه|سنوات|سنين|عاما|عاماً|عام|س|شهرا|شهراً|أشهر|شهور|يوما|يوم|أيام|ans|y"
_AGE = re.compile(  # after a name: "، 34 سنة،", "| 41 |"
    rf"[ \t]{{0,4}}[|،,(/–—;][ \t]{{0,4}}([1-9]\d?[ ]?(?:{_UNIT})(?!\w)|[1-9]\d)"
    r"(?=[ \t]{0,4}(?:[|،,)/–—;.](?!\d)|\n|\Z))"
)
_SHORT = frozenset("د ا م ك ص ط ش ت ب".split())  # titles that are one letter: only before a dot or a slash


def names(view: View) -> Iterator[Candidate]:
    """Yield the names of a text."""
    words, at = Words(view), 0
    while at < len(words):
        found = _announced(words, at) or _related(words, at) or _bare(words, at)
        if not found:
            at += 1
            continue
        candidate, at = found
        yield candidate
        while more := _further(words, at, candidate.type):
            candidate, at = more
            yield candidate
        if age := _AGE.match(view.text, candidate.end):
            yield Candidate(*age.span(1), "AGE", 0.65, "names.age")


def _candidate(words: Words, i: int, end: int, type_: str, score: float, rule: str) -> tuple[Candidate, int]:
    view = words.view
    start = words.start(i, words.kind(i).attached)
    return Candidate(start, view.ends[end - 1], type_, score, f"names.{rule}"), end


def _run(words: Words, i: int, level: int) -> int:
    """Return the index after the name that begins at token i; i if there is none."""
    lists, view = own(), words.view
    at = last = i
    named, bound = 0, False  # the weight of the last word; whether a particle such as "بن" is before the word
    while at < len(words) and at - i < _MOST and (at == i or words.linked(at)):
        key, wide = words.keys[at], at > i and not words.joined(at)
        if wide and not (view.words[at] in ".-" or view.words[at - 1] in ".-" or view.gap(at) == ""):
            break
        if words.letter(at) and key not in ("و",):  # an initial
            dotted = at + 1 < len(words) and view.words[at + 1] == "." and view.gap(at + 1) == ""
            final = last > i and words.ends(at + 1)
            if not dotted and not final:
                break
            if not (last > i or level >= _TITLE or (at + 2 < len(words) and words.kind(at + 2).weight >= 3)):
                break
            at += 1 + dotted
            if last > i or level >= _TITLE:
                last = at
            continue
        second = key in ("الدين", "السر") or (key == "الله" and words.keys[at - 1] in table("theophoric"))
        if at > i and (second or (key == "الله" and named >= 3)):
            at += 1
            last, named = at, 5
            continue
        if key in lists.never or not view.words[at][0].isalpha():
            break
        kind = words.kind(at)
        if at > i and kind.attached:
            break
        following = at + 1 < len(words) and words.joined(at + 1) and words.kind(at + 1)
        if key in lists.particles or key in lists.before:
            if not following or (key in table("mothers") and following.weight < 2 and level < _LABEL):
                break
            bound = True
            at += 1
            continue
        if bound and words.keys[at - 1] == "عبد" and (key.startswith("ال") or key in ("ربه", "علي")):
            kind = kind._replace(weight=5, common=0)
        if key in table("middle") and named >= 3 and (words.ends(at + 1) or words.kind(at + 1).weight >= 3):
            kind = kind._replace(weight=3, common=1)
        ending = kind.derived and level >= _TITLE and (named >= 3 or at == i) and words.ends(at + 1)
        if kind.common >= 2 and not ending:
            break
        if not kind.weight and not _unknown(words, at, i, level, named, bound):
            break
        named, bound = kind.weight, False
        at += 1
        last = at
    return last


def _unknown(words: Words, at: int, i: int, level: int, named: int, bound: bool) -> bool:
    """Whether a word that no list has belongs to the name."""
    if level == _LABEL or bound:
        return True
    if at == i:
        return level == _TITLE or (level == _KIN and words.ends(at + 1))
    if words.ends(at + 1):
        return level >= _TITLE or named >= 3
    return (words.nisba(at) and named > 0) or (level >= _TITLE and named >= 4)


def _announced(words: Words, at: int) -> tuple[Candidate, int] | None:
    """Return the name after a label or a title at token `at`, and the index after it."""
    lists = own()
    if (label := words.phrase(at, lists.labels)) and (begin := _value(words, at + label[1])):
        level = _LABEL if label[0] == "PATIENT" else _TITLE
        if words.keys[at] in table("speakers") and label[1] == 1 and words.keys[at] != "الاسم":
            level = _KIN if words.ends(begin + 1) or words.kind(begin).weight >= 3 else _BARE
        end = _run(words, begin, level)
        if end > begin:
            return _candidate(words, begin, end, label[0], 0.9, "labelled")
    if title := words.phrase(at, lists.titles):
        short = title[1] == 1 and words.keys[at] in _SHORT
        if short and not _dotted(words, at):
            return None
        begin = _past_titles(words, at + title[1])
        level = _TITLE if title[0] == "CLINICIAN" or short else _KIN
        if words.keys[at] in table("weak_titles"):
            level = _BARE
        if begin < len(words) and (level > _BARE or words.kind(begin).weight >= 3):
            end = _run(words, begin, level)
            if end > begin:
                return _candidate(words, begin, end, title[0], 0.9, "titled")
    return None


def _dotted(words: Words, at: int) -> bool:
    """Whether a title of one letter is written as a title: "د.", "م/", or "د" before a name."""
    view = words.view
    if at and ((view.gap(at) == "" and view.words[at - 1] in "/٪%") or view.words[at - 1][0].isdecimal()):
        return False
    if at + 1 >= len(words):
        return False
    if view.words[at + 1] in "./" and view.gap(at + 1) == "":
        return True
    return words.keys[at] == "د" and words.joined(at + 1) and words.kind(at + 1).weight >= 2


def _past_titles(words: Words, i: int) -> int:
    """Return the index after further titles, dots and slashes."""
    view, lists = words.view, own()
    for _ in range(8):
        if i >= len(words) or not words.linked(i):
            return len(words)
        if view.words[i] in "./:|":
            i += 1
        elif (found := words.phrase(i, lists.titles)) and not found[2]:
            if found[1] == 1 and words.keys[i] in _SHORT and not _dotted(words, i):
                return i
            i += found[1]
        elif words.keys[i] in table("adjectives"):
            i += 1
        else:
            return i
    return i


def _value(words: Words, i: int) -> int | None:
    """Return the index of the value after a label and a colon, a slash or a bar."""
    view, colon = words.view, False
    for _ in range(4):  # "الاسم رباعي :", "الاسم (كما في الهوية):"
        if i < len(words) and words.keys[i] in table("after_labels") and words.linked(i):
            i += 1
    while i < len(words) and view.words[i] in ":：|/=*_-–." and "\n" not in view.gap(i):
        colon = colon or view.words[i] in ":：|=/"
        i += 1
    if not colon or i >= len(words) or "\n" in view.gap(i):
        return None
    if found := words.phrase(i, own().titles):
        past = _past_titles(words, i + found[1])
        short = found[1] == 1 and words.keys[i] in _SHORT and not _dotted(words, i)
        return past if past < len(words) and not short else i
    return i


def _related(words: Words, at: int) -> tuple[Candidate, int] | None:
    """Return the name after a word for a relative or another cue."""
    view, lists = words.view, own()
    key = words.keys[at]
    cue = key in table("cues")
    if not cue and not (key in lists.kin or (key[1:] in lists.kin and key[0] in "ولبف")):
        return None
    i = at + 1
    for _ in range(3):
        if i < len(words) and words.linked(i) and (words.keys[i] in table("adjectives") or view.words[i] in '،:(«"/–-'):
            i += 1
    if i >= len(words) or not words.linked(i):
        return None
    weight, attached, common, _ = words.kind(i)
    starts = words.keys[i] in lists.before or words.keys[i] in table("mothers")
    if attached or not (weight or starts or (not common and i == at + 1)):
        return None
    if cue and weight < 2 and not starts and key not in table("naming"):
        return None
    end = _run(words, i, _KIN)
    if end == i:
        return None
    return _candidate(words, i, end, "RELATIVE" if not cue else "PERSON", 0.8, "cue" if cue else "kin")


def _bare(words: Words, at: int) -> tuple[Candidate, int] | None:
    """Return a name that nothing announces."""
    view, lists = words.view, own()
    weight, _attached, common, _ = words.kind(at)
    kunya = words.keys[at] in table("kunya") and at + 1 < len(words) and words.joined(at + 1)
    if (common >= 2 and not kunya) or words.keys[at] in lists.never:
        return None
    if kunya:
        inner = words.kind(at + 1)
        unknown = not inner.common and words.keys[at + 1].startswith("ال")
        if inner.attached or not (inner.weight >= 3 or unknown) or inner.common > 1:
            return None
    elif not weight:
        return None
    end = _run(words, at, _BARE)
    if end == at:
        return None
    kinds = [words.kind(i) for i in range(at, end) if words.keys[i] not in lists.before]
    weights = [kind.weight for kind in kinds]
    plain = any(not kind.common and kind.weight >= 3 for kind in kinds)
    speaks = (
        end < len(words) and view.words[end] == ":" and (at == 0 or "\n" in view.gap(at) or view.words[at - 1] == "]")
    )
    if kunya and (max(weights, default=0) >= 3 or end - at >= 3):
        return _candidate(words, at, end, "PERSON", 0.7, "kunya")
    if end - at >= 2 and max(weights) >= 3 and sum(weights) >= (4 if plain else 11):
        return _candidate(words, at, end, "PERSON", 0.85 if plain else 0.7, "run")
    if end - at == 1 and weight >= 4 and not common:
        return _candidate(words, at, end, "PERSON", 0.6, "alone")
    if speaks and max(weights) >= 5:
        return _candidate(words, at, end, "PERSON", 0.7, "speaker")
    return None


def _further(words: Words, at: int, type_: str) -> tuple[Candidate, int] | None:
    """Return the next name of a list: "د. سامي وهدى", "تمريض: ولاء + صفاء", "سالم / ناصر"."""
    view = words.view
    if at >= len(words) or not words.linked(at):
        return None
    kind = words.kind(at)
    if kind.attached and words.keys[at].startswith("و") and kind.weight >= 2:
        begin = at
    elif view.words[at] in "/+،,&" and at + 1 < len(words) and words.linked(at + 1) and words.kind(at + 1).weight >= 3:
        begin = at + 1
        if words.kind(begin).attached:
            return None
    else:
        return None
    end = _run(words, begin, _KIN)
    if end == begin:
        return None
    if view.words[at] in "،," and not words.ends(end):
        return None
    return _candidate(words, begin, end, type_, 0.7, "list")

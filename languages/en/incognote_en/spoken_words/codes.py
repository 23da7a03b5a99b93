"""Numbers, spelled words, and identifiers of letters and figures, joined over pauses and interruptions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from incognote.text.lexicon import commonness, fold, lexicon, surname
from incognote_en.spoken_words.dates import UNITS, date
from incognote_en.spoken_words.heard import Heard, Piece, lists
from incognote_en.spoken_words.numbers import figure, nth, number, ordinal
from incognote_en.spoken_words.units import Group, Unit, group_at, interruption

_CUE = 7
"""A label counts for a number at most this many words later."""
_ALIKE = 0.6
"""A word that is so like what was spelled is the same word, heard wrongly."""
_RATE = re.compile(r"[12]0\d")
"""Figures that are as likely a value: "one oh four"."""
_OUTWARD, _INWARD = re.compile(r"[a-z]{1,2}\d[a-z\d]?"), re.compile(r"\d[a-z]{2}")


def code(heard: Heard, i: int) -> list[Piece]:
    """The pieces of a number, an identifier or a spelled word that begins at a word; empty if there is none."""
    if heard.says(i, ("a", "one", "c")):
        return [Piece("A1C", i, i + 3, "label")]
    group = group_at(heard, i)
    if not group.units:
        return []
    text, end = group.text, group.end
    units = list(group.units)
    said = group
    labeled = is_labeled(heard, i)
    while following := _next(heard, said, text, labeled):
        text = _continued(heard, said, text, following)
        units += following.units
        said, end = following, following.end
    if text.replace("'", "").replace("-", "").isalpha():
        return _spelled(heard, i, group, text, end)
    if any(unit.is_letter for unit in units) or "/" in text:
        return _mixed(heard, i, text, end, units)
    return _figures(heard, i, text, end, units, labeled)


def _continued(heard: Heard, said: Group, text: str, following: Group) -> str:
    """The text of a number after its next group, which may repeat or correct what was said."""
    between = heard.words[said.end : following.first]
    if len(following.text) > 1 and text.endswith(following.text) and "just" not in between:
        return text
    if not lists()["corrections"].isdisjoint(between) or said.text.isalpha():
        if "just" in between and said.text.endswith(following.text):
            return text[: len(text) - len(said.text)] + following.text
        for size in range(min(len(said.text), len(following.text)), 1, -1):
            if following.text.startswith(said.text[-size:]):
                return text[:-size] + following.text
    postcode = _OUTWARD.fullmatch(text) and _INWARD.fullmatch(following.text)
    return f"{text} {following.text}" if postcode else text + following.text


def _next(heard: Heard, said: Group, text: str, labeled: bool) -> Group | None:
    """The group that continues a number or a spelled word after an interruption or a pause; None if there is none."""
    at = interruption(heard, said.end)
    between = heard.words[said.end : at]
    if (not between and not heard.ended(at - 1, at)) or (date(heard, at) and not figure(heard.at(at))):
        return None
    group = group_at(heard, at)
    if not group.units or heard.at(group.end) in UNITS or not _is_part(heard, text, group, bool(between)):
        return None
    mixed = _is_mixed(text)
    if said.text.isalpha() or group.text.isalpha():
        if {said.text, group.text} & lists()["acronyms"]:
            return None
        if said.text.isalpha() and group.text.replace("'", "").isalpha() and "then" in between:
            return None
        more = said.text.isalpha() and (group.text.isalpha() or len(group.text) > 2 or between)
        return group if more or mixed or (labeled and not text.isalpha()) else None
    if not (text.isdigit() and group.digits):
        return group if labeled or mixed or not (text.isdigit() or group.digits) else None
    if text.endswith(group.text) and (labeled or _is_single(group)):
        return group
    whole = len(text) > 9 or (len(text) == 7 and (len(group.text) > 6 or not labeled))
    whole |= len(group.text) > 6 and len(text) > 3
    fits = labeled or all(len(each.text) == 1 or _is_single(each) for each in (said, group))
    return group if fits and not whole and len(text) + len(group.text) < 15 else None


def _is_part(heard: Heard, text: str, group: Group, interrupted: bool) -> bool:
    """Whether a group is long enough to continue a text. One letter or figure must be an utterance."""
    if len(group.text) > 1:
        return len(text) > 1 or (_is_single(group) and not interrupted)
    return len(text) > 1 and heard.ended(group.end - 1, group.end) and heard.ended(group.first - 1, group.first)


def _is_single(group: Group) -> bool:
    """Whether at least two figures were said one by one."""
    return sum(len(unit.text) == 1 for unit in group.units) > 1


def _is_mixed(text: str) -> bool:
    """Whether a text has letters and figures, and more than a postcode's half or the level of a spine."""
    return len(text) > 2 and any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def is_labeled(heard: Heard, i: int) -> bool:
    """Whether the words before a number say that it identifies something."""
    before = heard.before(i, _CUE)
    return not lists()["labels"].isdisjoint(before)


def _spelled(heard: Heard, i: int, group: Group, text: str, end: int) -> list[Piece]:
    """Letters: an abbreviation, or a word that was spelled, with the word before it if that is the same word."""
    acronyms = lists()["acronyms"]
    if len(text) == 1:
        sure = group.units[0].sure and end - i > 1
        return [Piece(text.upper(), i, end, "spelled")] if sure else []
    if text in ("ai", "ia") or (len(text) == 2 and text[0] in "ai" and text not in acronyms and end - i == 2):
        return []
    if text in acronyms:
        return [Piece(text.upper(), i, end, "label")]
    for low, high in ((1, 0), (0, 1), (1, 1)):
        core = text[low : len(text) - high]
        words = (text[:low], text[len(text) - high :] if high else "")
        plain = len(group.units) == len(group.text) == end - i and all(word in ("", "a", "i") for word in words)
        if core in acronyms and len(core) > 1 and plain:
            before, after = i + low, end - high
            pieces = [Piece(heard.at(i), i, before)] if low else []
            pieces.append(Piece(core.upper(), before, after, "label"))
            return [*pieces, Piece(heard.at(after), after, end)] if high else pieces
    for acronym in ("mrn", "ssn", "dob"):
        rest = text[len(acronym) :]
        units = len(acronym)
        if text.startswith(acronym) and len(acronym) > 2 and len(rest) > 1 and len(group.text) == len(group.units):
            return [Piece(acronym.upper(), i, i + units, "label"), Piece(rest.upper(), i + units, end, "spelled")]
    for acronym in ("mrn", "ssn", "dob"):
        if text.endswith(acronym) and len(text) > 5:
            at = i + len(text) - 3 if len(group.text) == len(group.units) else end
            if heard.words[at:end] == list(acronym):
                return [Piece(text[:-3].upper(), i, at, "spelled"), Piece(acronym.upper(), at, end, "label")]
    name = heard.at(end)
    if text.endswith("'") and len(name) > 2:
        return [Piece(text.upper() + name.capitalize(), i, end + 1, "spelled")]
    spelling = not lists()["spelling"].isdisjoint(heard.before(i, 12))
    sure = spelling or len(text) > 3 or any(unit.sure for unit in group.units)
    return [Piece(text.upper(), i, end, "spelled" if sure else "label")]


def _mixed(heard: Heard, i: int, text: str, end: int, units: Sequence[Unit]) -> list[Piece]:
    """An identifier of letters and figures, after the abbreviation that is its label, if any."""
    acronyms = lists()["acronyms"]
    lead = 0
    while lead < len(units) and units[lead].text.isalpha() and len(units[lead].text) == 1:
        lead += 1
    for count in range(lead, 1, -1):
        label = "".join(unit.text for unit in units[:count])
        figures = sum(unit.text.isdigit() for unit in units)
        if label in lists()["sure"] or (label in acronyms and figures < 5 and lead == count):
            at = units[count - 1].end
            return [Piece(label.upper(), i, at, "label"), *code(heard, at)]
    label = "".join(unit.text for unit in units[:lead])
    for acronym in ("mrn", "ssn"):
        if label.endswith(acronym) and lead > 5:
            name, at = units[lead - 4].end, units[lead - 1].end
            spelled = Piece(label[:-3].upper(), i, name, "spelled")
            return [spelled, Piece(acronym.upper(), name, at, "label"), *code(heard, at)]
    if lead == 1 and units[0].text in "ai" and not units[0].sure:
        return []
    if text[0].isdigit() and len(units) == 2 and not units[1].sure and not heard.ended(end - 1, end):
        return []  # "fifty p r n"
    if lead == 1 and len(units) == 2 and heard.at(end) in UNITS:
        return [Piece(text[0].upper(), i, units[0].end, "label"), Piece(units[1].text, units[0].end, end, "number")]
    return [Piece(text.upper(), i, end, "code" if len(text) > 2 or is_labeled(heard, i) else "label")]


def _figures(heard: Heard, i: int, text: str, end: int, units: Sequence[Unit], labeled: bool) -> list[Piece]:
    """A number: an amount, a telephone number, a year, or an identifier."""
    first = units[0]
    if heard.at(end) in ("over", "point") and (pair := _pair(heard, i, units)):
        return pair
    sizes = [len(unit.text) for unit in units]
    singles = all(size == 1 for size in sizes)
    phone = _phone(heard, i, text, end, labeled) if len(units) > 3 else ""
    if phone:
        return [Piece(phone, i, end, "code")]
    if len(units) == 1:
        if size := _ordinal(heard, i):
            return [size]
        if len(text) == 1 and heard.at(end) not in UNITS - {"times"} and not _counts(heard, i, end):
            return []
        return [Piece(text, i, end, "number")]
    joined = labeled or len(text) > 4 or (singles and len(units) > 2) or sizes in ([1, 2], [1, 3]) or text[0] == "0"
    joined = joined or (sizes == [2, 2] and "address" in heard.before(i, _CUE))
    if joined or (sizes in ([2, 2], [2, 1, 1], [2, 3]) and _street_follows(heard, end)):
        said = singles and len(text) > 2 and not _RATE.fullmatch(text)
        identifies = labeled or len(text) > 4 or said or "address" in heard.before(i, _CUE)
        return [Piece(text, i, end, "code" if identifies and text != "911" else "number")]
    return _figures(heard, i, first.text, first.end, [first], labeled) or [Piece(heard.at(i), i, i + 1)]


def _counts(heard: Heard, i: int, end: int) -> bool:
    """Whether one figure is written as a figure: after a label, or as an age."""
    before = heard.at(i - 1)
    if before in lists()["labels"] or before in ("type", "stage"):
        return True
    alone = heard.ended(end - 1, end) or heard.at(end) in ("and", "at", "when", "now", "but", "so")
    asked = {"how", "old"} <= set(heard.before(i, 18))
    if before in ("at", "is", "live", "address") and heard.at(i + 1) not in lists()["function"] | UNITS:
        return any(heard.at(j) in lists()["streets"] | lists()["ways"] for j in (i + 2, i + 3))
    return alone and (asked or before in ("was", "turned", "aged", "he's", "she's", "i'm")) and heard.at(i) != "one"


def _ordinal(heard: Heard, i: int) -> Piece | None:
    """ "forty second street", "twenty third" """
    found = ordinal(heard, i)
    sure = heard.at(i + 1) != "second" or heard.at(i - 1) == "the"
    if found and found.end - i == 2 and (sure or _street_follows(heard, found.end)):
        return Piece(nth(found.value), i, found.end, "number")
    return None


def _street_follows(heard: Heard, i: int) -> bool:
    """Whether the kind of a street is one of the next words."""
    streets = lists()["streets"] | lists()["ways"]
    entry = lexicon().get(fold(heard.at(i)), 0)
    if surname(entry) > 2 and not commonness(entry) and not heard.ended(i - 1, i):
        return True
    return any(heard.at(j) in streets and not heard.ended(i - 1, j) for j in range(i, i + 4))


def _value(units: Sequence[Unit]) -> str:
    """The figures of a value that is said in groups: "one twenty", "a hundred and four"."""
    return "".join(unit.text for unit in units)


def _pair(heard: Heard, i: int, units: Sequence[Unit]) -> list[Piece]:
    """A pressure or a decimal: "one twenty over eighty", "ninety eight point six"."""
    value, end = _value(units), units[-1].end
    if len(value) > 4:
        return []
    sign = {"over": "/", "point": "."}[heard.at(end)]
    following = number(heard, end + 1)
    if following is None:
        return []
    figures, last = following.figures, following.end
    while (more := number(heard, last)) and not heard.ended(last - 1, last):
        parts = figures + more.figures
        hundreds = following.single and figures[0] in "12"
        if len(parts) > 3 or not (more.single if sign == "." else hundreds):
            break
        figures, last = parts, more.end
    return [Piece(f"{value}{sign}{figures}", i, last, "number")]


def _phone(heard: Heard, i: int, text: str, end: int, labeled: bool) -> str:
    """Figures in the form of a telephone or social security number; "" if they are none."""
    before = heard.before(i, 9)
    if len(text) == 9 and not lists()["social"].isdisjoint((*before, "".join(before[-3:]))):
        return f"{text[:3]}-{text[3:5]}-{text[5:]}"
    if labeled and not lists()["ids"].isdisjoint(before) and lists()["calls"].isdisjoint(before):
        return ""
    if len(text) == 7 and text[0] not in "01":
        return f"{text[:3]}-{text[3:]}"
    if len(text) == 10 and text[0] not in "01":
        return f"{text[:3]}-{text[3:6]}-{text[6:]}"
    if len(text) == 11 and text[0] == "1":
        return f"1-{text[1:4]}-{text[4:7]}-{text[7:]}"
    if len(text) == 11 and text[0] == "0":
        return f"{text[:5]} {text[5:]}"
    return ""


def alike(word: str, spelled: str) -> bool:
    """Whether a word is what was spelled after it, or nearly so."""
    bare = word.lower().removesuffix("'s")
    return bare == spelled.lower() or SequenceMatcher(None, bare, spelled.lower()).ratio() >= _ALIKE

"""The rest of a name, number, or line most of which is removed.

OCR errors and the layout of a page hide words from the detectors: they find `Merrow District` in `Cape Merrow District
Hospital`. Who sees the rest may guess the whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from incognote.formats.base import UNWORDED
from incognote.formats.images.knownwords import is_known, is_name
from incognote.formats.images.page import BETWEEN_CELLS, PlacedWord, cells, is_title, union
from incognote.formats.images.vocabulary import label_of
from incognote.nouns import Span
from incognote.schemas.catalogue import catalogue

_CELL = re.compile(rf"(?:(?!{BETWEEN_CELLS})[^\n{UNWORDED}])+")
_BOUND = re.compile(rf"{BETWEEN_CELLS}|[\n{UNWORDED}]")
_LINE = 1_000  # characters before a span in which its cell begins
_TOKEN = re.compile(r"\S+")
_MOST = 0.5  # the share of the letters of a cell above which all of them go
_SEVERAL = 2  # cells of a span from which other cells can be cut
_GIVEN = 2  # words of a name with a title, the second of which goes if the first one does
_LONGEST, _LABEL = 10, 4  # words of such a cell, and of a label in it
_NAMED = frozenset(("PERSON", "LOCATION", "OTHER", "PROFESSION"))
_NEAR = 40  # characters before or after a stretch in which its rest may be
_PARTICLES = re.compile(
    r"(?<!\S)(?:(?:von|van|vom|zu|zur|zum|der|den|de|del|della|di|da|das|dos|du|des|la|le|las|los|el|al|bin|ibn|ben|bint|abu|"
    r"ter|ten|af|av|och|Graf|Gräfin|Freiherr|Freifrau|Baron|Baronin|Sir|Lady|Lord|Dame) )+\Z"
)
_SURNAME = re.compile(r"(?<!\S)[^\W\d_]{2,}(?:[-'’][^\W\d_]+)*, ?\Z")
_DIGITS = re.compile(r"(?<!\S)(?:\(?\+?\d{1,5}\)? ?[-–/]? ?)+\Z")
_MORE_DIGITS = re.compile(r"(?: ?[-–/]? ?\d{2,5}(?![\w%/,]|\.\d))+")
_PREFIX = re.compile(r"(?<!\S)[A-Z]{2,4}[ :]\Z")
_ADDRESS, _INDENT, _STEP = 5, 0.7, 2.2  # words of a line of an address; heights of it between it and the next lines
_ROW, _EVEN, _NAME = 4.5, 1.3, 3  # heights between the rows of a list; by which two differ; words of a name in one
_YEARS = re.compile(r"\d{1,3}\b.{0,6}")
_LICENSED = re.compile(r"(?<!\S)[A-Z]{2} [Ll]ic(?:ense|ence)?\.? ?(?:[Nn]o\.?|#)? ?\Z")
_INSTITUTIONS = frozenset("HOSPITAL ORGANIZATION PHARMACY DIAGNOSTIC_LABS".split())
_CAPITALS = re.compile(r"(?<!\S)[^\W\d_][\w'’-]+ \Z")
_SHORT = 3  # characters of a prefix that goes although it is a label, such as `SN `
_DAY = re.compile(r"(?<!\S)(?:\d{1,2}|[Il])\.? \Z")
_ONCE = re.compile(
    r"(?<!\S)(?:[Rr]etired|[Ff]ormer|[Ee]x|[Ff]ormerly|[Jj]ubilad[oa]|[Rr]etraitée?|[Aa]ncien(?:ne)?|[Pp]ensionierter?|"
    r"[Ee]hemaliger?)[ -]\Z"
)
_AFTER_WEEKDAY = re.compile(r",? \d{1,2}\.? [^\W\d_]{3,9}\b\.?")
_NUMBERS = frozenset(("CONTACT", "ID"))
_LEAST_DIGITS = 4  # of a number that is written in groups


def lines_between(
    words: Sequence[PlacedWord], removed: Sequence[tuple[int, int, str]]
) -> Iterator[tuple[int, int, str]]:
    """Yield the stretches of text between two removed lines or cells of a column, and their types.

    They are a town above its postcode in an address, and a name or age between two others in a list.

    Args:
        words: of a page. removed: the start, end, and group of removed stretches of its text.
    """
    placed = {id(each.word): each for each in words}
    lines = []
    for cell in cells([each.word for each in words]):
        start, end = placed[id(cell[0])].start, placed[id(cell[-1])].end
        hit = [(min(end, b) - max(start, a), group) for a, b, group in removed if a < end and start < b]
        most = sum(n for n, _ in hit) >= _MOST * (end - start)
        lines.append((union(word.box for word in cell), start, end, {group for _, group in hit if most}))
    for box, start, end, gone in lines:
        text = " ".join(each.word.text for each in words if start <= each.start < end)
        if gone or len(text.split()) > _ADDRESS or ":" in text or label_of(text) is not None:
            continue
        high, middle = box[3] - box[1], (box[1] + box[3]) / 2
        beside = [
            (other[1] - box[1], (other[1] + other[3]) / 2 - middle, groups) for other, *_, groups in lines
            if groups and abs(other[0] - box[0]) < _INDENT * high and abs(other[1] - box[1]) < _ROW * high
        ]  # fmt: skip
        near = [(step, groups) for step, _, groups in beside if abs(step) < _STEP * high]
        above = any(step < 0 and not groups.isdisjoint(("PERSON", "LOCATION")) for step, groups in near)
        below = any(step > 0 and "LOCATION" in groups for step, groups in near)
        in_list = {
            group for _, step, groups in beside for _, other, more in beside
            if step < 0 < other and max(-step, other) < _EVEN * min(-step, other) for group in groups & more
        }  # fmt: skip
        if above and below and text[:1].isupper():
            yield start, end, "ADDRESS"
        elif "AGE" in in_list and _YEARS.fullmatch(text):
            yield start, end, "AGE"
        elif "PERSON" in in_list and text[:1].isupper() and not is_known(text) and len(text.split()) <= _NAME:
            yield start, end, "PERSON"


def widened(text: str, spans: Sequence[Span], unread: Iterable[tuple[int, int]] = ()) -> list[Span]:
    """Return the removed spans of a page's text with the rest of their names, numbers, and lines.

    What a detector took from a label or usual words in another cell stays.

    Args:
        text: of the page, or of several. spans: disjoint, in order.
        unread: the start and end of more words that are removed, because they are in a region without words.

    Returns:
        As many spans, disjoint, in the same order.
    """
    spans = [_cut(text, each) for each in spans]
    found = [(each.start, each.end) for each in spans]
    for at, each in enumerate(spans):
        low = found[at - 1][1] if at else 0
        high = spans[at + 1].start if at + 1 < len(spans) else len(text)
        found[at] = _grown(text, each, low, high)
    gone = bytearray(len(text))
    for start, end in (*found, *unread):
        gone[start:end] = b"\1" * (end - start)
    for at, each in enumerate(spans):
        low = found[at - 1][1] if at else 0
        high = found[at + 1][0] if at + 1 < len(spans) else len(text)
        found[at] = _whole_cell(text, gone, found[at], low, high, catalogue()[each.type].group)
    return [
        each if (each.start, each.end) == new else replace(each, start=new[0], end=new[1])
        for each, new in zip(spans, found, strict=True)
    ]


def _cut(text: str, span: Span) -> Span:
    """Return a span over several cells and lines without labels and usual words in the first and last ones."""
    own = [each.span() for each in _CELL.finditer(text, span.start, span.end) if each[0].strip()]
    if len(own) < _SEVERAL:
        return span
    while len(own) > 1 and _stays(text[slice(*own[-1])], span.type):
        own.pop()
    while len(own) > 1 and _stays(text[slice(*own[0])], span.type):
        own.pop(0)
    start = next(at for at in range(*own[0]) if not text[at].isspace())
    end = own[-1][1]
    return span if (start, end) == (span.start, span.end) else replace(span, start=start, end=end)


def _stays(cell: str, type_: str) -> bool:
    """Whether a cell that a span reaches into is a label, or usual words that are no part of a value."""
    cell, said, group = cell.strip(), label_of(cell.strip()), catalogue()[type_].group
    if cell.endswith((":", "：")) or said is not None:
        return said is None or said.type != type_
    if group in ("LOCATION", "DATE") or (group == "PERSON" and not cell[:1].islower()):
        return False
    return is_known(cell) and not is_name(cell) and not any(map(str.isdigit, cell))


def _grown(text: str, span: Span, low: int, high: int) -> tuple[int, int]:
    """Return a stretch with particles of a name, groups of a number, and parts of a date, between two offsets."""
    start, end = span.start, span.end
    group = catalogue()[span.type].group

    def before(pattern: re.Pattern[str]) -> re.Match[str] | None:
        return pattern.search(text, max(low, start - _NEAR), start)

    if group == "PERSON":
        for pattern in (_PARTICLES, _SURNAME):
            if (more := before(pattern)) and (pattern is _PARTICLES or more[0][0].isupper()):
                start = more.start()
    elif span.type in _INSTITUTIONS:
        while (more := _CAPITALS.search(text, max(low, start - _NEAR), start)) and _is_of_name(more[0].strip()):
            start = more.start()
    elif group == "PROFESSION":
        start = more.start() if (more := before(_ONCE)) else start
    elif group == "DATE":
        if text[start].isalpha() and (more := before(_DAY)):
            start = more.start()
        if text[start:end].isalpha() and (more := _AFTER_WEEKDAY.match(text, end, high)):
            end = more.end()
    elif group in _NUMBERS and sum(map(str.isdigit, text[start:end])) >= _LEAST_DIGITS:
        if text[end - 1].isdigit() and (more := _MORE_DIGITS.match(text, end, high)):
            end = more.end()
        if text[start].isdigit() and (more := before(_DIGITS)):
            start = more.start()
        if span.type == "LICENSE_NUMBER" and (more := before(_LICENSED)):
            start = more.start()
        more = before(_PREFIX) if text[start].isdigit() else None
        if more and (len(more[0]) == _SHORT or label_of(more[0]) is None):
            start = more.start()
    return start, end


def _is_of_name(word: str) -> bool:
    """Whether a word before the name of an institution is a part of it."""
    return word[0].isupper() and not is_known(word, 3) and not is_title(word) and label_of(word) is None


def _whole_cell(
    text: str, gone: bytearray, span: tuple[int, int], low: int, high: int, group: str
) -> tuple[int, int]:
    """Return a span with the words beside it in a cell most of whose letters are removed, up to labels and usual words.

    Args:
        gone: 1 for each removed character. low, high: between which it may grow. group: of its type in the catalog.
    """
    start, end = span
    first = max((each.end() for each in _BOUND.finditer(text, max(0, start - _LINE), start)), default=0)
    cell = _CELL.match(text, first)
    if cell is None or not first <= start < end <= cell.end():
        return span
    tokens = [each.span() for each in _TOKEN.finditer(text, *cell.span())]
    tokens = tokens[_labels(text, tokens) :]
    named = [each for each in tokens if not is_title(text[slice(*each)].strip(".,"))]
    letters = [i for a, b in named for i in range(a, b) if text[i].isalnum()]
    if len(tokens) > _LONGEST or sum(gone[i] for i in letters) < _MOST * len(letters):
        return span
    surname = named[-1] if group == "PERSON" and len(named) == _GIVEN < len(tokens) else None
    for a, b in reversed(tokens):
        if low <= a < start <= b + 1 and (b > start or _goes(text[a:b], group, label_of(text[a:b]) is not None)):
            start = a
    reached = end
    for at, (a, b) in enumerate(tokens, 1):
        is_label = at < len(tokens) and label_of(text[a:b]) is not None
        last = a + len(text[a:b].rstrip(".,;:"))
        goes = a < end or all(gone[a:b]) or (a, b) == surname or _goes(text[a:b], group, is_label)
        if a - 1 <= reached < b and last <= high and goes:
            end, reached = max(end, last), b
    return start, end


def _labels(text: str, tokens: Sequence[tuple[int, int]]) -> int:
    """Return how many words at the start of a cell are a label."""
    for n in range(min(_LABEL, len(tokens)), 0, -1):
        words = text[tokens[0][0] : tokens[n - 1][1]]
        if words.endswith((":", "：")) or label_of(words) is not None:
            return n
    return 0


def _goes(word: str, group: str, is_label: bool) -> bool:
    """Whether a word beside a removed one goes with it, if that is of a group."""
    first = next(filter(str.isalnum, word), "")
    if not first or is_label:
        return False
    if group not in _NAMED:
        return any(map(str.isdigit, word)) and not is_known(word)
    return not is_known(word) or (group != "PERSON" and not first.islower())

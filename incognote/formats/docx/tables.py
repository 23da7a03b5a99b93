"""The tables of a Word document: a value under or beside a label is searched for in all texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from incognote.formats.docx.hidden import value_of
from incognote.formats.records.rawxml import Element
from incognote.formats.xlsx.closed import is_nobody
from incognote.formats.xlsx.labels import ColumnLabel, ShownCell, is_box, label_of, labeled
from incognote.nouns import Known
from incognote.schemas.catalogue import catalogue
from incognote.text.lexicon import fold, given, is_common, lexicon, surname

_SHORTEST = 3  # characters of a name
_FEWEST = 4  # digits of a number or date
_MOST_WORDS = 5  # of a name
_DEGREES = re.compile(r"(?:,\s*(?:(?:[A-Z][A-Za-z]{0,2}\.){2,4}|MD|DO|PhD|RN|NP|PA(?:-C)?|MBBS|FRCPC?|FRCS|FACS))+\Z")
_NUMBER = re.compile(r"[0-9][0-9/ -]{3,18}[0-9]")
_RARE = 3  # weight of a surname, of 7
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")


class _Cell(NamedTuple):
    column: int
    start: int
    end: int


class LabeledTable:
    """The cells of one table, by their places in the text around."""

    def __init__(self) -> None:
        self._rows: list[list[_Cell]] = []
        self._column = 0

    def begin_row(self, properties: Element | None) -> None:
        """Begin a row."""
        self._rows.append([])
        self._column = _number(properties, "gridBefore", 0)

    def add(self, properties: Element | None, start: int, end: int) -> None:
        """Add a cell to the row."""
        if self._rows:
            self._rows[-1].append(_Cell(self._column, start, end))
        self._column += _number(properties, "gridSpan", 1)

    def known(self, text: str) -> Iterator[Known]:
        """Yield the values that labels say are identifiers.

        Args:
            text: the text around.
        """
        cells = [[(cell, text[cell.start : cell.end]) for cell in row] for row in self._rows]
        shown = [[_shown(cell.column, words) for cell, words in row if words.strip()] for row in cells]
        if shown and shown[0] and all(is_box(cell.value) for cell in shown[0]):  # the label is in the line above
            shown[0].insert(0, _shown(-1, text[: self._rows[0][0].start].rstrip().rpartition("\n")[2]))
        for row, labels in zip(cells, labeled(shown), strict=True):
            boxes = [(labels.values.get(cell.column), words) for cell, words in row if is_box(words)]
            for label, run in groupby(boxes, itemgetter(0)):
                if label is not None and len(characters := [words.strip() for _, words in run]) > 1:
                    yield Known(label.type, _together(label, characters))
            for cell, words in row:
                if (label := labels.values.get(cell.column)) is not None:
                    for line in re.split(r"[\n\t]", words):
                        if (found := _known(label, _DEGREES.sub("", line.strip()))) is not None:
                            yield found


def _shown(column: int, words: str) -> ShownCell:
    return ShownCell(column, " ".join(words.split()), any(map(str.isalpha, words)))


def _together(label: ColumnLabel, boxes: Sequence[str]) -> str:
    """Return the value of boxes with one character each."""
    value = "".join(boxes)
    if catalogue()[label.type].group == "DATE" and len(boxes) in (6, 8):
        return f"{value[:2]}/{value[2:4]}/{value[4:]}"
    return "\t".join(boxes)


def _known(label: ColumnLabel, value: str) -> Known | None:
    """Return a line of a cell as an identifier, or None if it is none, or too short to be searched for."""
    if "[" in value or is_nobody(value) or label_of(value) is not None:
        return None
    group, digits = catalogue()[label.type].group, sum(map(str.isdecimal, value))
    if group == "PERSON" and label.certain and digits > _FEWEST and _NUMBER.fullmatch(value):  # below the name
        return Known("MEDICAL_RECORD_NUMBER", value)
    if not label.fits(value):
        return None
    if group == "PERSON":
        words = re.findall(r"[^\W\d_]+", value)
        is_word = any(map(is_common, words)) if value.islower() else all(map(_is_word, words))
        is_sought = len(value) >= _SHORTEST and len(words) <= _MOST_WORDS and not is_word
    elif group in ("ID", "DATE"):
        is_sought = digits >= _FEWEST and not _YEAR.fullmatch(value)
    else:
        is_sought = group == "CONTACT" and (digits >= _FEWEST or "@" in value or "//" in value)
    return Known(label.type, value) if is_sought else None


def _is_word(word: str) -> bool:
    """Whether a word is common English and hardly ever a name."""
    entry = lexicon().get(fold(word), 0)
    return is_common(word) and not given(entry) and surname(entry) <= _RARE


def _number(properties: Element | None, name: str, missing: int) -> int:
    """Return the number of columns that a property states, at most 999."""
    value = value_of(properties, name)
    return int(value) if re.fullmatch(r"[0-9]{1,3}", value) else missing

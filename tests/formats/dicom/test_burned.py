"""What may stay in pixels: words of closed lists and numbers beside them, unless the header has them."""

from __future__ import annotations

import pytest

from incognote.formats.dicom.burned import HeaderWords, PictureLine, lines_of_words, page_of
from incognote.formats.dicom.inklines import InkLine
from incognote.nouns import Known
from incognote.pages.nouns import Word

KNOWN = HeaderWords.of(
    [Known("PATIENT", "Nia Okonkwo"), Known("CLINICIAN", "Long"), Known("BIRTH_DATE_TIME", "1958-03-14"),
     Known("MEDICAL_RECORD_NUMBER", "4711")]
)  # fmt: skip


def _line(text: str, confidence: float = 0.95) -> PictureLine:
    words, at = [], 10
    for each in text.split():
        words.append(Word(each, (at, 20, at + 8 * len(each), 32), confidence))
        at += 8 * len(each) + 6
    parts = tuple((x, 20, x + 7, 32) for word in words for x in range(word.box[0], word.box[2], 8))
    return PictureLine(InkLine((10, 20, at - 6, 32), False, parts, 12.0), words)


def _stays(text: str, confidence: float = 0.95) -> list[str]:
    page = page_of([_line(text, confidence)], [], KNOWN, (900, 60))
    named = {at for each in page.findings if each.source == "header" for at in range(each.start, each.end)}
    return [each.word.text for each in page.words if each.start not in named]


@pytest.mark.parametrize(
    "text", ["kVp 120 mA 240", "W 400 L 40", "T2 FLAIR", "Depth 15 cm", "1.25mm", "R MLO", "45", "2D 62"]
)
def test_settings_stay(text: str) -> None:
    assert _stays(text) == text.split()


@pytest.mark.parametrize(
    "text", ["Okonkwo Nia", "Smith", "1958", "12/04/2024", "00412873", "14 MAR", "Hernandez^Kwame", "4711", "10:22:31"]
)
def test_names_dates_and_numbers_go(text: str) -> None:
    assert _stays(text) == []


def test_a_listed_word_goes_if_the_header_has_it_or_if_it_is_poorly_read() -> None:
    assert _stays("LONG AXIS") == ["AXIS"]
    assert _stays("Depth 15 cm", 0.3) == []


def test_words_of_the_header_have_their_type_even_if_they_are_misread() -> None:
    page = page_of([_line("0konkwo"), _line("14.03.1958"), _line("Smith")], [], KNOWN, (900, 60))
    assert [each.type for each in page.findings] == ["PATIENT", "BIRTH_DATE_TIME", "UNREAD"]


def test_ink_that_goes_is_a_region_around_the_words_that_stay() -> None:
    line = _line("Depth 15 cm Smith")
    page = page_of([line], [(0, 0, 5, 60)], KNOWN, (900, 60))
    boxes = [region.box for _, region in page.marks]
    last = line.words[-1].box
    assert (0, 0, 5, 60) in boxes
    [gone] = [box for box in boxes if box != (0, 0, 5, 60)]
    assert line.words[2].box[2] <= gone[0] <= last[0]
    assert gone[2] > last[2]
    assert page.text.startswith("Depth 15 cm\n")


def test_words_of_one_line_make_a_line_of_ink() -> None:
    words = [Word("Depth", (10, 20, 50, 32), 0.9, 3), Word("cm", (60, 22, 76, 32), 0.9, 3)]
    words.append(Word("L", (5, 90, 9, 99), 0.9, 4))
    found = list(lines_of_words(words))
    assert [line.box for line, _ in found] == [(10, 20, 76, 32), (5, 90, 9, 99)]
    assert [len(read) for _, read in found] == [2, 1]

"""What is covered beside a change: the rest of its word and code, and titles and credentials of a name."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.formats.images.page import ReadPage, _to_whole_codes, text_of
from incognote.pages.nouns import Word

HIGH, LETTER = 20, 10


def page(text: str, quality: float = 0.9) -> ReadPage:
    """Return a page with one line."""
    words, left = [], 50
    for token in text.split():
        words.append(Word(token, (left, 100, left + LETTER * len(token), 100 + HIGH), 0.9))
        left += LETTER * (len(token) + 1)
    made, placed, marks = text_of(words, ())
    return ReadPage(made, placed, marks, (), quality, (2000, 300))


def hidden(text: str, old: str, quality: float = 0.9) -> str:
    """Return the characters of a line that are under the covers for one change."""
    read = page(text, quality)
    at = read.text.index(old)
    covers = read.covers([(at, at + len(old), "[X]")])
    return "".join(
        char for char, box in zip(read.text, read.boxes(), strict=True)
        if box and any(cover.box[0] <= (box[0] + box[2]) / 2 < cover.box[2] for cover in covers)
    )  # fmt: skip


@pytest.mark.parametrize(("text", "old", "gone"), [
    ("Seen by Okafor today", "kafo", "Okafor"),
    ("MRN 4471-02-9 today", "02", "4471-02-9"),
    ("Case A12/447102-9B seen", "447102", "A12/447102-9B"),
    ("Phone 5551234 5678 (home)", "5551234", "5551234 5678"),
    ("Code 447102 12 mg given", "447102", "447102"),
    ("Code 447102 12% given", "447102", "447102"),
    ("Room 12 4471 free", "12", "12"),
    ("Patient (Okafor) well", "Okafor", "Okafor"),
])  # fmt: skip
def test_a_cover_cuts_no_word_no_code_and_no_group_of_a_number(text: str, old: str, gone: str) -> None:
    assert gone.replace(" ", "") in hidden(text, old)
    rest = [word for word in text.replace(gone, " ").split() if word.isalnum()]
    assert not any(word in hidden(text, old) for word in rest)


def test_parts_of_a_code_that_lost_its_hyphens_go_only_on_a_poor_page() -> None:
    assert hidden("Code AB 12 447102 seen", "447102", quality=0.5) == "AB12447102"
    assert hidden("Code AB 12 447102 seen", "447102", quality=0.9) == "447102"


@pytest.mark.parametrize(("text", "gone"), [
    ("Seen by Dr. Okafor today", "Dr.Okafor"), ("Dr. med. Okafor", "Dr.med.Okafor"),
    ("Sister Okafor left", "SisterOkafor"), ("Prof. Dr. Okafor", "Prof.Dr.Okafor"),
    ("the doctor Okafor", "Okafor"), ("with Asthma Okafor", "Okafor"),
])  # fmt: skip
def test_titles_before_a_name_go_with_it_and_other_words_stay(text: str, gone: str) -> None:
    assert hidden(text, "Okafor") == gone


def test_credentials_after_a_name_go_with_it() -> None:
    assert hidden("Okafor, M.D., FACC saw HIM", "Okafor") == "Okafor,M.D.,FACC"


texts = st.lists(st.text("aBé4-/.,(%", min_size=1, max_size=7), min_size=1, max_size=8).map(" ".join)


@given(texts, st.data(), st.booleans())
def test_a_stretch_only_grows_within_the_text_and_cuts_no_word(text: str, data: st.DataObject, poor: bool) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    low, high = _to_whole_codes(text, start, end, poor=poor)
    assert 0 <= low <= start < end <= high <= len(text)
    assert not (low and text[low - 1].isalnum() and text[low].isalnum())
    assert not (high < len(text) and text[high - 1].isalnum() and text[high].isalnum())


def test_a_tilted_line_is_covered_by_boxes_side_by_side() -> None:
    line = [Word("430", (100 * i, 20 * i, 100 * i + 60, 20 * i + 20), 0.9) for i in range(6)]
    text, placed, _ = text_of(line, [])
    read = ReadPage(text, placed, [], [], 0.9, (700, 200))
    boxes = [cover.box for cover in read.covers([(0, len(text), "[ID]")])]
    assert len(boxes) > 1
    assert all(bottom - top <= 45 for _, top, _, bottom in boxes)
    assert all(one[2] >= two[0] for one, two in pairwise(boxes)), "no gap between the words stays"


def test_a_less_than_sign_before_a_letter_is_no_tag() -> None:
    text, _, _ = text_of([Word("<a", (0, 0, 20, 10), 0.9), Word("<5", (30, 0, 50, 10), 0.9)], [])
    assert text.split() == ["‹a", "<5"]

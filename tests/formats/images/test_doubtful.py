"""Words of poorly read lines go, unless they are surely usual words; and unread ink of poorly read pages goes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from incognote.formats.images.doubtful import doubtful
from incognote.formats.images.reading import PageReading
from incognote.pages.nouns import Box, Region, Word

np: Any = pytest.importorskip("numpy")
cv2: Any = pytest.importorskip("cv2", reason="needs the extra images")

HIGH, LETTER = 20, 12
PAGE = np.full((1000, 800), 255, np.uint8)


def line(text: str, *confidences: float, top: int = 100) -> list[Word]:
    """Return the words of a line, each with its confidence."""
    found, left = [], 50
    for token, confidence in zip(text.split(), confidences, strict=True):
        right = left + LETTER * len(token)
        found.append(Word(token, (left, top, right, top + HIGH), confidence, top))
        left = right + LETTER
    return found


def regions(words: list[Word], seen: list[Word], quality: float = 0.8, pixels: Any = PAGE) -> list[Region]:
    reading = PageReading(tuple(words), (*words, *seen), (), (), quality)
    return list(doubtful(reading, words, pixels))


def again(words: list[Word], *changed: str) -> list[Word]:
    """Return the words as another pass reads them, some of them otherwise."""
    texts = [*changed, *(word.text for word in words[len(changed) :])]
    return [replace(word, text=text, source="clean") for word, text in zip(words, texts, strict=True)]


def within(word: Word, found: list[Region]) -> bool:
    return any(contains(region.box, word.box) for region in found)


def contains(one: Box, two: Box) -> bool:
    return one[0] <= two[0] and one[1] <= two[1] and two[2] <= one[2] and two[3] <= one[3]


def test_lines_that_were_read_well_have_no_doubtful_words() -> None:
    words = line("Chidi Okafor has asthma", 0.9, 0.9, 0.9, 0.9)
    assert not regions(words, again(words))


def test_an_unusual_word_of_a_poor_line_goes_and_usual_ones_stay() -> None:
    words = line("patient 0kafcr has asthma", 0.9, 0.4, 0.9, 0.9)
    found = regions(words, again(words, "patient", "Okafor", "bas", "asth")[:2])
    assert [region.kind for region in found] == ["Unread"]
    assert [within(word, found) for word in words] == [False, True, False, False]


def test_a_region_reaches_to_the_words_beside_it() -> None:
    words = line("patient 0kafcr has asthma", 0.9, 0.4, 0.9, 0.9)
    [found] = regions(words, again(words)[:1])
    assert (found.box[0], found.box[2]) == (words[0].box[2] + 1, words[2].box[0] - 1)


def test_doubtful_words_beside_each_other_are_one_region() -> None:
    words = line("patient Chld1 0kafcr asthma", 0.9, 0.4, 0.4, 0.9)
    [found] = regions(words, again(words)[:1])
    assert contains(found.box, words[1].box)
    assert contains(found.box, words[2].box)


def test_a_number_beside_a_doubtful_word_goes_with_it() -> None:
    words = line("patient 0kafcr 12 asthma", 0.9, 0.3, 0.95, 0.9)
    seen = [each for each in again(words) if each.text != words[1].text]
    assert within(words[2], regions(words, seen, quality=0.7))


def test_without_a_second_pass_nothing_is_doubtful() -> None:
    assert not regions(line("patient 0kafcr has", 0.4, 0.2, 0.4), [])


def drawn(*, fax: bool) -> Any:
    """Return a page with two lines of ink."""
    page = np.full((1100, 850), 255, np.uint8)
    for top in (200, 400):
        cv2.putText(page, "Okafor 447102", (60, top), cv2.FONT_HERSHEY_SIMPLEX, 0.6, 0, 2)
    if not fax:
        return page
    return np.where(page > 127, np.uint8(255), np.uint8(0))


@pytest.mark.parametrize(("fax", "quality", "rows"), [
    (False, 0.9, set()), (False, 0.5, {200, 400}), (True, 0.7, {200, 400}), (True, 0.9, set()), (False, 0.7, set()),
])  # fmt: skip
def test_unread_ink_goes_on_poor_pages_and_on_less_poor_faxes(fax: bool, quality: float, rows: set[int]) -> None:
    word = Word("asthma", (300, 600, 372, 620), 0.9, 9)
    found = regions([word], again([word]), quality, drawn(fax=fax))
    assert {top for top in (200, 400) for region in found if region.box[1] < top - 5 < region.box[3]} == rows


def test_ink_of_words_that_stay_is_not_covered() -> None:
    word = Word("asthma", (55, 180, 260, 206), 0.9, 9)
    found = regions([word], again([word]), 0.5, drawn(fax=False))
    assert {top for top in (200, 400) for region in found if region.box[1] < top - 5 < region.box[3]} == {400}


def test_a_tick_alone_stays_and_a_tick_beside_a_word_does_not() -> None:
    text = line("patient was seen with mild asthma and fever today again", *[0.95] * 10, top=500)
    tick = Word("v", (50, 100, 66, 100 + HIGH), 0.2)
    beside = Word("Okafcr", (72, 100, 150, 100 + HIGH), 0.3)
    assert not within(tick, regions([tick, *text], again(text)))
    assert within(tick, regions([tick, beside, *text], again(text)))


@pytest.mark.parametrize("text", ["-3/0", "24/26", "(80", "75g", "3."])
def test_ranges_measures_and_numbers_of_lines_stay_on_a_page_that_was_read_well(text: str) -> None:
    [word] = line(text, 0.93)
    assert not regions([word], again(line("other", 0.9, top=500)))
    assert regions([word], again(line("other", 0.9, top=500)), quality=0.7)


def test_an_unknown_word_in_small_letters_goes_if_no_pass_over_letters_was_sure_of_it() -> None:
    words = [replace(word, source="rapidocr") for word in line("Agreed mcarvajal today", 1, 1, 1)]
    poor = [replace(word, confidence=0.6, source="clean") for word in words]
    assert [within(word, regions(words, poor, 0.9)) for word in words] == [False, True, False]
    sure = [replace(word, confidence=0.95) for word in poor]
    assert regions(words, sure, 0.9) == []

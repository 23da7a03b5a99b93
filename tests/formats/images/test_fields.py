"""What is identifying by its place: beside and below labels, and ink that no engine reads."""

from __future__ import annotations

from typing import Any

import pytest

from incognote.formats.images.fields import located
from incognote.formats.images.reading import PageReading
from incognote.pages.nouns import Region, Word

np: Any = pytest.importorskip("numpy")
cv2: Any = pytest.importorskip("cv2", reason="needs the extra images")

HEIGHT, LETTER = 20, 12


def words(*cells: tuple[int, int, str]) -> tuple[Word, ...]:
    """Return the words of cells, each at its left and top in pixels; cells of one top are one line."""
    found = []
    tops = sorted({top for _, top, _ in cells})
    for left, top, text in sorted(cells, key=lambda cell: (cell[1], cell[0])):
        for token in text.split():
            right = left + LETTER * len(token)
            found.append(Word(token, (left, top, right, top + HEIGHT), 0.95, line=tops.index(top)))
            left = right + LETTER
    return tuple(found)


def reading(*cells: tuple[int, int, str], codes: tuple[Region, ...] = ()) -> PageReading:
    found = words(*cells)
    return PageReading(found, found, codes, (), 0.9)


def page() -> Any:
    return np.full((600, 1000), 255, np.uint8)


def values(*cells: tuple[int, int, str], pixels: Any = None) -> set[tuple[str, str]]:
    made = located(reading(*cells), page() if pixels is None else pixels)
    return {(each.type, " ".join(word.text for word in each.words)[each.first :]) for each in made.values}


def test_a_value_stands_to_the_right_of_its_label() -> None:
    assert values((50, 50, "MRN"), (250, 50, "4471O2")) == {("MEDICAL_RECORD_NUMBER", "4471O2")}


def test_a_value_follows_a_colon_in_the_same_cell() -> None:
    assert values((50, 50, "Patient: Okafcr, Chid1")) == {("PATIENT", "Okafcr, Chid1")}


def test_a_value_follows_a_colon_without_a_space() -> None:
    assert values((50, 50, "MRN:447102")) == {("MEDICAL_RECORD_NUMBER", "447102")}


def test_labels_in_a_row_have_their_own_values() -> None:
    found = values((50, 50, "Patient: Okafor"), (450, 50, "MRN: 447102"))
    assert found == {("PATIENT", "Okafor"), ("MEDICAL_RECORD_NUMBER", "447102")}


def test_a_label_beside_another_label_has_its_value_below() -> None:
    found = values((50, 50, "MRN"), (400, 50, "Date of birth"), (50, 80, "447102"), (400, 80, "04.03.1950"))
    assert {("MEDICAL_RECORD_NUMBER", "447102"), ("BIRTH_DATE_TIME", "04.03.1950")} <= found


def test_an_address_has_further_lines() -> None:
    cells = ((50, 50, "Address"), (250, 50, "12 Oak Ct"), (250, 76, "Duluth, MN"), (50, 140, "Hb"), (250, 140, "12.1"))
    found = values(*cells)
    assert {text for _, text in found} == {"12 Oak Ct", "Duluth, MN"}


@pytest.mark.parametrize("cells", [
    ((50, 50, "Hb"), (250, 50, "12.1")), ((50, 50, "Patient education: drink water"),),
    ((50, 50, "Sex"), (250, 50, "Female")),
])  # fmt: skip
def test_results_and_sentences_are_no_values(cells: tuple[tuple[int, int, str], ...]) -> None:
    assert not values(*cells)


def test_ink_without_words_beside_a_label_is_a_region() -> None:
    pixels = page()
    cv2.polylines(pixels, [np.array([(260 + 6 * i, 460 + (9 if i % 2 else -7)) for i in range(20)])], False, 0, 2)
    boxes = [region.box for region in located(reading((50, 450, "Patient name:")), pixels).regions]
    assert any(left <= 262 and right >= 370 and top <= 455 and bottom >= 467 for left, top, right, bottom in boxes)


def test_a_ruled_line_beside_a_label_is_no_ink() -> None:
    pixels = page()
    cv2.line(pixels, (250, 72), (700, 72), 0, 2)
    assert not located(reading((50, 50, "Patient name:")), pixels).regions


def test_ink_above_a_line_for_signatures_is_a_signature() -> None:
    pixels = page()
    cv2.polylines(pixels, [np.array([(60 + 8 * i, 460 + (14 if i % 2 else -14)) for i in range(20)])], False, 0, 2)
    kinds = [region.kind for region in located(reading((50, 500, "Signature")), pixels).regions]
    assert "Signature" in kinds


def test_bars_that_an_engine_took_for_words_are_dropped() -> None:
    code = Region("QR_Bar_Code", (40, 40, 400, 100), 1.0, ("barcode",))
    made = located(reading((60, 50, "||| |||"), (60, 200, "Hb"), codes=(code,)), page())
    assert ([word.text for word in made.words], made.regions) == (["Hb"], [code])


def test_a_rule_that_was_read_as_a_letter_does_not_hide_a_label() -> None:
    assert values((50, 50, "| MRN"), (250, 50, "447102")) == {("MEDICAL_RECORD_NUMBER", "447102")}

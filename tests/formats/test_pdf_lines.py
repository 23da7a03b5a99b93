"""PDF: where a line goes if words of it change, and the lines, marks, and frames around its words."""

from __future__ import annotations

import io

import pypdfium2
import pytest

from incognote.formats.base import TextEdit
from incognote.formats.pdf.document import PdfDocument, saved

from .samples.pdf import page

NAMES = ("Li", "Jane Doe", "Featherstonhaugh")
Box = tuple[float, float, float, float]


def _of(content: str) -> bytes:
    import pikepdf

    pdf = pikepdf.new()
    page(pdf, content.encode("latin-1"))
    return saved(pdf)


def _show(text: str, x: float, y: float, size: float = 10) -> str:
    return f"BT /F1 {size} Tf {x:.3f} {y:.3f} Td ({text}) Tj ET"


def _width(text: str) -> float:
    from reportlab.pdfbase.pdfmetrics import stringWidth  # type: ignore[import-untyped]  # ships no types

    return float(stringWidth(text, "Helvetica", 10))


def _replaced(data: bytes, words: str, new: str = "[NAME]") -> bytes:
    document, out = PdfDocument(data), io.BytesIO()
    at = document.texts[0].content.index(words)
    document.rebuild([TextEdit("body", at, at + len(words), new)], out)
    return out.getvalue()


def _box(data: bytes, word: str) -> Box:
    """Return the box of a word in points."""
    with pypdfium2.PdfDocument(data) as pdf:
        text = pdf[0].get_textpage()
        at = text.get_text_range().index(word)
        boxes = [text.get_charbox(at + i, loose=True) for i in range(len(word))]
        return boxes[0][0], boxes[0][1], boxes[-1][2], boxes[-1][3]


def _drawn(data: bytes) -> list[tuple[float, ...]]:
    """Return the boxes of the painted paths, to a point."""
    with pypdfium2.PdfDocument(data) as pdf:
        return [tuple(round(side) for side in each.get_bounds()) for each in pdf[0].get_objects() if each.type == 2]


BODY = "\n".join(_show(text, 60, 500 - 14 * i) for i, text in enumerate(("The lungs are clear.", "He takes aspirin.")))


@pytest.mark.parametrize("name", NAMES)
def test_a_centered_title_stays_centered(name: str) -> None:
    out = _replaced(_of(f"{_show(name, 297.5 - _width(name) / 2, 700)}\n{BODY}"), name)
    left, _, right, _ = _box(out, "[NAME]")
    assert (left + right) / 2 == pytest.approx(297.5, abs=0.1)


@pytest.mark.parametrize("name", NAMES)
def test_a_centered_line_among_others_moves_as_a_whole(name: str) -> None:
    lines = ("Ward 3 of the hospital", f"Letter on {name}, seen at home", "Monday")
    content = "\n".join(_show(text, 200 - _width(text) / 2, 700 - 14 * i) for i, text in enumerate(lines))
    out = _replaced(_of(content), name)
    assert (_box(out, "Letter")[0] + _box(out, "home")[2]) / 2 == pytest.approx(200, abs=0.1)


@pytest.mark.parametrize("name", NAMES)
def test_a_line_at_the_right_edge_still_ends_there(name: str) -> None:
    rows = ("Ward 3", f"Seen by {name}", "4.1")
    content = "\n".join(_show(text, 535 - _width(text), 700 - 14 * i) for i, text in enumerate(rows))
    out = _replaced(_of(content), name)
    assert _box(out, "[NAME]")[2] == pytest.approx(535, abs=0.1)


@pytest.mark.parametrize("name", NAMES)
def test_a_line_at_the_left_edge_still_begins_there(name: str) -> None:
    data = _of("\n".join(_show(text, 60, 700 - 14 * i) for i, text in enumerate(("Ward 3", f"Seen by {name}", "4.1"))))
    assert _box(_replaced(data, name), "Seen") == _box(data, "Seen")


def test_words_before_an_edit_stay_where_they_were_in_a_line_with_plain_spaces() -> None:
    data = _of(_show("Seen with Dr. Li on Monday", 60, 700))
    out = _replaced(data, "Li")
    assert _box(out, "with") == _box(data, "with")
    assert _box(out, "Monday")[0] > _box(data, "Monday")[0] + 5


def test_all_words_of_a_line_with_wide_spaces_get_equal_ones() -> None:
    starts = set()
    for name in NAMES:
        text = f"Seen with Dr. {name} on the ward and at home today for asthma"
        added = (400 - _width(text)) / text.count(" ")
        data = _of(f"BT /F1 10 Tf {added:.3f} Tw 60 700 Td ({text}) Tj ET")
        out = _replaced(data, name)
        starts.add((round(_box(out, "with")[0], 1), round(_box(out, "asthma")[0], 1)))
    assert len(starts) == 1


@pytest.mark.parametrize("name", NAMES)
def test_an_underline_a_mark_and_a_frame_get_the_width_of_the_new_words(name: str) -> None:
    start, width = 60 + _width("Seen by "), _width(name)
    shapes = (
        f"{start:.3f} 698 m {start + width:.3f} 698 l S", f"{start:.3f} 697 {width:.3f} 11 re f",
        f"{start - 2:.3f} 696 {width + 4:.3f} 13 re S",
    )  # fmt: skip
    for shape in shapes:
        data = _of(f"q 1 1 0 rg {shape} Q\n{_show(f'Seen by {name} on Monday', 60, 700)}")
        [(left, _, right, _)] = _drawn(_replaced(data, name))
        box = _box(_replaced(data, name), "[NAME]")
        assert left == pytest.approx(box[0], abs=3.6)
        assert right == pytest.approx(box[2], abs=3.6)


def test_a_rule_over_the_page_and_the_walls_of_a_table_stay() -> None:
    walls = "\n".join(f"{x} 660 m {x} 712 l S" for x in (56, 120, 200))
    rules = "\n".join(f"56 {y} m 200 {y} l S" for y in (660, 677, 695, 712))
    cells = "\n".join(_show(text, x, y) for text, x, y in (("Li", 60, 700), ("4.1", 124, 700), ("Bo", 60, 682)))
    data = _of(f"{walls}\n{rules}\n50 640 m 545 640 l S\n{cells}")
    out = _replaced(data, "Li")
    assert _drawn(out) == _drawn(data)
    assert _box(out, "4.1") == _box(data, "4.1")


def test_new_words_stay_within_the_walls_of_their_cell() -> None:
    walls = "\n".join(f"{x} 660 m {x} 712 l S" for x in (56, 90, 120))
    cells = "\n".join(_show(text, x, y) for text, x, y in (("Al Ray", 59, 700), ("128", 93, 700), ("Bo", 59, 682)))
    data = _of(f"{walls}\n{cells}")
    out = _replaced(data, "Al Ray", "[PERSON]")
    assert _box(out, "[PERSON]")[2] < 90
    assert _box(out, "128") == _box(data, "128")


def test_an_exponent_follows_the_new_words() -> None:
    name = "Featherstonhaugh"
    at = 60 + _width(name)
    data = _of("\n".join((_show(name, 60, 700), _show("1", at, 704, 6), _show(" was well", at + 3.4, 700))))
    out = _replaced(data, name)
    assert _box(out, "[NAME]")[2] == pytest.approx(_box(out, "1")[0], abs=0.2)
    assert _box(out, "1")[2] < _box(out, "was")[0]


def test_new_words_stay_within_the_area_that_is_shown() -> None:
    data = _of(f"q 50 600 80 200 re W n {_show('Seen by Li', 60, 700)} Q")
    assert _box(_replaced(data, "Li", "[MEDICAL_RECORD_NUMBER]"), "[MEDICAL_RECORD_NUMBER]")[2] < 130.1

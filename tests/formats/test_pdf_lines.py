"""PDF: where a line goes if words of it change, and the lines, marks, and frames around its words."""

from __future__ import annotations

import io

import pikepdf
import pypdfium2
import pytest
from pikepdf import Array, Dictionary, Name

from incognote.formats.base import TextEdit
from incognote.formats.pdf.document import PdfDocument, saved

from .samples.pdf import page

NAMES = ("Li", "Jane Doe", "Featherstonhaugh")
Box = tuple[float, float, float, float]


def _of(content: str) -> bytes:
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


def test_oblique_labels_of_columns_begin_where_they_did() -> None:
    turned = "BT /F1 10 Tf 0.5 0.86603 -0.86603 0.5 {} 500 Tm ({}) Tj ET"
    labels = ("Monday", "Friday", "Featherston")
    data = _of("\n".join(turned.format(100 + 80 * i, label) for i, label in enumerate(labels)))
    assert _box(_replaced(data, "Featherston"), "[")[:2] == pytest.approx(_box(data, "Feather")[:2], abs=1.5)


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


WATERMARK = 9 * _width("Okonjo")  # in points, at a size of 90


@pytest.mark.parametrize(
    "turn", ["0.70711 0.70711 -0.70711 0.70711 110 560", f"0 1 -1 0 150 {652 - WATERMARK}", "1 0 0 1 60 695"]
)
def test_the_lines_of_a_table_under_a_watermark_stay(turn: str) -> None:
    rules = "\n".join(f"56 {y} m 250 {y} l S" for y in (660, 677, 695, 712))
    cells = "\n".join(_show(text, 60, y) for text, y in (("Asthma", 700), ("Gout", 682), ("Cough", 665)))
    data = _of(f"{rules}\n{cells}\nq {turn} cm BT /F1 90 Tf 0 0 Td (Okonjo) Tj ET Q")
    assert _drawn(_replaced(data, "Okonjo")) == _drawn(data)


@pytest.mark.parametrize("name", NAMES)
def test_an_underline_under_a_watermark_gets_the_width_of_the_new_words(name: str) -> None:
    line = f"60 498 m {60 + _width(name):.3f} 498 l S\n{_show(name, 60, 500)}"
    data = _of(f"{line}\nq 0 -1 1 0 100 {506 + WATERMARK} cm BT /F1 90 Tf 0 0 Td (Okonjo) Tj ET Q")
    document, out = PdfDocument(data), io.BytesIO()
    text = document.texts[0].content
    edits = [TextEdit("body", text.index(each), text.index(each) + len(each), "[NAME]") for each in (name, "Okonjo")]
    document.rebuild(edits, out)
    [(left, _, right, _)] = _drawn(out.getvalue())
    assert (left, right) == (59, round(60 + _width("[NAME]") + 0.9))


def test_an_underline_in_the_line_above_stays_under_its_words() -> None:
    start = 60 + _width("He takes ")
    underline = f"{start:.3f} 698 m {start + _width('aspirin'):.3f} 698 l S"
    data = _of(f"{underline}\n{_show('He takes aspirin for his heart.', 60, 700)}\n{_show('Al Ray saw him.', 60, 688)}")
    assert _drawn(_replaced(data, "Al Ray")) == _drawn(data)


@pytest.mark.parametrize("name", NAMES)
def test_a_frame_that_touches_the_line_above_gets_the_width_of_the_new_words(name: str) -> None:
    left, right = 57 + _width("Seen by "), 63 + _width(f"Seen by {name}")
    frame = "\n".join(f"{left:.3f} {y} m {right:.3f} {y} l S" for y in (697, 710))
    above = _show("The film of the chest is clear and normal.", 60, 712)
    data = _of(f"{frame}\n{above}\n{_show(f'Seen by {name}', 60, 700)}")
    assert _drawn(_replaced(data, name)) == [(95, 696, 138, 698), (95, 709, 138, 711)]


@pytest.mark.parametrize("name", NAMES)
def test_words_that_begin_where_the_line_above_ends_are_not_a_cell(name: str) -> None:
    first = f"Seen by {name}."
    at = 60 + _width(first) + 8
    above = _show("Ward 3", at - _width("Ward 3"), 712)
    data = _of(f"{above}\n{_show(first, 60, 700)}\n{_show('He is well.', at, 700)}")
    out = _replaced(data, name)
    assert _box(out, "He is")[0] - _box(out, "[NAME].")[2] == pytest.approx(8, abs=0.5)


def test_the_mark_of_words_that_go_from_a_second_line_goes_too() -> None:
    wide = _width("Featherstonhaugh")
    marks = f"1 1 0 rg 60 684 {wide:.3f} 11 re f 60 685 m {60 + wide:.3f} 685 l S 0 g"
    first = "The lungs are clear, and today she was seen by her doctor Anselm"
    text = f"{_show(first, 60, 700)}\n{_show('Featherstonhaugh, who gave her aspirin and saw her again.', 60, 687)}"
    assert _drawn(_replaced(_of(f"{marks}\n{text}"), "Anselm Featherstonhaugh")) == []


def _annotated(content: str, *annotations: tuple[str, Box]) -> bytes:
    """Return a page with annotations, each with its appearance and the place of its words."""
    pdf = pikepdf.new()
    added = page(pdf, content.encode("latin-1"))
    added.obj.Annots = pdf.make_indirect(Array())
    for kind, (left, low, right, high) in annotations:
        form = pdf.make_stream(f"{left} {low} {right - left} {high - low} re f".encode())
        form.Type, form.Subtype, form.BBox = Name.XObject, Name.Form, Array(map(round, (left, low, right, high)))
        each = Dictionary(Type=Name.Annot, Subtype=Name(f"/{kind}"), Rect=Array(map(round, (left, low, right, high))))
        if kind == "Link":
            each.Dest = Array([added.obj, Name.Fit])
        else:
            each.QuadPoints = Array(map(round, (left, high, right, high, left, low, right, low)))
            each.AP = Dictionary(N=form)
        added.obj.Annots.append(pdf.make_indirect(each))
    return saved(pdf)


@pytest.mark.parametrize("name", NAMES)
def test_links_and_highlights_get_the_width_of_the_new_words(name: str) -> None:
    start = 60 + _width("Seen by ")
    box = (start, 698.0, start + _width(name), 709.0)
    after = 60 + _width(f"Seen by {name} on ")
    data = _annotated(_show(f"Seen by {name} on Monday", 60, 700), ("Highlight", box), ("Link", box),
                      ("Underline", (after, 698.0, after + _width("Monday"), 709.0)))  # fmt: skip
    out = _replaced(data, name)
    with pikepdf.open(io.BytesIO(out)) as pdf:
        found = [[float(side) for side in each.Rect] for each in pdf.pages[0].Annots]
        for each, word in zip(found, ("[NAME]", "[NAME]", "Monday"), strict=True):
            assert each[0::2] == pytest.approx(_box(out, word)[0::2], abs=1.2)
        assert [float(side) for side in pdf.pages[0].Annots[0].QuadPoints[0:3:2]] == found[0][0::2]
        assert not any("/AP" in each for each in pdf.pages[0].Annots)


def test_a_link_at_other_words_stays() -> None:
    box = (60.0, 684.0, 200.0, 695.0)
    data = _annotated(f"{_show('Seen by Li.', 60, 700)}\n{_show('The lungs are clear.', 60, 687)}", ("Link", box))
    with pikepdf.open(io.BytesIO(_replaced(data, "Li"))) as pdf:
        assert [float(side) for side in pdf.pages[0].Annots[0].Rect] == list(box)


@pytest.mark.parametrize("name", NAMES)
def test_an_indented_line_of_a_narrow_column_begins_where_it_did(name: str) -> None:
    lines = (72, f"Dr. {name} saw her today"), (60, "because her cough had lasted"), (60, "for three weeks at home")
    content = [f"BT /F1 10 Tf {(200 - x - _width(text)) / text.count(' '):.3f} Tw {x} {700 - 12 * i} Td ({text}) Tj ET"
               for i, (x, text) in enumerate(lines)]  # fmt: skip
    data = _of("\n".join(content))
    assert _box(_replaced(data, name), "Dr.")[0] == pytest.approx(72, abs=0.1)


def test_a_title_over_a_table_is_not_set_from_the_center_of_a_cell() -> None:
    title = "Ward list of Okonjo"
    center = 60 + _width(title) / 2
    walls = "\n".join(f"{x} 640 m {x} 690 l S" for x in (58, center - 40, center + 40, 400))
    cells = "\n".join(_show(text, center - _width(text) / 2, y) for text, y in (("Drug", 678), ("Aspirin", 660)))
    data = _of(f"{walls}\n{_show(title, 60, 700)}\n{cells}")
    assert _box(_replaced(data, "Okonjo"), "Ward")[0] == pytest.approx(_box(data, "Ward")[0], abs=0.1)

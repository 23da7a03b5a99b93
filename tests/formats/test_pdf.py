"""PDF: the text of a page in reading order, what is written in its place, and what is removed or refused."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pikepdf
import pypdfium2
import pytest
from pikepdf import Array, Dictionary, Name, Pdf, String

from incognote.errors import MalformedRecord, RecordProblem, UnsupportedFormat
from incognote.formats.base import Edit, FieldEdit, TextEdit, texts_of
from incognote.formats.pdf import closed
from incognote.formats.pdf.document import PdfDocument, saved
from incognote.formats.registry import of_content, open_one, second_reading
from incognote_benchmarks.documents import corpus, left_in, pattern, views

from .samples.pdf import page

DATA = Path(__file__).parents[1] / "data"
CORPUS = [file for file in corpus(DATA / "documents") if file.path.suffix == ".pdf"]
FOLDER = DATA / "documents" / "pdf"


def _bytes(pdf: Pdf) -> bytes:
    out = io.BytesIO()
    pdf.save(out, deterministic_id=True)
    return out.getvalue()


def _of(content: str) -> bytes:
    pdf = pikepdf.new()
    page(pdf, content.encode("latin-1"))
    return _bytes(pdf)


def _lines(*lines: str) -> str:
    return "\n".join(f"BT /F1 10 Tf 50 {800 - 13 * i} Td ({line}) Tj ET" for i, line in enumerate(lines))


def _text(data: bytes, field: str = "body") -> str:
    return {text.field: text.content for text in PdfDocument(data).texts}.get(field, "")


def _written(data: bytes, *edits: TextEdit) -> bytes:
    document, out = PdfDocument(data), io.BytesIO()
    fields = [FieldEdit(action, f"[{action.entity_type}]") for action in document.actions]
    document.rebuild([*edits, *fields], out)
    again = PdfDocument(out.getvalue())
    unchanged = io.BytesIO()
    again.rebuild([FieldEdit(action, action.text.content) for action in again.actions], unchanged)
    assert unchanged.getvalue() == out.getvalue()  # what is removed once is gone
    return out.getvalue()


def _replaced(data: bytes, words: str, new: str) -> bytes:
    at = _text(data).index(words)
    return _written(data, TextEdit("body", at, at + len(words), new))


def _words(data: bytes, number: int = 0) -> str:
    """Return the text of a page as PDFium reads it."""
    with pypdfium2.PdfDocument(data) as pdf:
        return str(pdf[number].get_textpage().get_text_bounded())


def _left_of(data: bytes, word: str) -> float:
    """Return where a word begins on the first page, in points from the left."""
    with pypdfium2.PdfDocument(data) as pdf:
        text = pdf[0].get_textpage()
        at = text.get_text_range().index(word)
        return float(text.get_charbox(at)[0])


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("BT /F1 10 Tf 50 700 Td (Jane ) Tj (Doe) Tj ET", "Jane Doe"),
        ("BT /F1 10 Tf 50 700 Td [(Ja) 20 (ne) -280 (Doe)] TJ ET", "Jane Doe"),
        ("BT /F1 10 Tf 1 0 0 1 50 700 Tm (Ja) Tj ET BT /F1 10 Tf 60.6 700 Td (ne Doe) Tj ET", "Jane Doe"),
        ("BT /F1 10 Tf 12 TL 50 700 Td (Name: Doe) Tj T* (MRN 7) Tj (MRN 8) ' ET", "Name: Doe\nMRN 7\nMRN 8"),
        ("BT /F1 10 Tf 50 700 Td (Name) Tj 100 0 Td (Doe) Tj ET", "Name\tDoe"),
        ("BT /F1 10 Tf 3 Tr 50 700 Td (hidden) Tj ET", "hidden"),
        ("BT /F1 10 Tf 0 1 -1 0 50 700 Tm (upwards) Tj ET", "upwards"),
        ("BT /F1 10 Tf 5 Tc 50 700 Td (Jane) Tj ET", "Jane"),
        ("BT /F1 10 Tf 50 700 Td (Siobh) Tj (\xb4) Tj -0 0 Td ET", "Siobh\xb4"),
        ("q 2 0 0 2 0 0 cm BT /F1 5 Tf 25 350 Td (Jane) Tj ET Q BT /F1 10 Tf 75 700 Td (Doe) Tj ET", "Jane Doe"),
        ("BT /F1 10 Tf 50 700 Td (B) Tj 0.3 0 Td (B) Tj ET", "B"),
    ],
)
def test_a_page_reads_as_it_is_shown(content: str, text: str) -> None:
    assert _text(_of(content)) == text


def test_a_line_that_is_full_goes_on_in_the_next_one() -> None:
    full = ["Thank you for sending this man of seventy years with shortness of breath to us. He was seen by Jane",
            "Doe and had a pulse of 80. He takes aspirin and walks every day, and was well when he left the ward",
            "Monday.", "Plan: nothing."]  # fmt: skip
    assert _text(_of(_lines(*full))) == f"{full[0]} {full[1]} {full[2]}\n{full[3]}"


def test_a_divided_word_is_read_in_one_piece_and_goes_in_one_piece() -> None:
    data = _of(_lines("seen by Dr. Feather-", "stonhaugh today, Smith-", "Jones"))
    assert _text(data) == "seen by Dr. Featherstonhaugh today, Smith-Jones"
    out = _words(_replaced(data, "Featherstonhaugh", "[NAME]"))
    assert "Feather" not in out
    assert "stonhaugh" not in out
    assert " ".join(out.split()) == "seen by Dr. [NAME] today, Smith\x02Jones"  # PDFium's hyphen


def test_columns_are_read_one_after_the_other_if_the_file_writes_them_so() -> None:
    left = "\n".join(f"BT /F1 10 Tf 50 {700 - 13 * i} Td (left {i}) Tj ET" for i in range(3))
    right = "\n".join(f"BT /F1 10 Tf 300 {700 - 13 * i} Td (right {i}) Tj ET" for i in range(3))
    assert _text(_of(f"{left}\n{right}")) == "left 0\nleft 1\nleft 2\nright 0\nright 1\nright 2"


def test_letters_in_any_order_are_read_by_their_places() -> None:
    words = "Jane Doe was seen on Monday by Dr. Roe and takes aspirin"
    letters = [(c, 50 + 8 * i) for i, c in enumerate(words) if c != " "]
    scattered = sorted(letters, key=lambda letter: hash((letter[1] * 7919) % 101))
    content = "\n".join(f"BT /F2 10 Tf {x} 700 Td ({c}) Tj ET" for c, x in scattered)
    pdf = pikepdf.new()
    fonts = page(pdf, content.encode()).Resources.Font
    fonts.F2 = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Courier, Encoding=Name.WinAnsiEncoding)
    assert _text(_bytes(pdf)).replace(" ", "") == words.replace(" ", "")


def test_new_words_leave_a_gap_that_does_not_tell_the_length_of_the_old_ones() -> None:
    starts = set()
    for name in ("Doe", "Featherstonhaugh-Cholmondeley", "Li"):
        data = _of(_lines(f"Seen by Dr. {name} today for asthma", "Lungs clear."))
        out = _replaced(data, name, "[NAME]")
        assert _words(out).split() == ["Seen", "by", "Dr.", "[NAME]", "today", "for", "asthma", "Lungs", "clear."]
        starts.add(round(_left_of(out, "today"), 1))
        assert _left_of(out, "Lungs") == _left_of(data, "Lungs")
        assert name.encode() not in out
    assert len(starts) == 1


def test_new_words_stay_out_of_the_next_cell() -> None:
    data = _of("BT /F1 10 Tf 50 700 Td (Li) Tj 40 0 Td (71 years) Tj ET")
    out = _replaced(data, "Li", "[MEDICAL_RECORD_NUMBER]")
    assert _text(out).split() == ["[MEDICAL_RECORD_NUMBER]", "71", "years"]
    assert _left_of(out, "71") == _left_of(data, "71")


def test_new_words_get_the_font_of_the_old_ones_or_one_like_it() -> None:
    data = _of("BT /F1 10 Tf 50 700 Td (Doe) Tj ET")
    with pikepdf.open(io.BytesIO(_replaced(data, "Doe", "Müller"))) as pdf:
        assert set(pdf.pages[0].Resources.Font.keys()) == {"/F1"}
    produced = (FOLDER / "tex-consent-form.pdf").read_bytes()
    word = _text(produced).split()[0]
    with pikepdf.open(io.BytesIO(_replaced(produced, word, "[QQQ]"))) as pdf:
        assert any(key.startswith("/StdTimes") for key in pdf.pages[0].Resources.Font.keys())  # noqa: SIM118 -- not a dict


def test_new_words_that_no_font_has_are_refused() -> None:
    data = _of("BT /F1 10 Tf 50 700 Td (Doe) Tj ET")
    with pytest.raises(UnicodeEncodeError):
        _replaced(data, "Doe", "Łukasz")


def test_everything_around_the_pages_is_scanned_renamed_or_removed() -> None:
    pdf = pikepdf.new()
    first = page(pdf, _lines("Lungs clear").encode())
    with pdf.open_metadata() as metadata:
        metadata["dc:title"] = "Doe"
    pdf.docinfo["/Title"] = "Letter for Doe"
    pdf.docinfo["/Author"] = "Ann Lee"
    pdf.docinfo["/Producer"] = "LibreOffice 7.4"
    pdf.docinfo["/Patient"] = "Doe"
    with pdf.open_outline() as outline:
        outline.root.append(pikepdf.OutlineItem("Chart of Doe", 0))
    pdf.Root.OpenAction = Dictionary(S=Name.JavaScript, JS=String("Doe"))
    pdf.Root.PieceInfo = Dictionary(Doe=Dictionary())
    pdf.Root.PageLabels = Dictionary(Nums=Array([0, Dictionary(P=String("Doe "), S=Name.D)]))
    field = pdf.make_indirect(Dictionary(
        FT=Name.Tx, T=String("Doe.name"), TU=String("Name of the patient"), V=String("Jane Doe"), Subtype=Name.Widget,
        Type=Name.Annot, Rect=Array([50, 500, 200, 520]),
    ))  # fmt: skip
    pdf.Root.AcroForm = Dictionary(Fields=Array([field]))
    note = Dictionary(Type=Name.Annot, Subtype=Name.Text, Rect=Array([0, 0, 9, 9]), Contents=String("Call Doe"),
                      T=String("Ann Lee"), M=String("D:20240101"), NM=String("Doe"))  # fmt: skip
    link = Dictionary(Type=Name.Annot, Subtype=Name.Link, Rect=Array([0, 0, 9, 9]),
                      A=Dictionary(S=Name.URI, URI=String("https://example.org/Doe")))  # fmt: skip
    first.Annots = Array([field, pdf.make_indirect(note), pdf.make_indirect(link)])
    first.Thumb = pdf.make_stream(b"Doe")
    data = _bytes(pdf)
    document = PdfDocument(data)
    assert {text.field: text.content for text in document.texts} == {
        "body": "Lungs clear", "info.title": "Letter for Doe", "bookmarks": "Chart of Doe",
        "form": "Name of the patient\tJane Doe", "annotations": "Call Doe",
    }  # fmt: skip
    assert [(action.text.field, action.text.content) for action in document.actions] == [("info.author", "Ann Lee")]
    assert [known.value for known in document.known] == ["Ann Lee"]
    edits = [TextEdit(text.field, text.content.index("Doe"), text.content.index("Doe") + 3, "Roe")
             for text in document.texts if "Doe" in text.content]  # fmt: skip
    out = _written(data, *edits)
    assert not left_in(views(out, "application/pdf"), ["Doe", "Ann Lee", "20240101"])
    with pikepdf.open(io.BytesIO(out)) as after:
        assert str(after.docinfo["/Title"]) == "Letter for Roe"
        assert str(after.docinfo["/Producer"]) == "LibreOffice 7.4"
        assert str(after.Root.AcroForm.Fields[0].V) == "Jane Roe"
        assert {str(each.Subtype) for each in after.pages[0].Annots} == {"/Widget", "/Text"}
        assert after.Root.keys() <= closed.keys("catalog")


def test_an_attached_file_is_opened_and_gets_a_number_as_its_name() -> None:
    pdf = pikepdf.new()
    page(pdf, _lines("Lungs clear").encode())
    pdf.attachments["Doe.txt"] = pikepdf.AttachedFileSpec(pdf, b"Seen by Doe", filename="Doe.txt", description="Doe")
    document = PdfDocument(_bytes(pdf))
    [attached] = [text for text in texts_of(document) if text.content == "Seen by Doe"]
    out = io.BytesIO()
    document.rebuild([TextEdit(attached.field, 8, 11, "Roe")], out)
    with pikepdf.open(io.BytesIO(out.getvalue())) as after:
        assert {key: spec.get_file().read_bytes() for key, spec in after.attachments.items()} == {
            "attachment1.txt": b"Seen by Roe"
        }
    assert b"Doe" not in out.getvalue()


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("encrypted-with-password", UnsupportedFormat, "encrypted"),
        ("signed", UnsupportedFormat, "signed"),
        ("xfa", UnsupportedFormat, "XFA"),
        ("scan", UnsupportedFormat, "picture"),
        ("barcode", UnsupportedFormat, "barcode"),
        ("drawn-letters", UnsupportedFormat, "shapes"),
        ("no-map", MalformedRecord, "font"),
        ("wrong-map", MalformedRecord, "font"),
        ("bomb-content", MalformedRecord, "unpacked"),
        ("bomb-objects", MalformedRecord, "unpacked"),
        ("bomb-forms", MalformedRecord, "forms"),
        ("form-in-itself", MalformedRecord, "itself"),
        ("content-in-another-file", MalformedRecord, "another file"),
        ("truncated", MalformedRecord, "read"),
        ("vertical", MalformedRecord, "vertical"),
        ("tiles", MalformedRecord, "pattern"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(name: str, error: type[RecordProblem], message: str) -> None:
    with pytest.raises(error, match=message):
        PdfDocument((FOLDER / f"{name}.pdf").read_bytes())


def test_every_file_that_must_be_held_is_refused_or_fails_its_second_reading() -> None:
    by_verdict = {"scattered-letters.pdf", "right-to-left.pdf"}  # a picture page, and a language without a package
    held = [file for file in CORPUS if file.held and file.path.name not in by_verdict]
    assert len(held) > 20
    for file in held:
        with pytest.raises(RecordProblem):
            open_one(file.path.read_bytes(), file.media_type)


def test_a_file_is_recognized_by_its_content() -> None:
    assert of_content(_of(_lines("a"))[:8192]).name == "pdf"


def test_the_second_reader_sees_pages_bookmarks_fields_and_strings() -> None:
    pdf = pikepdf.new()
    page(pdf, _lines("Anna").encode())
    pdf.docinfo["/Subject"] = "Ben"
    pdf.Root.Odd = Dictionary(Odd=String("Cara"), Wide=String("Dörte Ωμ"))
    with pdf.open_outline() as outline:
        outline.root.append(pikepdf.OutlineItem("Eva", 0))
    seen = "\n".join(second_reading(saved(pdf), "application/pdf")).splitlines()
    assert {"Anna", "Ben", "Cara", "Dörte Ωμ", "Eva"} <= set(seen)


def test_given_identifiers_are_gone_from_every_object_of_the_corpus() -> None:
    opened = 0
    for file in CORPUS:
        if file.held:
            continue
        try:
            document = PdfDocument(file.path.read_bytes())
        except RecordProblem:
            continue
        opened += 1
        edits: list[Edit] = [FieldEdit(action, "[NAME]") for action in document.actions]
        for text in document.texts:
            taken = 0
            sought = {each for words in file.identifiers for each in (words, words.replace("'", "\u2019"))}
            places = {m.span() for words in sought for m in pattern(words).finditer(text.content)}
            for start, end in sorted(places, key=lambda place: (place[0], -place[1])):
                if start >= taken:
                    edits.append(TextEdit(text.field, start, end, "[ID]"))
                    taken = end
        if document.children:
            continue  # their texts are those of other formats
        out = io.BytesIO()
        document.rebuild(edits, out)
        shown = [_words(out.getvalue(), number) for number in range(len(document.pages))]
        long = [words for words in file.sought if len(words) > 4 and not words.islower()]  # numbers and names of glyphs
        left = left_in([*shown, out.getvalue().decode("latin-1")], long)
        assert not left, file.path.name
    assert opened > 130


def test_a_note_in_a_pdf_reads_as_in_plain_text() -> None:
    rows = [json.loads(row) for row in (FOLDER / "gold.jsonl").read_text(encoding="utf-8").splitlines()]
    [row] = [row for row in rows if row["file"] == "lo-text-0.pdf"]
    assert _text((FOLDER / "lo-text-0.pdf").read_bytes()).split() == row["note"].split()

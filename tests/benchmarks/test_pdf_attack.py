"""The attacks on redacted PDFs find what naive redactions leave, and nothing in a sound one."""

from __future__ import annotations

import io
import json
import string
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pikepdf
import pytest
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfgen import canvas

from incognote_benchmarks.pdf_attack import Attacked, Pair, attacked, figures
from incognote_benchmarks.pdf_gaps import gaps, revealed
from incognote_benchmarks.pdfium import opened, words

NAMES = ("Johanna Wexford", "Maria Huber", "Bill Ito", "Christopher Featherstone", "Ann Lee", "Oluwaseun Adeyemi",
         "Gregory Santos", "Mia Li", "Wilhelmina Abernathy")  # fmt: skip
NAME = pikepdf.Name
FONT, SIZE, LEFT = "Helvetica", 11, 60
REPLACEMENT = "[NAME]"


def _page(
    redact: Callable[[canvas.Canvas, float, float, str], float] | None = None,
    more: Callable[[canvas.Canvas], None] = lambda page: None,
    compress: int = 1,
) -> bytes:
    """Return a PDF with a line for each name. `redact` draws what replaces it, and returns where the text goes on."""
    out = io.BytesIO()
    page = canvas.Canvas(out, pagesize=(420, 400), pageCompression=compress)
    page.setFont(FONT, SIZE)
    for i, name in enumerate(NAMES):
        x, y = LEFT, 350 - 30 * i
        for text in ("The patient ", name, " was seen today."):
            if text == name and redact is not None:
                x = redact(page, x, y, name)
            else:
                page.drawString(x, y, text)
                x += pdfmetrics.stringWidth(text, FONT, SIZE)
    more(page)
    page.save()
    return out.getvalue()


def _gone(page: canvas.Canvas, x: float, y: float, name: str) -> float:
    """Remove a name and leave a gap of its width."""
    return x + pdfmetrics.stringWidth(name, FONT, SIZE)


def _fixed(page: canvas.Canvas, x: float, y: float, name: str) -> float:
    """Draw a box of a fixed width with a label."""
    page.rect(x, y - 2, 60, SIZE, fill=0)
    page.drawString(x + 2, y, REPLACEMENT)
    return x + 60


def _under_box(page: canvas.Canvas, x: float, y: float, name: str) -> float:
    page.drawString(x, y, name)
    width = pdfmetrics.stringWidth(name, FONT, SIZE)
    page.rect(x, y - 3, width, SIZE + 2, fill=1)
    return x + width


ORIGINAL = _page()


def _attacked(output: bytes, original: bytes = ORIGINAL) -> Attacked:
    return attacked(Pair("test.pdf", original, output, NAMES))


def _edited(data: bytes, edit: Callable[[pikepdf.Pdf], None], **options: object) -> bytes:
    out = io.BytesIO()
    with pikepdf.open(io.BytesIO(data)) as pdf:
        edit(pdf)
        pdf.save(out, **options)  # type: ignore[arg-type]  # the options of pikepdf
    return out.getvalue()


def test_a_sound_redaction_with_fixed_boxes_gives_nothing_back() -> None:
    result = _attacked(_page(_fixed))
    assert {attack: found for attack, found in result.found.items() if found} == {}
    for attack in ("copy and paste", "raw", "layout", "pdfium", "pypdf", "objects"):
        assert result.sought[attack] == set(NAMES)
    assert result.counts["removed_words"] == sum(len(word) >= 4 for name in NAMES for word in name.split())
    report = figures([result])
    assert report["faults"] == []
    assert {each["found"] for each in report["attacks"].values()} == {0}


def test_text_under_a_black_box_is_found_as_text_and_as_a_picture() -> None:
    result = _attacked(_page(_under_box))
    for attack in ("copy and paste", "raw", "layout", "pdfium", "pypdf", "objects", "boxes"):
        assert result.found[attack] == set(NAMES), attack


def test_glyphs_drawn_as_an_image_under_a_black_box_are_found() -> None:
    with opened(ORIGINAL) as document:
        picture = document[0].render(scale=3).to_pil()

    def draw(page: canvas.Canvas) -> None:
        from reportlab.lib.utils import ImageReader

        page.drawImage(ImageReader(picture), 0, 0, 420, 400)
        for i, name in enumerate(NAMES):
            x = LEFT + pdfmetrics.stringWidth("The patient ", FONT, SIZE)
            page.rect(x, 347 - 30 * i, pdfmetrics.stringWidth(name, FONT, SIZE), SIZE + 2, fill=1)

    result = _attacked(_page(_gone, draw))
    assert result.found["copy and paste"] == set()
    assert result.found["covered"] == set(NAMES) - {"Ann Lee", "Mia Li"}  # words of three letters are left out


def test_an_earlier_revision_is_found() -> None:
    update = _page(_gone)
    result = _attacked(ORIGINAL + update)
    assert result.found["revisions"] == set(NAMES)
    assert result.found["objects"] == set(NAMES)
    assert result.counts["earlier_revisions"] == 1


def test_unused_objects_in_object_streams_are_found() -> None:
    def hide(pdf: pikepdf.Pdf) -> None:
        pdf.Root.PieceInfo = pdf.make_indirect(pikepdf.Dictionary(Old=pikepdf.String("saw Maria Huber")))

    data = _edited(_page(_gone), hide, object_stream_mode=pikepdf.ObjectStreamMode.generate)
    assert b"Maria" not in data
    assert _attacked(data).found["objects"] == {"Maria Huber"}


def test_xmp_information_bookmarks_and_labels_are_found() -> None:
    def tell(pdf: pikepdf.Pdf) -> None:
        with pdf.open_metadata() as metadata:
            metadata["dc:title"] = "Letter on Maria Huber"
        pdf.docinfo["/Subject"] = pikepdf.String("Bill Ito")
        with pdf.open_outline() as outline:
            outline.root.append(pikepdf.OutlineItem("Ann Lee", 0))

    result = _attacked(_edited(_page(_gone), tell))
    assert result.found["metadata"] == {"Maria Huber", "Bill Ito", "Ann Lee"}


def test_annotations_form_fields_and_their_appearances_are_found() -> None:
    def add(pdf: pikepdf.Pdf) -> None:
        look = pikepdf.Stream(pdf, b"BT /F1 9 Tf (Ann) Tj 3 0 Td ( Lee) Tj ET")
        note = {"/Subtype": NAME("/Text"), "/Rect": [10, 10, 30, 30], "/Contents": pikepdf.String("Maria Huber"),
                "/AP": pikepdf.Dictionary(N=look)}  # fmt: skip
        field = {"/Subtype": NAME("/Widget"), "/FT": NAME("/Tx"), "/Rect": [40, 10, 90, 30],
                 "/T": pikepdf.String("a"), "/V": pikepdf.String("Bill Ito")}  # fmt: skip
        note, field = (pikepdf.Dictionary({"/Type": NAME("/Annot"), **each}) for each in (note, field))
        pdf.pages[0].Annots = pikepdf.Array([pdf.make_indirect(note), pdf.make_indirect(field)])
        pdf.Root.AcroForm = pikepdf.Dictionary(Fields=pikepdf.Array([pdf.pages[0].Annots[1]]))

    result = _attacked(_edited(_page(_gone), add))
    assert result.found["annotations"] >= {"Maria Huber", "Bill Ito"}
    assert result.found["objects"] >= {"Maria Huber", "Bill Ito", "Ann Lee"}


def test_a_pdf_attached_to_an_attached_archive_is_found() -> None:
    import zipfile

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.pdf", ORIGINAL)

    def attach(pdf: pikepdf.Pdf) -> None:
        pdf.attachments["old.zip"] = pikepdf.AttachedFileSpec(pdf, packed.getvalue())

    assert _attacked(_edited(_page(_gone), attach)).found["objects"] == set(NAMES)


def test_thumbnails_are_counted() -> None:
    def add(pdf: pikepdf.Pdf) -> None:
        kinds = {"/Type": NAME("/XObject"), "/Subtype": NAME("/Image"), "/ColorSpace": NAME("/DeviceRGB")}
        pdf.pages[0].Thumb = pikepdf.Stream(pdf, bytes(48), **kinds, Width=4, Height=4, BitsPerComponent=8)

    result = _attacked(_edited(_page(_gone), add))
    assert result.counts["thumbnails"] == 1
    assert figures([result])["faults"] == ["test.pdf: thumbnails: 1"]


@pytest.mark.parametrize(("letters", "count"), [("qWM", 2), ("Wq", 1), ("q", 0), (string.ascii_letters, 0)])
def test_letters_that_only_a_subset_of_a_font_still_has_are_counted(letters: str, count: int) -> None:
    def embed(pdf: pikepdf.Pdf) -> None:
        codes = "".join(f"<{i:02x}> <{ord(letter):04x}>\n" for i, letter in enumerate(letters, 1))
        cmap = pikepdf.Stream(pdf, f"{len(letters)} beginbfchar\n{codes}endbfchar".encode())
        font = pikepdf.Dictionary(Type=NAME("/Font"), Subtype=NAME("/TrueType"), ToUnicode=cmap,
                                  BaseFont=NAME("/ABCDEF+Vera"))  # fmt: skip
        pdf.pages[0].Resources.Font["/F9"] = pdf.make_indirect(font)

    result = _attacked(_edited(_page(_gone), embed))
    assert result.counts["font_subsets"] == 1
    assert result.counts["letters_of_identifiers_only_in_fonts"] == count


def test_the_gap_of_a_removed_name_reveals_it_and_a_fixed_box_does_not() -> None:
    kept = revealed(list(gaps(ORIGINAL, _page(_gone), NAMES)))
    assert (kept["before"]["gaps"], kept["after"]["gaps"]) == (len(NAMES), len(NAMES))
    assert kept["after"]["true_name_fits"] == len(NAMES)
    assert kept["after"]["candidates_left_median"] <= 40
    assert kept["after"]["bits"] > kept["after"]["bits_by_chance"] + 3
    assert kept["after"]["correlation"] > 0.999
    fixed = revealed(list(gaps(ORIGINAL, _page(_fixed), NAMES)))
    assert fixed["before"]["true_name_fits"] == len(NAMES)
    assert fixed["after"]["gaps"] == len(NAMES)
    assert fixed["after"]["true_name_fits"] <= 1
    assert fixed["after"]["bits"] <= 0.7
    assert fixed["after"]["correlation"] == 0


def test_a_box_that_adds_a_constant_to_the_width_still_reveals_the_name() -> None:
    def padded(page: canvas.Canvas, x: float, y: float, name: str) -> float:
        return _gone(page, x, y, name) + 17

    after = revealed(list(gaps(ORIGINAL, _page(padded), NAMES)))["after"]
    assert after["true_name_fits"] == len(NAMES)
    assert after["added_ems"] == pytest.approx(17 / SIZE, abs=0.01)


def test_the_end_of_a_justified_line_reveals_the_name() -> None:
    end = 380

    def justified(redacted: bool) -> bytes:
        out = io.BytesIO()
        page = canvas.Canvas(out, pagesize=(420, 400))
        page.setFont(FONT, SIZE)
        for i, name in enumerate(NAMES):
            parts = ["The", "patient", name, "was", "seen", "here", "today", "by", "phone."]
            free = end - LEFT - sum(pdfmetrics.stringWidth(part, FONT, SIZE) for part in parts)
            x, y = LEFT, 350 - 30 * i
            for part in parts:
                if part == name and redacted:
                    x = _fixed(page, x, y, part)
                else:
                    page.drawString(x, y, part)
                    x += pdfmetrics.stringWidth(part, FONT, SIZE)
                x += free / (len(parts) - 1)
        page.save()
        return out.getvalue()

    figure = revealed(list(gaps(justified(False), justified(True), NAMES)))
    assert figure["after"]["true_name_fits"] <= 1
    assert figure["after_line_end"]["true_name_fits"] == figure["after_line_end"]["gaps"] >= len(NAMES) - 1


def test_words_have_the_places_that_the_page_gives_them() -> None:
    with opened(ORIGINAL) as document:
        found = words(document[0])
    assert [word.text for word in found[:5]] == ["The", "patient", "Johanna", "Wexford", "was"]
    assert found[0].start == pytest.approx(LEFT, abs=0.01)
    assert found[1].end == pytest.approx(LEFT + pdfmetrics.stringWidth("The patient", FONT, SIZE), abs=0.05)


def test_the_command_attacks_a_pair_and_writes_the_figures(tmp_path: Path) -> None:
    for name, data in (("a.pdf", ORIGINAL), ("b.pdf", _page(_under_box))):
        (tmp_path / name).write_bytes(data)
    (tmp_path / "names.txt").write_text("\n".join(NAMES), encoding="utf-8")
    command = [sys.executable, "-m", "incognote_benchmarks.pdf_attack", "--pair", str(tmp_path / "a.pdf")]
    command += [str(tmp_path / "b.pdf"), "--names", str(tmp_path / "names.txt"), "--out", str(tmp_path / "out.json")]
    subprocess.run(command, check=True, capture_output=True)
    report = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert report["attacks"]["raw"]["found"] == len(NAMES)
    assert report["gaps"]["before"]["gaps"] == 0

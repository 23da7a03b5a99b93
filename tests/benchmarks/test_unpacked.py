"""Strings are found in every layer of an output, and what cannot be read is reported."""

from __future__ import annotations

import base64
import gzip
import io
import tarfile
import zipfile
import zlib

import pikepdf
import pytest
from reportlab.pdfgen import canvas

from incognote_benchmarks.pdf_strings import cmap_codes, pdf_literals, revisions
from incognote_benchmarks.searching import left_in, loose_pattern
from incognote_benchmarks.unpacked import unpacked

NAME = "Johanna Wexford"


def _zip(**parts: str | bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def _tar(data: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        member = tarfile.TarInfo("a")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def _pdf(text: str = NAME, *, compressed: bool = True) -> bytes:
    out = io.BytesIO()
    page = canvas.Canvas(out, pageCompression=int(compressed))
    page.drawString(50, 500, text)
    page.save()
    return out.getvalue()


def _utf16_part() -> bytes:
    return f'<?xml version="1.0" encoding="UTF-16"?><t>{NAME}</t>'.encode("utf-16")


@pytest.mark.parametrize(
    "data",
    [
        NAME.encode(),
        NAME.encode("utf-16"),
        NAME.encode("utf-16-be"),
        b"\x00\x01\x02" * 50 + NAME.encode("utf-16-le"),
        base64.b64encode(b"the patient " + NAME.encode()),
        b"{\\pict " + NAME.encode().hex().encode() + b"}",
        gzip.compress(b"x " + NAME.encode()),
        b"\x7fELF\x00\x00" + zlib.compress(NAME.encode()),
        _tar(_zip(a=NAME)),
        _zip(a="<w:r><w:t>Joh</w:t></w:r><w:r><w:t>anna Wex</w:t></w:r><w:r><w:t>ford</w:t></w:r>"),
        _zip(a="<w:p><w:r><w:t>Johanna</w:t></w:r></w:p><w:p><w:r><w:t>Wexford</w:t></w:r></w:p>"),
        _zip(a="<t>Joh&#97;nna &#x57;exford</t>"),
        _zip(a="<t><![CDATA[Joh]]>anna Wexford</t>"),
        _zip(a="<t>&lt;b&gt;Johanna&lt;/b&gt; Wex&lt;i&gt;ford</t>"),
        _zip(a="<t>Jo\u00adhanna Wex\u200bford</t>"),
        _zip(a='<Relationship Target="mailto:Johanna%20Wexford"/>'),
        _zip(a="<t>Johanna_x0020_Wexford</t>"),
        _zip(a="Joh=61nna Wex=\r\nford"),
        _zip(a=_utf16_part()),
        _zip(a=_zip(b=_zip(c=_pdf()))),
        _zip(**{f"media/{NAME}.png": b"x"}),
        _zip(a=rb"{\rtf1\ansi Joh{\b anna} Wex\'66ord}"),
        _pdf(),
        _pdf(compressed=False),
        _pdf("nobody").replace(b"%%EOF", b"%%EOF\n% Johanna Wexford"),
    ],
)  # fmt: skip
def test_a_name_is_found_in_each_layer(data: bytes) -> None:
    found = unpacked(data)
    assert left_in(found.strings, [NAME]) == {NAME}
    assert found.unread == []


def test_the_comment_the_extra_fields_and_bytes_between_entries_of_an_archive_are_read() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        entry = zipfile.ZipInfo("a")
        entry.comment, entry.extra = b"Ann Lee", b"\xfe\xca\x07\x00Bo Witt"
        archive.writestr(entry, "x")
        archive.comment = b"Mia Li"
    data = out.getvalue()
    start = data.index(b"PK\x01\x02")
    data = data[:start] + b"Cy Ford" + data[start:]
    assert left_in(unpacked(data).strings, ["Ann Lee", "Bo Witt", "Mia Li", "Cy Ford"]) == {
        "Ann Lee", "Bo Witt", "Mia Li", "Cy Ford",
    }  # fmt: skip


def test_an_entry_that_the_directory_does_not_list_is_read() -> None:
    data = _zip(a=NAME)
    assert left_in(unpacked(data[: data.index(b"PK\x01\x02")]).strings, [NAME]) == {NAME}


def test_a_clean_file_has_no_name() -> None:
    for data in (_zip(a="<t>nobody</t>", b=_pdf("nobody")), _pdf("nobody"), gzip.compress(b"nobody")):
        assert left_in(unpacked(data).strings, [NAME, "Jo", "1234567"]) == set()


def test_sizes_and_names_of_glyphs_are_no_room_numbers_and_ages() -> None:
    part = '<w:p xmlns:w="http://schemas.openxmlformats.org/2006/main" w:w="338" style="width:338.5pt">{}</w:p>'
    page = _pdf("room {}", compressed=False).replace(b"BT", b"1 0 0 1 338 214.5 cm /nine gs BT")
    for data in (_zip(a=part), page):
        assert left_in(unpacked(data).strings, ["338", "2006", "nine", "214"]) == set()
    for data in (_zip(a=part.format("room 338")), page.replace(b"room {}", b"room 338")):
        assert left_in(unpacked(data).strings, ["338"]) == {"338"}


def test_an_encrypted_entry_a_damaged_file_and_a_bomb_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    encrypted = bytearray(_zip(a="x"))
    encrypted[6] |= 1
    assert unpacked(bytes(encrypted)).unread == ["an encrypted entry of an archive"]
    assert unpacked(b"%PDF-1.7\nno objects").unread == ["a PDF that cannot be opened: PdfError"]
    assert unpacked(b"\x1f\x8b\x08 damaged").unread == ["a damaged compressed file"]
    monkeypatch.setattr("incognote_benchmarks.unpacked.MOST_PART", 1 << 20)
    assert unpacked(gzip.compress(bytes(2 << 20))).unread == ["a compressed file that is too large"]
    assert unpacked(_zip(a=bytes(2 << 20))).unread == ["a compressed part that is too large"]
    nested = b"x"
    for _ in range(14):
        nested = _zip(a=nested)
    assert unpacked(nested).unread == ["nested too deeply"]


def test_strings_of_pdf_syntax_are_decoded() -> None:
    source = r"[(Jo) -20 (h\141n) <6e61>] TJ (\(a\)) Tj <</A <FEFF004A>>>"
    assert "Johnn" not in source
    joined = list(pdf_literals(source))
    assert any("Johanna"[:2] in text and "han" in text and "na" in text for text in joined)
    assert any("(a)" in text for text in joined)


def test_text_is_decoded_by_the_map_of_its_font() -> None:
    pdf = pikepdf.new()
    pdf.add_blank_page()
    cmap = b"2 beginbfchar <0001> <004A> <0002> <006F> endbfchar 1 beginbfrange <0003> <0005> <0068> endbfrange"
    font = pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type0, BaseFont=pikepdf.Name.A,
                              ToUnicode=pikepdf.Stream(pdf, cmap))  # fmt: skip
    page = pdf.pages[0]
    page.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=font))
    page.Contents = pikepdf.Stream(pdf, b"BT /F1 9 Tf [<0001> 12 <00020003>] TJ 0 -9 Td <0005> Tj ET")
    out = io.BytesIO()
    pdf.save(out)
    strings = unpacked(out.getvalue()).strings
    assert "Johj" in strings
    assert cmap_codes("1 beginbfrange <01> <02> [<0041> <00420043>] endbfrange") == {1: "A", 2: "BC"}


def test_each_revision_of_a_pdf_is_read() -> None:
    data = _pdf() + _pdf("nobody")
    assert len(revisions(data)) == 2
    assert left_in(unpacked(data).strings, [NAME]) == {NAME}


def test_a_loose_pattern_finds_ligatures_and_combining_accents() -> None:
    for name, written in (("Griffin", "Gri\ufb03n"), ("Griffin", "Gri\ufb00in"), ("Griffin", "Grif\ufb01n"),
                          ("St John's-wood", "St John\u2019s\u2011wood"),
                          ("José Pérez", "Jose\u0301 Pérez"), ("Griffin", "Griffin")):  # fmt: skip
        assert loose_pattern(name).fullmatch(written), written
    assert left_in(unpacked("Gri\ufb03n, Jose\u0301".encode()).strings, ["Griffin", "José"]) == {"Griffin", "José"}


def test_a_loose_pattern_finds_invisible_characters_and_words_hyphenated_at_the_end_of_a_line() -> None:
    for text in ("Johanna\u00a0Wexford", "Jo\u00adhanna Wexford", "Johanna Wex-\n  ford", "Johanna\n\tWexford"):
        assert loose_pattern(NAME).search(text)
    for text in ("Johanna B. Wexford", "JohannaWexford", "Jo hanna Wexford"):
        assert not loose_pattern(NAME).search(text)

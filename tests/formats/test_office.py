"""What office formats share: the ZIP file, the closed rules, new names, neutral pictures, and texts of runs."""

# ruff: noqa: E501 -- XML reads better with one element in a line

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from incognote.errors import AccountingError, MalformedRecord, UnsupportedFormat
from incognote.formats.office.document import _outermost
from incognote.formats.office.flow import FlowText
from incognote.formats.office.names import NewNames
from incognote.formats.office.package import parsed, relations, relations_part, types_of, unzipped, zipped
from incognote.formats.office.pictures import pictures
from incognote.formats.office.rules import (
    attribute_of,
    css_declarations,
    is_declared,
    is_prefix,
    key_of,
    kind_of,
    lists,
    stays,
)
from incognote.text.signatures import of_magic

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def _zip(*entries: tuple[str, bytes], comment: bytes = b"", method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        file.comment = comment
        for name, data in entries:
            file.writestr(name, data)
    return out.getvalue()


def test_equal_parts_give_equal_files_without_dates_and_comments() -> None:
    parts = unzipped(b"Doe" + _zip(("word/", b""), ("b.xml", b"1"), ("a.xml", b"2"), comment=b"Doe"))
    assert parts == {"b.xml": b"1", "a.xml": b"2"}
    data = zipped(parts)
    assert data == zipped(unzipped(data))
    assert b"Doe" not in data
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        assert [(each.filename, each.date_time) for each in file.infolist()] == [
            ("b.xml", (1980, 1, 1, 0, 0, 0)), ("a.xml", (1980, 1, 1, 0, 0, 0)),
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (b"PK\x03\x04 Doe", MalformedRecord, "damaged"),
        (_zip(("a.xml", b"1"), ("A.XML", b"2")), MalformedRecord, "same name"),
        (_zip(("../doe.xml", b"1")), MalformedRecord, "part 1 has a name"),
        (_zip(("a.xml", b""), ("doe//b.xml", b"1")), MalformedRecord, "part 2 has a name"),
        (_zip(("a.xml", b" " * 2**25)), MalformedRecord, "part 1 consists of repetitions"),
        (_zip(("a.xml", b"1"), method=zipfile.ZIP_LZMA), UnsupportedFormat, "unusual compression"),
    ],
)
def test_a_zip_file_that_office_programs_do_not_write_is_refused(
    data: bytes, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as refused:
        unzipped(data)
    assert "doe" not in str(refused.value).lower()


def test_parts_and_relations_are_found_by_their_names() -> None:
    types = parsed("t", b'<Types><Default Extension="XML" ContentType="a/b"/><Override PartName="/x/Y.xml" ContentType="c/d"/></Types>')
    assert types_of(types.xml, {"x/y.xml": b"", "z.xml": b"", "q": b""}) == {"x/y.xml": "c/d", "z.xml": "a/b", "q": ""}
    assert relations_part("") == "_rels/.rels"
    assert relations_part("word/a.xml") == "word/_rels/a.xml.rels"
    own = parsed("r", b'<R><R Id="1" Type="x/image" Target="../media/a.png"/><R Id="2" Type="x/link" Target="h" TargetMode="External"/></R>')
    assert [(each.id, each.kind, each.target) for each in relations("word/a.xml", own.xml)] == [
        ("1", "image", "media/a.png"), ("2", "link", None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "kept", "removed"),
    [
        ("value", "4F81BD auto de-DE 123456 -12.5pt center roundRect 04A0 . #4f81bd", "Jane 4471902 2024-03-11 janeDoe doe_1"),
        ("geometry", "914400 251659264 center", "55501234567 Jane"),
        ("hexadecimal", "00447190 0A3F11C2 A990", "44719021 Jane 144719021"),
        ("number", "12 -447190", "4471902 Jane"),
        ("guid", "{5C22544A-7EE6-4342-B048-85BDC9FD1C3A} 7", "{44719021-7EE6-4342-B048-85BDC9FD1C3A} Jane"),
        ("font", "Calibri +mn-lt @SimSun 游明朝", "Jane Arial4471902 山田"),
        ("style", "Heading1 GridTable1Light-Accent1 TOC9", "JaneDoe Heading447190"),
        ("bookmark", "_Toc12 _GoBack", "Jane Doe"),
        ("name", "Picture TextBox2", "doe.png Picture44719"),
        ("path", "m,l,21600r21600,l21600,xe 10800,10800 #fff", "m4471902 Jane"),
        ("guide", "*/ val connsiteX0 409971 21600000", "jane 4471902"),
        ("relation", "rId12 R7", "Jane rIdDoe rId4471902"),
        ("target", "# ../media/image1.png /word/n1.xml theme/theme1.xml", "mailto:x doe.xml media/doe.png document.doe"),
        ("format", "General 0.00% m/d/yyyy #,##0;[Red]-#,##0", '"Jane" Jane'),
        ("reference", "Sheet1!$A$1:$B$12 'Sheet1'!$A$1", "'Jane'!$A$1 Jane"),
        ("diagram", "urn:microsoft.com/office/officeart/2005/8/layout/default#1 list", "urn:doe Jane"),
        ("text", "%1. • 7", "Jane %1Jane 4471902"),
        ("program", "Excel.Sheet.12 LibreOffice/24.2.7.2$Linux_X86_64", "Jane 4471902 Word/4471902.943476 943-476-5919.1"),
        ("mask", "E0002AFF 020F0502020204030204 BF", "44719021 Jane"),
    ],
)
def test_only_values_that_name_nobody_stay(kind: str, kept: str, removed: str) -> None:
    assert [value for value in kept.split() if not stays(kind, value)] == []
    assert [value for value in removed.split() if stays(kind, value)] == []


def test_styles_of_vml_keep_the_declarations_of_layout() -> None:
    style = "position:absolute;width:415.05pt;rotation:315;z-index:-251655168;mso-position-horizontal:center;font-family:Doe;doe:1"
    assert css_declarations(style) == style.split(";")[:-2]


def test_the_rules_name_only_elements_and_attributes_of_the_standards() -> None:
    elements = lists()["elements"]
    assert len(elements) > 20
    for table in ("elements_rules", "characters", "attributes"):
        for keys in lists()[table].values():
            for key in keys:
                prefix, _, name = key.partition("@")[0].rpartition("/")[2].partition(":")
                assert prefix == "*" or name == "*" or key.startswith("w:style/") or name in elements[prefix], key
                attribute = key.partition("@")[2]
                known = attribute in lists()["attributes_of"]["names"] or attribute.startswith("r:")
                assert not attribute or known, key


def test_names_of_the_strict_standard_are_those_of_the_transitional_one() -> None:
    assert key_of(W, "p") == key_of("http://purl.oclc.org/ooxml/wordprocessingml/main", "p") == "w:p"
    assert key_of(W, "jane") == key_of("urn:doe", "p") == ""
    assert attribute_of(f"{{{W}}}val") == "w:val"
    assert attribute_of("val") == "val"
    assert attribute_of("{urn:doe}val") == ""
    assert kind_of("w:name", "w:val", "w:style") == "style_name"
    assert kind_of("w:name", "w:val", "w:ffData") == "bookmark"
    assert is_declared(W)
    assert not is_declared("urn:doe")
    assert not is_prefix("doe")


@pytest.mark.parametrize(("name", "shown"), [("word/header1.xml", "word/header1.xml"), ("word/Doe_Jane.xml", "a part")])
def test_a_message_about_a_part_has_no_name_of_a_person(name: str, shown: str) -> None:
    with pytest.raises(MalformedRecord) as problem:
        parsed(name, b"<a>")
    assert problem.value.field == shown


@pytest.mark.parametrize("prefix", ["w14", "ns1", "d2p1", *"lc cs c16r2 c16r3 ahyp a1611 xr2 x16r2 wpsCustomData".split()])
def test_prefixes_of_office_programs_are_known(prefix: str) -> None:
    assert is_prefix(prefix)


def test_a_name_has_the_same_new_name_everywhere_and_none_that_is_taken() -> None:
    names = NewNames(lambda name: name == "Style1")
    assert [names.of("style", each) for each in ("Doe", "Title", "Roe", "Doe")] == ["Style2", "Title", "Style3", "Style2"]
    assert names.of("shape", "#Doe") == "#_x0000_s1"
    assert names.of("shape", "Doe") == "_x0000_s1"
    assert names.of("value", "Doe") is None
    assert names.of("font", "Doe") == "Arial"
    assert names.part("word/doe/Jane.png", ["word/n1/x"]) == "word/n2/n3.png"
    assert names.part("word/media/image1.png", []) == "word/media/image1.png"


def test_pictures_are_what_their_type_says() -> None:
    found = {kind: of_magic(data) for kind, data in pictures().items()}
    assert {kind: name for kind, name in found.items() if kind != "image/svg+xml"} == {
        "image/png": "PNG image", "image/jpeg": "JPEG image", "image/jpg": "JPEG image", "image/gif": "GIF image",
        "image/bmp": "BMP image", "image/tiff": "TIFF image", "image/x-emf": "EMF image", "image/emf": "EMF image",
        "image/x-wmf": "WMF image", "image/wmf": "WMF image",
    }  # fmt: skip
    emf = pictures()["image/emf"]
    assert struct.unpack_from("<I", emf, 48)[0] == len(emf)


def _flow(inner: str) -> FlowText:
    part = parsed("x", f'<w:p xmlns:w="{W}">{inner}</w:p>'.encode())
    flow = FlowText(part)
    for element in part.xml.root.elements:
        for found in element.characters:
            flow.words(found, element)
    return flow


def test_edits_of_a_text_are_checked() -> None:
    flow = _flow("<w:t>Jane</w:t>")
    for edits in ([(0, 3, "x"), (2, 4, "y")], [(3, 9, "x")]):
        with pytest.raises(AccountingError):
            flow.edits(edits)
    with pytest.raises(AccountingError, match="without characters"):
        _flow("<w:t/>").edits([(0, 0, "x")])


def test_a_change_within_another_one_goes_with_it() -> None:
    changes = [(5, 9, "a"), (0, 4, "b"), (1, 2, "c"), (0, 4, "b"), (9, 9, "d"), (6, 6, "e")]
    assert list(_outermost(changes)) == [(0, 4, "b"), (5, 9, "a"), (9, 9, "d")]

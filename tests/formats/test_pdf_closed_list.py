"""The closed lists of PDF: what no list has leaves every document, also what no page shows."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, Pdf, String

from incognote.errors import MalformedRecord
from incognote.formats.pdf import second
from incognote.formats.pdf.document import PdfDocument
from incognote.formats.pdf.fonts import _part
from incognote.formats.pdf.tounicode import plain_function, plain_map

from .samples.pdf import page

NAME = "Okonkwo"
WORDS = f"Jane {NAME} MRN 4471902"


def _written(pdf: Pdf) -> bytes:
    """Return a document as it is written without edits, and check that this is done at once."""
    out = io.BytesIO()
    pdf.save(out)
    data = out.getvalue()
    for _ in range(2):
        new = io.BytesIO()
        PdfDocument(data).rebuild([], new)
        data, before = new.getvalue(), data
    assert data == before
    return data


def _all_of(data: bytes) -> str:
    """Return all bytes of a document, with its streams unpacked and its names and strings as they are read."""
    with pikepdf.open(io.BytesIO(data)) as pdf:
        streams = [bytes(each.read_bytes()) for each in pdf.objects if isinstance(each, pikepdf.Stream)]
        return repr(list(pdf.objects)) + repr(pdf.trailer) + repr(streams)


def _page(content: bytes = b"") -> tuple[Pdf, Any]:
    pdf = pikepdf.new()
    page(pdf, b"BT /F1 10 Tf 50 700 Td (Asthma) Tj ET\n" + content)
    return pdf, pdf.pages[0]


def _with_names(pdf: Pdf, shown: Any) -> None:
    shown.obj["/Tabs"] = Name(f"/{NAME}")
    shown.obj["/BoxColorInfo"] = Dictionary({f"/{NAME}": 1})
    pdf.Root["/PageMode"] = Name(f"/{NAME}")
    shown.Resources["/ProcSet"] = Array([Name.PDF, Name(f"/{NAME}")])


def _with_a_profile(pdf: Pdf, shown: Any) -> None:
    profile = pdf.make_stream(b"\0" * 128 + WORDS.encode(), N=3)
    profile[f"/{NAME}"] = Name(f"/{NAME}")
    shown.Resources["/ColorSpace"] = Dictionary(CS0=Array([Name.ICCBased, profile]))


def _with_inks(pdf: Pdf, shown: Any) -> None:
    tint = Dictionary(FunctionType=2, Domain=Array([0, 1]), C0=Array([1]), C1=Array([0]), N=1)
    inks = Array([Name.Cyan, Name(f"/{NAME}")])
    shown.Resources["/ColorSpace"] = Dictionary(
        CS0=Array([Name.Separation, Name(f"/{NAME}"), Name.DeviceGray, tint]),
        CS1=Array([Name.DeviceN, inks, Name.DeviceGray, tint, Dictionary(Colorants=Dictionary({f"/{NAME}": 1}))]),
    )


def _with_a_function(pdf: Pdf, shown: Any) -> None:
    function = pdf.make_stream(f"{{ % {WORDS}\n pop 0.5 }}".encode(), FunctionType=4, Domain=Array([0, 1]),
                               Range=Array([0, 1]))  # fmt: skip
    shading = Dictionary(ShadingType=2, ColorSpace=Name.DeviceGray, Coords=Array([0, 0, 1, 1]), Function=function)
    shading[f"/{NAME}"] = 1
    shown.Resources["/Shading"] = Dictionary(Sh0=shading)


def _with_a_shading(pdf: Pdf, shown: Any) -> None:
    tint = Dictionary(FunctionType=2, Domain=Array([0, 1]), C0=Array([1]), C1=Array([0]), N=1)
    shading = Dictionary(ShadingType=2, ColorSpace=Name.DeviceGray, Coords=Array([0, 0, 99, 0]), Function=tint)
    shading[f"/{NAME}"] = String(WORDS)
    shown.Resources["/Pattern"] = Dictionary(P0=Dictionary(Type=Name.Pattern, PatternType=2, Shading=shading))


def _with_a_string_of_nulls(pdf: Pdf, shown: Any) -> None:
    border = Array([0, 0, 1, Array([String(b"\0".join(bytes([each]) for each in WORDS.encode()))])])
    note = Dictionary(Type=Name.Annot, Subtype=Name.Text, Rect=Array([1, 1, 9, 9]), Border=border)
    shown.obj["/Annots"] = Array([note])


def _with_a_page_that_is_gone(pdf: Pdf, shown: Any) -> None:
    content = pdf.make_stream(f"BT /F1 10 Tf 50 700 Td ({WORDS}) Tj ET".encode())
    gone = pdf.make_indirect(Dictionary(Type=Name.Page, MediaBox=Array([0, 0, 595, 842]), Contents=content))
    pdf.Root["/Names"] = Dictionary(Dests=Dictionary(Names=Array([String("x"), Array([gone, Name.Fit])])))


def _with_a_map(pdf: Pdf, shown: Any) -> None:
    lines = "\n".join(f"<{code:02x}> <{code:04x}>" for code in range(32, 127))
    hidden = "<01> <" + WORDS.encode("utf-16-be").hex() + ">"
    head = f"% {WORDS}\nbegincmap /CMapName /{NAME} def /Registry ({NAME}) def"
    shown.Resources["/Font"]["/F1"]["/ToUnicode"] = pdf.make_stream(
        f"{head} 1 begincodespacerange <00> <ff> endcodespacerange\n"
        f"96 beginbfchar\n{hidden}\n{lines}\nendbfchar endcmap".encode()
    )


def _with_a_pattern(pdf: Pdf, shown: Any) -> None:
    pattern = pdf.make_stream(
        f"% {WORDS}\n/{NAME} gs 0 0 1 1 re f".encode(), Type=Name.Pattern, PatternType=1, PaintType=1, TilingType=1,
        BBox=Array([0, 0, 1, 1]), XStep=1, YStep=1,
        Resources=Dictionary(ExtGState=Dictionary({f"/{NAME}": Dictionary(CA=1)})),
    )  # fmt: skip
    shown.Resources["/Pattern"] = Dictionary(P0=pattern)


@pytest.mark.parametrize(
    "add",
    [_with_names, _with_a_profile, _with_inks, _with_a_function, _with_a_string_of_nulls, _with_a_page_that_is_gone,
     _with_a_map, _with_a_pattern, _with_a_shading],
)  # fmt: skip
def test_a_name_that_no_page_shows_leaves_the_document(add: Callable[[Pdf, Any], None]) -> None:
    pdf, shown = _page()
    add(pdf, shown)
    pdf.save(out := io.BytesIO())
    assert NAME in _all_of(out.getvalue()).replace("\0", "").replace("\\x00", "") or add is _with_a_string_of_nulls
    left = _all_of(_written(pdf)).replace("\\x00", "")
    assert NAME not in left
    assert "4471902" not in left
    assert WORDS.encode("utf-16-be").hex() not in left


def test_a_color_profile_becomes_the_color_space_with_as_many_components() -> None:
    pdf, shown = _page()
    _with_a_profile(pdf, shown)
    with pikepdf.open(io.BytesIO(_written(pdf))) as out:
        assert out.pages[0].Resources["/ColorSpace"]["/CS0"] == Name.DeviceRGB


def test_known_inks_keep_their_names_and_others_get_numbers() -> None:
    pdf, shown = _page()
    _with_inks(pdf, shown)
    with pikepdf.open(io.BytesIO(_written(pdf))) as out:
        spaces = out.pages[0].Resources["/ColorSpace"]
        assert list(spaces["/CS1"][1]) == [Name.Cyan, Name("/Ink2")]
        assert spaces["/CS0"][1] == Name("/Ink1")


def test_a_pattern_still_uses_the_resource_that_was_renamed() -> None:
    pdf, shown = _page()
    _with_a_pattern(pdf, shown)
    with pikepdf.open(io.BytesIO(_written(pdf))) as out:
        pattern = out.pages[0].Resources["/Pattern"]["/P0"]
        (state,) = pattern["/Resources"]["/ExtGState"].keys()
        assert f"{state} gs".encode() in pattern.read_bytes()


def test_the_shading_of_a_pattern_keeps_its_keys() -> None:
    pdf, shown = _page()
    _with_a_shading(pdf, shown)
    with pikepdf.open(io.BytesIO(_written(pdf))) as out:
        shading = out.pages[0].Resources["/Pattern"]["/P0"]["/Shading"]
        assert set(shading.keys()) == {"/ShadingType", "/ColorSpace", "/Coords", "/Function"}


def test_a_pattern_that_a_function_draws_is_refused() -> None:
    pdf, shown = _page()
    _with_a_shading(pdf, shown)
    shown.Resources["/Pattern"]["/P0"]["/Shading"]["/ShadingType"] = 1
    pdf.save(out := io.BytesIO())
    with pytest.raises(MalformedRecord, match="drawing by a function"):
        PdfDocument(out.getvalue())


def test_a_group_of_buttons_of_one_name_stays_one_field_with_different_states() -> None:
    pdf, shown = _page()
    widgets = [
        pdf.make_indirect(Dictionary(
            Type=Name.Annot, Subtype=Name.Widget, FT=Name.Btn, T=String("doctor"), V=Name("/Off"),
            Rect=Array([50, 50, 60, 60]), AP=Dictionary(N=Dictionary({f"/{state}": _look(pdf)})),
        ))
        for state in ("Mercer", NAME)
    ]  # fmt: skip
    shown.obj["/Annots"] = Array(widgets)
    pdf.Root["/AcroForm"] = Dictionary(Fields=Array(widgets))
    data = _written(pdf)
    assert NAME not in _all_of(data)
    with pikepdf.open(io.BytesIO(data)) as out:
        fields = list(out.Root["/AcroForm"]["/Fields"])
        assert [str(each["/T"]) for each in fields] == ["field1", "field1"]
        states = [list(each["/AP"]["/N"].keys()) for each in fields]
        assert all(len(each) == 1 for each in states)
        assert all(one != two for one, two in pairwise(states))


def _look(pdf: Pdf) -> Any:
    return pdf.make_stream(b"q Q", Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, 10, 10]))


def _glyph(content: bytes) -> bytes:
    pdf, shown = _page(b"BT /T3 300 Tf 60 500 Td (a) Tj ET")
    shown.Resources["/Font"]["/T3"] = Dictionary(
        Type=Name.Font, Subtype=Name.Type3, FontBBox=Array([0, 0, 1000, 100]),
        FontMatrix=Array([0.001, 0, 0, 0.001, 0, 0]), FirstChar=97, LastChar=97,
        Widths=Array([1000]), Resources=Dictionary(),
        Encoding=Dictionary(Type=Name.Encoding, Differences=Array([97, Name.a])),
        CharProcs=Dictionary(a=pdf.make_stream(b"1000 0 0 0 1000 100 d1 " + content)),
    )  # fmt: skip
    out = io.BytesIO()
    pdf.save(out)
    return out.getvalue()


def _picture(width: int, height: int, eight: bytes = b"\xb5") -> bytes:
    bits = eight * (height * ((width + 7) // 8))
    return b"q 100 0 0 80 0 0 cm BI /IM true /W %d /H %d /BPC 1 ID %s EI Q" % (width, height, bits)


def test_a_glyph_that_is_a_picture_of_words_is_refused_and_one_of_a_letter_is_not() -> None:
    with pytest.raises(MalformedRecord, match="glyphs draw text"):
        PdfDocument(_glyph(_picture(224, 14)))
    assert "a" in PdfDocument(_glyph(_picture(24, 30))).texts[0].content
    assert "a" in PdfDocument(_glyph(_picture(35, 11, b"\xff"))).texts[0].content  # a hyphen


def test_a_part_of_a_sign_of_mathematics_reads_as_the_sign_and_no_glyph_name_as_a_letter() -> None:
    names = ("parenleftbigg", "summationtext", "bracketlefttp", "Jane", "abig")
    assert [_part(each) for each in names] == ["(", "\u2211", "[", "", ""]


def test_a_map_of_known_words_keeps_its_bytes() -> None:
    plain = b"/CMapName /Adobe-Identity-UCS def 1 beginbfchar\n<01> <0041>\nendbfchar\n"
    assert plain_map(plain) == plain


def test_a_function_with_an_unknown_word_is_refused() -> None:
    with pytest.raises(MalformedRecord):
        plain_function(f"{{ {NAME} }}".encode())


@pytest.mark.parametrize(
    "body", [f"% {WORDS}\nq Q".encode(), f"/{NAME} gs".encode(), b"\0\1\2\xff" + WORDS.encode() + b"\0"]
)
@pytest.mark.parametrize("pack", [bytes, zlib.compress])
def test_the_second_reader_shows_what_is_in_a_stream(body: bytes, pack: Callable[[bytes], bytes]) -> None:
    kind = b"/FunctionType 0" if body.startswith(b"\0") else b""
    data = b"1 0 obj << " + kind + b" >>\nstream\n" + pack(body) + b"\nendstream endobj"
    assert any(NAME in text for text in second._strings(data))


def test_the_second_reader_leaves_out_the_usual_names_of_streams() -> None:
    body = b"/GS0 gs /Span <</MCID 0>> BDC /F12 10 Tf (x) Tj EMC /Artifact BMC EMC"
    assert not list(second._strings(b"stream\n" + body + b"\nendstream"))

"""PDF: shapes that may be writing, and streams that are much longer when they are unpacked."""

from __future__ import annotations

import io
import zlib
from pathlib import Path

import pikepdf
import pytest

from incognote.errors import MalformedRecord, UnsupportedFormat
from incognote.formats.pdf.bounds import check_unpacked
from incognote.formats.pdf.document import PdfDocument

from .samples.pdf import page

FOLDER = Path(__file__).parents[1] / "data" / "documents" / "pdf"
_CODE = (1, 3, 1, 1, 2, 2, 1, 1, 3, 2, 1, 1, 1, 2, 3, 1, 1, 2, 2, 1, 3, 1, 1, 1, 2, 1, 2, 3, 1, 1, 1, 2, 3, 1, 2, 1)
_LETTERS = {
    "J": ((9, 15, 9, 3), (9, 3, 6, 0), (6, 0, 0, 3)), "A": ((0, 0, 5, 15), (5, 15, 10, 0), (2, 5, 8, 5)),
    "N": ((0, 0, 0, 15), (0, 15, 10, 0), (10, 0, 10, 15)), "D": ((0, 0, 0, 15), (0, 15, 9, 8), (9, 8, 0, 0)),
    "E": ((10, 0, 0, 0), (0, 0, 0, 15), (0, 15, 10, 15), (0, 8, 7, 8)),
    "O": ((0, 4, 0, 11), (0, 11, 5, 15), (5, 15, 10, 11), (10, 11, 10, 4), (10, 4, 5, 0), (5, 0, 0, 4)),
}  # fmt: skip


def _of(*content: str) -> bytes:
    pdf, out = pikepdf.new(), io.BytesIO()
    page(pdf, "\n".join(("BT /F1 10 Tf 50 800 Td (Lungs clear) Tj ET", *content)).encode())
    pdf.save(out)
    return out.getvalue()


def _bars(widths: tuple[int, ...], draw: str) -> list[str]:
    """Return bars, of which every second one is white."""
    x, drawn = 0, []
    for number, wide in enumerate(widths):
        if number % 2 == 0:
            drawn.append(draw.format(x=x, wide=wide, middle=x + wide / 2))
        x += wide
    return drawn


def _strokes(*, is_one_path: bool) -> str:
    lines = [tuple(v + (18 * at if i % 2 == 0 else 0) for i, v in enumerate(line))
             for at, letter in enumerate("JANEDOE") for line in _LETTERS[letter]]  # fmt: skip
    end = "" if is_one_path else " S"
    return "\n".join(f"{a} {b} m {c} {d} l{end}" for a, b, c, d in lines) + (" S" if is_one_path else "")


def _zigzag(operator: str) -> str:
    points = [(3 * i + 9 * (i % 2), 12 * (i % 3)) for i in range(50)]
    curve = " ".join(f"{x} {y}{f' {x} {y} {x} {y} c' if operator == 'c' else ' l'}" for x, y in points)
    return f"0 0 m {curve} S"


def _squares(size: int, *, is_full: bool = False) -> list[str]:
    places = [(x, y) for y in range(20) for x in range(20) if is_full or (x * 7919 + y * 104729) % 13 % 2]
    return [f"{size * x} {size * y} {size} {size} re" for x, y in places]


_PLACES = ("1 0 0 1 100 400 cm", "0 1 -1 0 300 400 cm", "0 -1 1 0 300 400 cm", "-1 0 0 -1 300 400 cm")


@pytest.mark.parametrize("place", _PLACES)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (["q", *_bars(_CODE, "{x} 0 {wide} 30 re f"), "Q"], "barcode"),
        ([*_bars(_CODE, "{x} 0 {wide} 30 re"), "f"], "barcode"),
        (_bars(_CODE, "{wide} w {middle} 0 m {middle} 30 l S"), "barcode"),
        ([*_squares(2), "f"], "barcode"),
        ([each + " f" for each in _squares(2)], "barcode"),
        ([_strokes(is_one_path=False)], "letters"),
        ([_strokes(is_one_path=True)], "letters"),
        ([_zigzag("l")], "hand"),
        ([_zigzag("c")], "hand"),
    ],
)
def test_shapes_that_may_be_writing_are_refused_in_every_direction(
    content: list[str], message: str, place: str
) -> None:
    if message != "hand" or place.startswith(("1", "-1")):
        with pytest.raises(UnsupportedFormat, match=message):
            PdfDocument(_of(place, *content))


@pytest.mark.parametrize(
    "content",
    [
        [f"{100 + 8 * i} 400 3 75 re f" for i in range(30)],
        [f"{100 + 12 * i} 400 8 {20 + 31 * i % 60} re f" for i in range(30)],
        [f"0.2 w {100 + 3 * i} 400 m {100 + 3 * i} 600 l S" for i in range(60)],
        [f"100 {700 - 15 * i} m 104 {700 - 15 * i} 104 {706 - 15 * i} 100 {706 - 15 * i} c f" for i in range(40)],
        [f"{100 + 12 * i} 700 8 8 re S" for i in range(30)],
        ["100 400 m", *(f"{100 + 4 * i} {400 + i * i % 50} l" for i in range(70)), "S"],
        [f"{100 + 20 * x} {100 + 15 * y} 20 15 re S" for x in range(10) for y in range(20)],
        ["100 100 200 200 re W n", _strokes(is_one_path=True).removesuffix(" S"), "W n"],
        ["1 0 0 1 100 400 cm", *_squares(5, is_full=True), "f"],
    ],
    ids=["equal bars", "bars of a chart", "grid lines", "bullets", "check boxes", "line of a chart", "table", "clips",
         "full grid"],
)  # fmt: skip
def test_shapes_of_charts_tables_and_forms_are_read(content: list[str]) -> None:
    assert PdfDocument(_of(*content)).texts[0].content == "Lungs clear"


def _packed(data: bytes, filters: bytes, end_of_line: bytes) -> bytes:
    head = b"%PDF-1.4\n1 0 obj\n<< /Filter " + filters + b" /Length " + str(len(data)).encode()
    return head + b" >>\nstream" + end_of_line + data + b"\nendstream\nendobj\n"


def _runs_of_lzw(count: int) -> bytes:
    """Return codes that stand for longer and longer runs of zeros. They begin again after each table."""
    bits = "".join(format(256, "012b" if begun else "09b") + "".join(
        format(0 if n == 0 else 257 + n, f"0{9 if n < 254 else 10 if n < 766 else 11 if n < 1790 else 12}b")
        for n in range(3800)
    ) for begun in range(count))  # fmt: skip
    bits += "0" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


@pytest.mark.parametrize("end_of_line", [b"\r\n", b"\n", b"\r", b" \n", b""])
@pytest.mark.parametrize(
    ("data", "filters"),
    [
        (zlib.compress(bytes(140 * 2**20)), b"/FlateDecode"),
        (_runs_of_lzw(24), b"/LZWDecode"),
        (_runs_of_lzw(24), b"[/L#5aWDecode]"),
        (_runs_of_lzw(24).hex().encode() + b">", b"[/ASCIIHexDecode /LZWDecode]"),
        (bytes(3 * 2**20), b"/RunLengthDecode"),
        (bytes(9), b"[/FlateDecode /LZWDecode]"),
        (bytes(9), b"7 0 R"),
    ],
    ids=["deflate", "LZW", "LZW, escaped", "LZW in hexadecimal", "runs", "two filters", "filter elsewhere"],
)
def test_a_stream_that_is_long_when_it_is_unpacked_is_refused(data: bytes, filters: bytes, end_of_line: bytes) -> None:
    with pytest.raises(MalformedRecord, match=r"unpacked|unusual filters"):
        check_unpacked(_packed(data, filters, end_of_line))


def test_short_streams_of_every_filter_are_read() -> None:
    for data, filters in ((zlib.compress(b"0 g"), b"/FlateDecode"), (_runs_of_lzw(1), b"/LZWDecode"),
                          (b"\x020 g\x80", b"/RunLengthDecode")):  # fmt: skip
        check_unpacked(_packed(data, filters, b"\n"))


def test_a_file_full_of_beginnings_of_streams_is_refused_and_not_read_again_for_each() -> None:
    with pytest.raises(MalformedRecord, match="inside each other"):
        check_unpacked(b"stream\n" * 100_000)

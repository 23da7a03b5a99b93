"""PDF files of one page."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import pikepdf

from incognote.formats.pdf.document import saved
from incognote.formats.registry import named

from . import Sample


def page(pdf: pikepdf.Pdf, content: bytes) -> pikepdf.Page:
    """Add a page with the fonts F1 (Helvetica) and F2 (Courier, with characters of its own)."""
    fonts = pikepdf.Dictionary(
        F1=pikepdf.Dictionary(
            Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica,
            Encoding=pikepdf.Name.WinAnsiEncoding,
        )
    )  # fmt: skip
    pdf.add_blank_page(page_size=(595, 842))
    added = pdf.pages[-1]
    added.Resources = pikepdf.Dictionary(Font=fonts)
    added.Contents = pdf.make_stream(content)
    return added


def _document(texts: Sequence[str]) -> bytes:
    """Return a file with one line of text below the other, in a font with a code for each character."""
    lines = [line for text in texts for line in text.split("\n")]
    codes = {character: i + 1 for i, character in enumerate(dict.fromkeys("".join(lines)))}
    pdf = pikepdf.new()
    shown = [
        f"BT /F3 10 Tf 1 0 0 1 50 {800 - 13 * i} Tm <{''.join(f'{codes[c]:04x}' for c in line)}> Tj ET"
        for i, line in enumerate(lines)
    ]
    added = page(pdf, "\n".join(shown).encode())
    pairs = "\n".join(f"<{code:04x}> <{c.encode('utf-16-be').hex()}>" for c, code in codes.items())
    space = "1 begincodespacerange\n<0000> <ffff>\nendcodespacerange"
    cmap = f"begincmap\n{space}\n{len(codes)} beginbfchar\n{pairs}\nendbfchar\nendcmap"
    added.Resources.Font.F3 = pikepdf.Dictionary(
        Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type0, BaseFont=pikepdf.Name.Arial,
        Encoding=pikepdf.Name("/Identity-H"), ToUnicode=pdf.make_stream(cmap.encode()),
        DescendantFonts=pikepdf.Array([pikepdf.Dictionary(
            Type=pikepdf.Name.Font, Subtype=pikepdf.Name.CIDFontType2, BaseFont=pikepdf.Name.Arial, DW=500,
            CIDSystemInfo=pikepdf.Dictionary(Registry="Adobe", Ordering="Identity", Supplement=0),
        )]),
    )  # fmt: skip
    return saved(pdf)


def _from_left_to_right(texts: Sequence[str]) -> bool:
    """Whether each character is written to the right of the one before, and alone: a PDF holds text as it is shown."""
    kinds = {unicodedata.bidirectional(c) for text in texts for c in text}
    forms = any(unicodedata.normalize("NFKC", c) != c or c in "`^~" for text in texts for c in text)
    return not forms and not kinds & {"R", "AL", "AN", "NSM", "BN"}


SAMPLES = (
    Sample(
        named("pdf"),
        _document,
        [
            (b"Seen by Dr. Carter.", "malformed"),
            (b"{\\rtf1 Seen by Dr. Carter.}", "unsupported-format"),
            (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n", "malformed"),
        ],
        suits=_from_left_to_right,
        letters="ab\"\\,;\n&<é",
    ),
)

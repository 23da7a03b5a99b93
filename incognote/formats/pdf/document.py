"""A PDF document: the text of each page, and everything around it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any, BinaryIO

from incognote.errors import MalformedRecord, MissingExtra, UnsupportedFormat
from incognote.formats.base import Change, Edit, Place, Pointer, account, of_child, split_edits
from incognote.formats.pdf.bounds import check_paints, check_unpacked
from incognote.formats.pdf.cleaning import cleaned
from incognote.formats.pdf.content import ContentReader, PageContent, StreamKey
from incognote.formats.pdf.layout import page_text
from incognote.formats.pdf.naming import ResourceNames
from incognote.formats.pdf.objects import cleaned_objects
from incognote.formats.pdf.subset import renumbered
from incognote.formats.pdf.writing import PageWriter, resource_name
from incognote.formats.pictures import DrawnPage, PagedDocument, PagePart
from incognote.nouns import Text

if TYPE_CHECKING:
    from pikepdf import Page, Pdf

BODY = "body"
_BLANK = re.compile(rb"[\x00\t\n\f\r ]+")
MAX_PAGES = 20_000
_MOST_PICTURE = 0.35  # the largest share of a page that a picture may cover


class PdfDocument(PagedDocument):
    """A whole document. Its pages are a text, and so are bookmarks, form fields, annotations, and properties.

    Args:
        data: the bytes.

    Attributes:
        pages: where the text of each page is in the text `body`. owners: the page with which each form is read.

    Raises:
        UnsupportedFormat: it is encrypted or signed, or a page is a picture.
        MalformedRecord: it is damaged, or a part of its text cannot be read.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        with _opened(data) as pdf:
            reader = ContentReader(pdf)
            read: set[StreamKey] = set()
            pages: list[str] = []
            for number, page in enumerate(pdf.pages, 1):
                content = _content(reader, page, number)
                read |= content.streams.keys()
                pages.append(_text(content, number))
            check_paints(reader.paints)
            _check_fonts(reader)
            found = cleaned_objects(pdf, read)
            starts = accumulate((len(page) + 1 for page in pages), initial=0)
            self.pages = [PagePart(BODY, start, start + len(page)) for start, page in zip(starts, pages, strict=False)]
            self.owners = reader.owners
            texts = [Text("\n".join(pages), BODY), *(Text(text.text, field) for field, text in found.texts.items())]
            self.texts = tuple(text for text in texts if text.content.strip())
            self.actions = tuple(found.fields)
            self.known = tuple(dict.fromkeys(found.known))
            self.children = {field: child for field, (_, child) in found.children.items()}

    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        edits = list(edits)
        changes, values = split_edits(edits)
        account(self, changes, values)
        with _opened(self.data) as pdf:
            reader, names = ContentReader(pdf), ResourceNames(pdf)
            read: set[StreamKey] = set()
            changed = 0
            for number, page in enumerate(pdf.pages, 1):
                content = _content(reader, page, number)
                read |= content.streams.keys()
                own = list(_of_page(self.pages[number - 1], changes.get(BODY, ())))
                changed += _rewritten(pdf, page, content, names, own)
            changed += names.apply()
            found = cleaned_objects(pdf, read)
            for field, text in found.texts.items():
                if changes.get(field):
                    text.change(changes[field])
                    changed += 1
            for action, value in values.items():
                if action in found.fields and value != action.text.content:
                    holder, key = found.fields[action]
                    holder[key] = value
                    changed += 1
            for field, (stream, _) in found.children.items():
                child = self.children[field]
                inner = io.BytesIO()
                child.rebuild(of_child(edits, field), inner)
                new = child.head + inner.getvalue() + child.after
                if new != child.head + child.data + child.after:
                    stream.write(new)
                    changed += 1
            if changes.get(BODY):
                changed += renumbered(pdf)
            if not changed + found.changed and _is_ours(self.data):
                out.write(self.data)
                return
            if "/Info" in pdf.trailer and not pdf.trailer["/Info"].keys():
                del pdf.trailer["/Info"]
            pdf.remove_unreferenced_resources()
            out.write(saved(pdf))

    def places(self, field: str, start: int, end: int) -> tuple[Place, ...]:
        return (Pointer(field),)

    def picture(self, number: int) -> DrawnPage:
        from incognote.formats.pdf.picture import picture

        return picture(self.data, number, self.owners)


def _of_page(page: PagePart, changes: Iterable[Change]) -> Iterator[Change]:
    """Yield the part of each edit that is on a page. The first page of an edit gets its new words."""
    _, begin, stop = page
    for start, end, new in changes:
        if begin <= start <= stop or (start < begin and end > begin):
            is_first = begin <= start
            yield max(start, begin) - begin, min(end, stop) - begin, new if is_first else ""


def saved(pdf: Pdf) -> bytes:
    """Return the bytes of a document, without old revisions. Equal documents give equal bytes."""
    import pikepdf

    first = _saved(pdf)
    with pikepdf.open(io.BytesIO(first)) as again:  # a stream that is compressed while it is saved has other keys
        return _saved(again)


def _saved(pdf: Pdf) -> bytes:
    import pikepdf

    if "/ID" in pdf.trailer:  # its first half would be that of the source
        del pdf.trailer["/ID"]
    out = io.BytesIO()
    pdf.save(
        out, deterministic_id=True, object_stream_mode=pikepdf.ObjectStreamMode.disable, encryption=False,
        fix_metadata_version=False, compress_streams=True, recompress_flate=True,
    )  # fmt: skip
    return out.getvalue()


def _is_ours(data: bytes) -> bool:
    """Whether a file has one revision and nothing outside its objects, as we write it."""
    with _opened(data) as pdf:
        return saved(pdf) == data


def _opened(data: bytes) -> Pdf:
    try:
        import pikepdf
    except ImportError:
        raise MissingExtra("documents", "a PDF file") from None
    check_unpacked(data)
    try:
        pdf = pikepdf.open(io.BytesIO(data), suppress_warnings=True, attempt_recovery=True)
        pages = len(pdf.pages)
    except pikepdf.PasswordError:
        raise UnsupportedFormat("an encrypted PDF. Save it without a password") from None
    except (pikepdf.PdfError, ValueError, TypeError, KeyError, AttributeError):
        raise MalformedRecord("not a PDF file that can be read") from None
    if not 0 < pages <= MAX_PAGES:
        pdf.close()
        raise MalformedRecord(f"no pages, or more than {MAX_PAGES:,}")
    return pdf


def _content(reader: ContentReader, page: Page, number: int) -> PageContent:
    import pikepdf

    try:
        return reader.read(page, number)
    except MalformedRecord as problem:
        raise MalformedRecord(str(problem), field=f"page {number}") from None
    except (pikepdf.PdfError, ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError):
        raise MalformedRecord("a page that cannot be read", field=f"page {number}") from None


def _text(content: PageContent, number: int) -> str:
    """Return the text of a page.

    Raises:
        UnsupportedFormat: a picture covers much of it, or its letters may be drawn as shapes.
    """
    if any(share > _MOST_PICTURE for share in content.pictures):
        raise UnsupportedFormat("a page with a large picture, which has no reader", field=f"page {number}")
    problem = content.shapes.problem()
    if problem is not None:
        raise UnsupportedFormat(problem, field=f"page {number}")
    try:
        return page_text(content.glyphs).text
    except MalformedRecord as problem:
        raise MalformedRecord(str(problem), field=f"page {number}") from None


def _check_fonts(reader: ContentReader) -> None:
    """Refuse a font whose glyphs have other widths than the letters that they are said to be.

    Raises:
        MalformedRecord: there is one.
    """
    if not all(font.is_plausible() for font in reader.fonts):
        raise MalformedRecord("a font whose glyphs do not fit its characters. Print the document to a new PDF")


def _rewritten(
    pdf: Pdf, page: Page, content: PageContent, names: ResourceNames, changes: list[Change]
) -> int:
    """Write the edits of a page, and what every document loses. Return how many streams changed."""
    import pikepdf

    streams: dict[StreamKey, list[Any]] = {}
    fonts: dict[StreamKey, set[str]] = {}
    if changes:
        box = [float(each) for each in page.mediabox]
        writer = PageWriter(content, page_text(content.glyphs), max(box[0], box[2]))
        streams, fonts = writer.apply(changes), writer.fonts
    changed = 0
    for key, old in content.streams.items():
        holder = page.obj if key == (0, 0) else pdf.get_object(key)
        new = list(cleaned(names.renamed(streams.get(key, old))))
        if key not in streams and new == old and _is_plain(holder, old):
            continue
        changed += 1
        data = pikepdf.unparse_content_stream(list(_pikepdf(new)))
        if key == (0, 0):
            holder["/Contents"] = pdf.make_stream(data)
        else:
            holder.write(data)
        for font in fonts.get(key, ()):
            _add_font(pdf, page.resources if key == (0, 0) else holder, font, is_page=key == (0, 0))
    return changed


def _pikepdf(instructions: Iterable[tuple[str, list[Any]]]) -> Iterator[Any]:
    import pikepdf

    for operator, operands in instructions:
        yield pikepdf.ContentStreamInstruction(operands, pikepdf.Operator(operator))


def _is_plain(holder: Any, instructions: list[tuple[str, list[Any]]]) -> bool:
    """Whether a stream consists of its instructions, and of nothing between them or after them."""
    import pikepdf

    written = pikepdf.unparse_content_stream(list(_pikepdf(instructions)))
    return len(_BLANK.sub(b"", written)) >= len(_BLANK.sub(b"", _raw(holder)))


def _raw(holder: Any) -> bytes:
    import pikepdf

    if isinstance(holder, pikepdf.Stream):
        return bytes(holder.read_bytes())
    contents = holder.get("/Contents", None)
    if contents is None:
        return b""
    parts = [contents] if isinstance(contents, pikepdf.Stream) else list(contents)
    return b"\n".join(bytes(part.read_bytes()) for part in parts)


def _add_font(pdf: Pdf, holder: Any, font: str, *, is_page: bool) -> None:
    import pikepdf

    resources = holder if is_page else holder.get("/Resources", None)
    if resources is None:
        resources = holder["/Resources"] = pikepdf.Dictionary()
    if "/Font" not in resources:
        resources["/Font"] = pikepdf.Dictionary()
    name = resource_name(font)
    if name not in resources["/Font"]:
        resources["/Font"][name] = pdf.make_indirect(
            pikepdf.Dictionary(
                Type=pikepdf.Name("/Font"), Subtype=pikepdf.Name("/Type1"), BaseFont=pikepdf.Name(f"/{font}"),
                Encoding=pikepdf.Name("/WinAnsiEncoding"),
            )
        )

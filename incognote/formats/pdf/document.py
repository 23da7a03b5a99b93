"""A PDF document: the text of each page, and everything around it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO

from incognote.errors import MalformedRecord, MissingExtra, UnsupportedFormat
from incognote.formats.base import Change, Document, Edit, Place, Pointer, account, of_child, splice, split_edits
from incognote.formats.pdf.annotated import follow_words
from incognote.formats.pdf.bounds import check_paints, check_unpacked
from incognote.formats.pdf.cleaning import cleaned
from incognote.formats.pdf.content import ContentReader, PageContent
from incognote.formats.pdf.glyphs import StreamKey
from incognote.formats.pdf.imaging import MOST_DRAWN, PlacedWords, draw, placed, unwritable
from incognote.formats.pdf.layout import page_text
from incognote.formats.pdf.naming import ResourceNames
from incognote.formats.pdf.objects import cleaned_objects
from incognote.formats.pdf.subset import renumbered
from incognote.formats.pdf.writing import PageWriter, resource_name
from incognote.formats.pictures import DrawnPage, PagedDocument, PagePart
from incognote.nouns import Text

if TYPE_CHECKING:
    from pikepdf import Page, Pdf

    from incognote.formats.base import FieldAction

BODY = "body"
_BLANK = re.compile(rb"[\x00\t\n\f\r ]+")
MAX_PAGES = 20_000
_MOST_PICTURE = 0.35  # the largest share of a page that a picture may cover


class PictureOfText(UnsupportedFormat):
    """A page whose text is a picture or shapes, so that it must be read from its pixels."""


class PdfDocument(PagedDocument):
    """A whole document. Its pages are a text, and so are bookmarks, form fields, annotations, and properties.

    Args:
        data: the bytes.
        drawn: the pages of an output that became pictures, from 1, with the text that each shows.

    Attributes:
        pages: where the text of each page is in the text `body`. owners: the page with which each form is read.

    Raises:
        UnsupportedFormat: it is encrypted or signed, or a page is a picture.
        MalformedRecord: it is damaged, or a part of its text cannot be read.
    """

    def __init__(self, data: bytes, drawn: Mapping[int, str] = MappingProxyType({})) -> None:
        self.data = data
        self._drawn: set[int] = set()  # the pages that an output holds as pictures
        with _opened(data) as pdf:
            reader = ContentReader(pdf)
            read: set[StreamKey] = set()
            pages: list[str] = []
            for number, page in enumerate(pdf.pages, 1):
                content = _content(reader, page, number)
                read |= content.streams.keys()
                pages.append(drawn[number] if number in drawn else _text(content, number))
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
        try:
            out.write(self._written(edits, changes, values))
        except _Unwritable as problem:
            with _opened(self.data) as pdf:
                self._edit(pdf, edits, changes, values)
                self._draw(unwritable(pdf), problem)
            out.write(self._written(edits, changes, values))

    def reopened(self, output: bytes, changes: Mapping[str, Sequence[Change]]) -> Document | None:
        """Return an output in which pages that became pictures have the text that they show, or None without any."""
        if not self._drawn:
            return None
        texts = self._page_texts(changes)
        again = PdfDocument(output, {number: texts[number - 1] for number in self._drawn})
        kept = {text.field: text.content for text in again.texts}
        again.texts = tuple(
            Text(new, text.field) if text.field != BODY and _is_part(kept.get(text.field, ""), new)
            else Text(kept.get(text.field, ""), text.field)
            for text in self.texts
            for new in (splice(text.content, changes.get(text.field, ())),)
        )  # fmt: skip
        return again

    def draw_more(self, output: Document, changes: Mapping[str, Sequence[Change]]) -> bool:
        assert isinstance(output, PdfDocument)
        texts = self._page_texts(changes)
        [body] = [text.content for text in output.texts if text.field == BODY] or [""]
        again = [body[part.start : part.end] for part in output.pages]
        more = {number for number, (one, two) in enumerate(zip(texts, again, strict=False), 1)
                if "".join(one.split()) != "".join(two.split())}  # fmt: skip
        return self._draw(more, None)

    def _draw(self, more: set[int], problem: MalformedRecord | None) -> bool:
        """Add pages that an output holds as pictures. Return whether there are more of them than before.

        Raises:
            MalformedRecord: `problem`, if there are no more, or too many.
        """
        is_more = bool(more - self._drawn) and len(more | self._drawn) <= MOST_DRAWN
        if problem is not None and not is_more:
            raise problem
        if is_more:
            self._drawn |= more
        return is_more

    def _page_texts(self, changes: Mapping[str, Sequence[Change]]) -> list[str]:
        """Return the text of each page after edits."""
        [body] = [text.content for text in self.texts if text.field == BODY] or [""]
        return [splice(body[page.start : page.end], _of_page(page, changes.get(BODY, ()))) for page in self.pages]

    def _written(
        self, edits: list[Edit], changes: Mapping[str, list[Change]], values: Mapping[FieldAction, str]
    ) -> bytes:
        """Return the new bytes.

        Raises:
            _Unwritable: a font cannot be rewritten.
        """
        with _opened(self.data) as pdf:
            changed, words = self._edit(pdf, edits, changes, values)
            if self._drawn:
                texts = self._page_texts(changes)
                pages = {number: (texts[number - 1], words[number]) for number in sorted(self._drawn)}
                draw(pdf, saved(pdf), pages, self.owners)
                changed += 1
            if changes.get(BODY):
                try:
                    changed += renumbered(pdf)
                except MalformedRecord as problem:
                    raise _Unwritable(str(problem)) from None
            if not changed and _is_ours(self.data):
                return self.data
            if "/Info" in pdf.trailer and not pdf.trailer["/Info"].keys():
                del pdf.trailer["/Info"]
            pdf.remove_unreferenced_resources()
            return saved(pdf)

    def _edit(
        self, pdf: Pdf, edits: list[Edit], changes: Mapping[str, list[Change]], values: Mapping[FieldAction, str]
    ) -> tuple[int, dict[int, list[PlacedWords]]]:
        """Write edits into an opened file, all but its fonts.

        Returns:
            How many things changed, and the new words of each page.
        """
        reader, names = ContentReader(pdf), ResourceNames(pdf)
        read: set[StreamKey] = set()
        words: dict[int, list[PlacedWords]] = {}
        changed = 0
        for number, page in enumerate(pdf.pages, 1):
            content = _content(reader, page, number)
            read |= content.streams.keys()
            own = list(_of_page(self.pages[number - 1], changes.get(BODY, ())))
            words[number] = []
            changed += _rewritten(pdf, page, content, names, own, words[number])
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
        return changed + found.changed, words

    def places(self, field: str, start: int, end: int) -> tuple[Place, ...]:
        return (Pointer(field),)

    def picture(self, number: int) -> DrawnPage:
        from incognote.formats.pdf.picture import picture

        return picture(self.data, number, self.owners)


class _Unwritable(MalformedRecord):
    """A page whose fonts cannot be rewritten."""


def _is_part(kept: str, whole: str) -> bool:
    """Whether the words of a text are those of another one, in its order, with some left out."""
    words = iter(whole.split())
    return all(word in words for word in kept.split())


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
        PictureOfText: a picture covers much of it, or its letters may be drawn as shapes.
    """
    if any(share > _MOST_PICTURE for share in content.pictures):
        raise PictureOfText("a page with a large picture, or a scan", field=f"page {number}")
    problem = content.shapes.problem()
    if problem is not None:
        raise PictureOfText(problem, field=f"page {number}")
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
    pdf: Pdf, page: Page, content: PageContent, names: ResourceNames, changes: list[Change], words: list[PlacedWords]
) -> int:
    """Write the edits of a page, and what every document loses. Add the new words. Return how many streams changed."""
    import pikepdf

    streams: dict[StreamKey, list[Any]] = {}
    fonts: dict[StreamKey, set[str]] = {}
    changed = 0
    if changes:
        box = [float(each) for each in page.mediabox]
        writer = PageWriter(content, page_text(content.glyphs), max(box[0], box[2]))
        streams, fonts = writer.apply(changes), writer.fonts
        words += placed(writer)
        changed += follow_words(page, writer.moved)
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

"""HTML and XHTML: the words of a page, with everything else kept, renamed or removed by closed rules.

`markup/page.py` reads the page, `markup/rules.toml` lists what may stay. The bytes outside the edits and these rules do
not change.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO
from urllib.parse import unquote

from incognote.errors import MalformedRecord, UnsupportedFormat
from incognote.formats import encoding
from incognote.formats.base import (
    Change,
    DecodedDocument,
    Document,
    Edit,
    FieldAction,
    Format,
    Unreadable,
    account,
    splice,
    split_edits,
)
from incognote.formats.encoding import Codec
from incognote.formats.markup.page import HtmlPage
from incognote.formats.markup.rules import is_closed, rules
from incognote.formats.markup.shapes import is_shape
from incognote.nouns import Reason, Text
from incognote.text.container import of_text

_META = re.compile(
    rb"<meta[\t\n\f\r /][^>]*?charset[\t\n\f\r ]*=[\t\n\f\r ]*[\"']?[\t\n\f\r ]*([\w.:-]+)|"
    rb"\A<\?xml[^>]*?encoding=[\"']([\w.:-]+)", re.IGNORECASE
)
_ROOT = re.compile(r"(?:\s|<\?[^>]*>|<![^>]*>)*<([A-Za-z][\w:.-]*)")
_PARAMETER = re.compile(r";\s*charset\s*=\s*\"?([\w.:-]+)", re.IGNORECASE)
# The names that the Encoding Standard gives to encodings of one byte per character in which ASCII is itself.
_CHARSETS = {
    **dict.fromkeys(("utf-8", "utf8", "unicode-1-1-utf-8", "utf-16", "utf-16le", "utf-16be", "unicode"), "utf-8"),
    **dict.fromkeys(
        ("windows-1252", "cp1252", "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "us-ascii", "ascii"), "cp1252"
    ),
    **{f"windows-{number}": f"cp{number}" for number in range(1250, 1259)},
    **{f"iso-8859-{part}": f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    "iso-8859-9": "cp1254", "macintosh": "mac-roman", "koi8-r": "koi8-r", "koi8-u": "koi8-u",
}
_NO_CHARSET = Reason(
    "encoding", "", "the page is not in UTF-8 and declares no other encoding that is supported. Save it as UTF-8"
)
_OTHER_CHARSET = Reason(
    "encoding", "", "the page declares an encoding that is not supported or not its own. Save it as UTF-8"
)


class HtmlDocument(DecodedDocument):
    """One page. Its text has the field "" and all words of the page; `meta[1].author` is a structured field.

    Args:
        content: the page.
        codec: its encoding.
        xml: whether it is XHTML, which XML parsers read.

    Raises:
        MalformedRecord: it cannot be read safely.
    """

    page_of: Callable[..., HtmlPage] = HtmlPage

    def __init__(self, content: str, codec: Codec = encoding.UTF8, *, xml: bool = False) -> None:
        self.content, self.codec, self.head, self.is_xml = content, codec, codec.mark, xml
        self._page = self.page_of(content, xml=xml) if xml else self.page_of(content)
        self.texts = (Text(self._page.flow.text, ""),)
        self.actions, self.known = tuple(self._page.actions), tuple(dict.fromkeys(self._page.known))

    def rewritten(self, changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]) -> str:
        return splice(self.content, self.edits(changes, values))

    def edits(self, changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]) -> list[Change]:
        """Return the edits of `content`: those of the texts and structured fields, and those of every release.

        Raises:
            AccountingError: as in `rebuild`.
        """
        account(self, changes, values)
        page = self._page
        edits = page.flow.edits(changes.get("", ()))
        for action, value in values.items():
            if value != action.text.content:
                start, end, context = page.places[action]
                edits.append((start, end, page.escape(value, context)))
        edits = list(_quoted([*edits, *page.emptied(edits)], page.unquoted))
        starts = sorted(start for start, _, _ in edits)
        ends = sorted(end for _, end, _ in edits)
        # A change inside an edit (the attributes of a <br> that is replaced) goes with it.
        fixed = [c for c in page.changes if bisect_right(starts, c[0]) <= bisect_right(ends, c[0])]
        return [*edits, *fixed]

    def stretches(self, field: str, start: int, end: int) -> Sequence[tuple[int, int]]:
        return self._page.flow.places(start, end)

    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        new = self.rewritten(*split_edits(edits))
        out.write(new.encode(self.codec.encoding, "xmlcharrefreplace"))


def _quoted(changes: Sequence[Change], unquoted: Sequence[tuple[int, int]]) -> Iterator[Change]:
    """Yield changes, with quotes around each attribute value without quotes that they touch."""
    starts = [start for start, _ in unquoted]
    touched = {
        unquoted[i] for start, end, _ in changes
        if (i := bisect_right(starts, start) - 1) >= 0 and end <= unquoted[i][1]
    }
    yield from ((start, start, '"') for start, _ in touched)
    yield from changes
    yield from ((end, end, '"') for _, end in touched)


def page_in(text: Text) -> HtmlDocument | None:
    """Return a text of a record that is wholly HTML as a page, or None if it is another text.

    Raises:
        MalformedRecord: the page cannot be read safely. The message has the path of the text.
    """
    if not is_page(text.content):
        return None
    try:
        return HtmlDocument(text.content, xml=text.content.lstrip().startswith("<?xml"))
    except MalformedRecord as problem:
        raise MalformedRecord(f"{text.field}: {problem}", field=text.field) from None


def is_page(content: str) -> bool:
    """Whether a string is wholly HTML, and not a note with some tags in it."""
    return content.lstrip("\ufeff \t\r\n")[:1] == "<" and of_text(content) in ("HTML", "XHTML")


def checked(page: HtmlDocument, edits: Sequence[Edit]) -> list[Change]:
    """Return the edits of a page within a record, if a reader of the new page sees the texts with their edits.

    Raises:
        FormatMismatch: it would see something else.
    """
    from incognote.formats.registry import FormatMismatch

    changes, values = split_edits(edits)
    new = page.edits(changes, values)
    again = HtmlDocument(splice(page.content, new), xml=page.is_xml)
    expected = splice(page.texts[0].content, changes.get("", ()))
    if "".join(again.texts[0].content.split()) != "".join(expected.split()):
        raise FormatMismatch("the html reader does not write the content that it read")
    return new


def codec_of(data: bytes, media_type: str) -> Codec | Reason:
    """Return the encoding of a page: by its byte order mark, the media type, its own declaration, or UTF-8.

    Returns:
        The codec, or the reason if the page is not in it, or if two declarations differ.
    """
    marked = encoding.announced(data[:4])
    if marked is None or marked.mark:
        codec = marked or encoding.UTF8
    else:
        labels = [label.decode("ascii").lower() for pair in _META.findall(data) for label in pair if label]
        if parameter := _PARAMETER.search(media_type):
            labels = [parameter[1].lower()]
        names = {_CHARSETS.get(label, "") for label in labels}
        if len(names) > 1 or "" in names:
            return _OTHER_CHARSET
        codec = Codec(names.pop()) if names else encoding.UTF8
        if codec.encoding != "utf-8" and not data.isascii() and _decoded(data, encoding.UTF8) is not None:
            return _OTHER_CHARSET
    if _decoded(data, codec) is None:
        return _OTHER_CHARSET if codec.encoding != "utf-8" else _NO_CHARSET
    return codec


def _decoded(data: bytes, codec: Codec) -> str | None:
    """Return the characters after the byte order mark, or None if they do not encode to the same bytes."""
    try:
        content = codec.decode(data[len(codec.mark) :])
        return content if codec.mark + codec.encode(content) == data else None
    except UnicodeError:
        return None


def _open(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    data = stream.read(encoding.MAX_BYTES + 1)
    if len(data) > encoding.MAX_BYTES:
        yield Unreadable(encoding.too_large())
        return
    codec = codec_of(data, media_type)
    if isinstance(codec, Reason):
        reason = encoding.not_text(data) if b"\x00" in data[: encoding.HEAD] else None
        yield Unreadable(reason or codec, data)
        return
    content = _decoded(data, codec)
    assert content is not None  # codec_of has decoded it
    if (reason := _other(content)) is not None:
        yield Unreadable(reason, data)
        return
    yield HtmlDocument(content, codec, xml="xhtml" in media_type)


def _other(content: str) -> Reason | None:
    """Return the reason if a page is really in another format, such as C-CDA, else None."""
    from incognote.formats.registry import has_reader

    what = of_text(content)
    if what is None or what in ("HTML", "XHTML", "SVG"):
        return None
    root = _ROOT.match(content.lstrip("\ufeff")) if what == "XML" else None
    is_element = root is not None and any(root[1].lower() in names for names in rules()["elements"].values())
    if is_element:
        return None
    if has_reader(what):
        return Reason(UnsupportedFormat.code, "", f"{what} in an HTML file. Send it with its own suffix or media type")
    return encoding.unsupported(what)


def second(data: bytes) -> Iterable[str]:
    """Return all text that lxml sees in a page: its words, attributes, comments, and the names of odd elements."""
    codec = codec_of(data, "")
    return second_of(codec.decode(data[len(codec.mark) :]) if isinstance(codec, Codec) else data.decode("latin-1"))


def second_of(content: str) -> Iterator[str]:
    """Like `second`, for a decoded page or a part of one."""
    from lxml import etree, html

    parser = html.HTMLParser(no_network=True, huge_tree=True, encoding="utf-8")
    root = html.document_fromstring(f"{content}<p></p>".encode(), parser=parser)  # lxml refuses an empty page
    words: list[str] = []
    for event, node in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        is_block = isinstance(node.tag, str) and node.tag in _BLOCKS
        if event == "start":
            words.append("\n" * is_block)
            if node.tag == "style":
                yield from (part for part in re.split(r"[{};]", node.text or "") if not is_closed(part))
            else:
                words.append(node.text or "")
            yield from (name for name in (node.tag, *node.attrib) if not _PLAIN_NAME.fullmatch(name))
            for name, value in node.attrib.items():
                if not is_shape(name.lower(), value):
                    yield from (part for part in {value, unquote(value)} if not is_closed(part))
        else:
            words += ("\n" * is_block if event == "end" else node.text or "", node.tail or "")
    yield from "".join(words).splitlines()


_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9:-]{0,30}")
_BLOCKS = frozenset(
    "address article aside blockquote br body caption center dd div dl dt fieldset figcaption footer form h1 h2 h3 h4"
    " h5 h6 head header hr html legend li main nav ol option p pre section select style script table tbody td textarea"
    " tfoot th thead title tr ul text desc template".split()
)


FORMATS = (
    Format("html", ("text/html",), (".html", ".htm"), _open, contents=("HTML",), second=second),
    Format("xhtml", ("application/xhtml+xml",), (".xhtml", ".xht"), _open, contents=("XHTML",), second=second),
)

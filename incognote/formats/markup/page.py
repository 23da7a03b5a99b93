"""Read an HTML page in place: its words in reading order, and the changes that every release makes.

The rules of the HTML standard decide where a tag, an attribute, or a text begins. Some of them depend on the tree that
a browser builds. Wherever that could matter, the reader removes the part or refuses the page, so that every browser
reads the output as we do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from incognote.errors import MalformedRecord
from incognote.formats.base import Change, FieldAction
from incognote.formats.markup import rules as closed
from incognote.formats.markup.flow import BLOCK, CELL, ROW, Flow, FlowLine, decoded
from incognote.formats.markup.rules import Names, rules
from incognote.formats.markup.tags import Attribute, Tag, raw_end, read_tag
from incognote.nouns import Known, Text

_COMMENT = re.compile(r"<!--(?:-?>|.*?(?:--!?>|\Z))", re.DOTALL)
_DOCTYPE = re.compile(
    r"<!DOCTYPE\s+html(?:\s+PUBLIC\s+\"-//(?:W3C|IETF)//DTD X?HTML [\w. +]{0,40}//EN\""
    r"(?:\s+\"https?://www\.w3\.org/TR/[\w./-]{1,60}\")?|\s+SYSTEM\s+\"about:legacy-compat\")?\s*>",
    re.IGNORECASE,
)
_DECLARATION = re.compile(
    r"<\?xml version=[\"']1\.0[\"'](?: encoding=[\"'][A-Za-z0-9-]{1,20}[\"'])?(?: standalone=[\"'](?:yes|no)[\"'])?"
    r" ?\?>"
)
_SHEET = re.compile(
    r"(?:\.{0,2}/)*(?:(?:css|styles?|static|assets)/)?(?:styles?|main|print|screen|default|theme|page)(?:\.min)?\.css"
)
_BLANK = re.compile(r"[ \t\n\f\r]*")
_OPEN = re.compile(r"(?:<|&#?[0-9A-Za-z]*)\Z")
_HIDDEN = r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
_PRE = r"white-space(?:-collapse)?\s*:\s*(?:pre|break-spaces)"
_REVERSED = re.compile(r"unicode-bidi\s*:[^;}]*override|text-orientation\s*:\s*upright", re.IGNORECASE)
_DEEP = 200


class _Region(NamedTuple):
    """An open element that changes how its content is read."""

    name: str
    depth: int
    is_aside: bool
    is_exact: bool


class HtmlPage:
    """One page.

    Args:
        source: the page.
        xml: whether an XML parser reads it, so that `<title/>` is empty and CDATA is text.

    Attributes:
        flow: the text of the page, and the mapping of its edits.
        changes: the changes that every release makes: what the closed rules remove or rename.
        actions, known: the structured fields in `<meta>`, and the identifiers that they reveal.
        places: the place of the value of each action, and its context.
        unquoted: the places of attribute values without quotes.

    Raises:
        MalformedRecord: a part of it cannot be read safely. The message has its line, the cause, and the remedy.
    """

    def __init__(self, source: str, *, xml: bool = False) -> None:
        self._source, self._xml = source, xml
        self._line = FlowLine()
        self._lines, self._open_lines = [self._line], [self._line]
        self._regions: list[_Region] = []
        self._names = Names()
        self._classes: dict[str, frozenset[str]] = {_HIDDEN: frozenset(), _PRE: frozenset()}
        self._noscript: int | None = None
        self.changes: list[Change] = []
        self.actions: list[FieldAction] = []
        self.known: list[Known] = []
        self.places: dict[FieldAction, tuple[int, int, str]] = {}
        self.unquoted: list[tuple[int, int]] = []
        if (nul := source.find("\x00")) >= 0:
            raise self._refused(nul, "a NUL character, which browsers skip. Remove it")
        self._read()
        self.changes = list(outermost(self.changes))
        self.flow = Flow(self._lines, self.escape)

    def escape(self, new: str, context: str) -> str:
        """Return new words as the page writes them in a context: content (""), `pre`, `raw`, `cdata`, or a quote."""
        if context == "cdata":
            return new.replace("]]>", "]]]]><![CDATA[>")
        new = new.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        if context == "":
            return new.replace("\n", "<br/>" if self._xml else "<br>")
        if context in ("pre", "raw"):
            return new
        return new.replace("'", "&#39;").replace('"', "&quot;").replace("\n", "&#10;")

    def emptied(self, edits: Sequence[Change]) -> Iterable[Change]:
        """Return the removal of markup that edits have left without words, if it would be visible."""
        return ()

    def _read(self) -> None:
        source, at = self._source, 0
        while at < len(source):
            less = self._less(at)
            if less != at:
                end = len(source) if less < 0 else less
                self._words(at, end)
                at = end
                continue
            after = source[at + 1 : at + 3]
            if after[:1].isascii() and after[:1].isalpha():
                at = self._start(at)
            elif after[:1] == "/" and after[1:].isascii() and after[1:].isalpha():
                at = self._end(at)
            elif source.startswith("<!--", at):
                at = self._remove(at, _COMMENT.match(source, at).end())  # type: ignore[union-attr]  # matches to the end
            elif source[at : at + 9].lower() == "<!doctype":
                at = self._doctype(at)
            elif self._xml and source.startswith("<![CDATA[", at):
                stop = source.find("]]>", at)
                if stop < 0:
                    raise self._refused(at, "a CDATA section without an end")
                self._line.put(source[at + 9 : stop], at + 9, stop, context="cdata")
                at = stop + 3
            elif at == 0 and (declaration := _DECLARATION.match(source)):
                at = declaration.end()
            elif after[:1] in ("!", "?") or (after[:1] == "/" and after[1:]):
                at = self._remove(at, self._after("?>" if self._xml and after[:1] == "?" else ">", at))
            else:  # a sign, such as "BP < 120"
                self._line.put("<", at, at + 1, context=self._context())
                at += 1
        if self._noscript is not None and self._noscript >= 0:
            raise self._refused(self._noscript, "the end of a <noscript> is within other markup. Remove the element")

    def _less(self, at: int) -> int:
        """Return the place of the next sign that may begin a tag, or -1."""
        return self._source.find("<", at)

    def _words(self, start: int, end: int) -> None:
        exact = any(region.is_exact for region in self._regions)
        self._line.words(self._source, start, end, "pre" if exact else "", exact=exact)

    def _context(self) -> str:
        return "pre" if any(region.is_exact for region in self._regions) else ""

    def _doctype(self, at: int) -> int:
        end = self._after(">", at)
        if "[" in self._source[at:end]:
            raise self._refused(at, "a document type with declarations of its own. Remove them")
        if not _DOCTYPE.fullmatch(self._source, at, end):
            self.changes.append((at, end, "<!DOCTYPE html>"))
        return end

    def _start(self, at: int) -> int:
        tag = read_tag(self._source, at)
        if tag is None:
            return self._remove(at, len(self._source))
        elements, name = rules()["elements"], tag.name
        if name in elements["refused"]:
            raise self._refused(at, f"<{name}>, which ends all markup. Use <pre> instead")
        if name in elements["removed"]:
            return self._remove(at, tag.end if tag.is_closed else raw_end(self._source, name, tag.end)[1])
        if name == "meta":
            return self._meta(tag)
        if not any(name in elements[kind] for kind in ("inline", "block", "row", "cell", "raw")):
            return self._remove(at, tag.end)
        if name == "link" and not _SHEET.fullmatch(tag.value(self._source, "href")):
            return self._remove(at, tag.end)
        if name == "bdo" and tag.value(self._source, "dir").lower() == "rtl":
            raise self._refused(at, "text that is shown in reverse order (<bdo>). Write it in reading order")
        self._separate(name, tag)
        self._attributes(tag)
        if name in elements["raw"]:
            if tag.is_closed and not self._xml:
                raise self._refused(at, f"<{name}/>, which browsers read in different ways. Close it with </{name}>")
            return tag.end if tag.is_closed else self._raw(tag)
        if name == "noscript" and self._noscript is None:
            match = re.compile(r"</noscript", re.IGNORECASE).search(self._source, tag.end)
            self._noscript = match.start() if match else -1
        if name not in elements["void"] and not tag.is_closed:
            self._enter(tag)
        return tag.end

    def _separate(self, name: str, tag: Tag) -> None:
        elements = rules()["elements"]
        if name == "br":
            blank = _BLANK.match(self._source, tag.end)  # layout, which goes with the tag
            self._line.line_break(tag.start, tag.end if self._context() or blank is None else blank.end())
            if tag.attributes:
                self.changes.append((tag.start + 3, tag.end - 1 - tag.is_closed, ""))
        elif name in elements["row"]:
            self._line.separate(ROW)
        elif name in elements["cell"]:
            self._line.separate(CELL)
        elif name in elements["block"]:
            self._line.separate(BLOCK)

    def _enter(self, tag: Tag) -> None:
        """Follow an element that is shown elsewhere, or whose white space counts, to its end."""
        kinds = [tag.name, *(f".{name}".lower() for name in tag.value(self._source, "class").split())]
        style = tag.value(self._source, "style")

        def has(form: str) -> bool:
            return re.search(form, style, re.IGNORECASE) is not None or any(k in self._classes[form] for k in kinds)

        if _REVERSED.search(style):
            raise self._refused(tag.start, "a style that shows text in another order. Write it in reading order")
        is_aside = tag.name in rules()["elements"]["aside"] or has(_HIDDEN) or (
            any(each.name == "hidden" for each in tag.attributes))
        is_exact = tag.name in ("pre", "listing") or has(_PRE)
        for i, region in enumerate(self._regions):
            if region.name == tag.name:
                self._regions[i] = region._replace(depth=region.depth + 1)
        if is_aside or is_exact:
            if len(self._regions) == _DEEP:
                raise self._refused(tag.start, f"more than {_DEEP} hidden elements within each other")
            self._regions.append(_Region(tag.name, 1, is_aside, is_exact))
            if is_aside:
                self._line = FlowLine()
                self._lines.append(self._line)
                self._open_lines.append(self._line)

    def _end(self, at: int) -> int:
        tag = read_tag(self._source, at)
        if tag is None:
            return self._remove(at, len(self._source))
        elements, name = rules()["elements"], tag.name
        known = any(name in elements[kind] for kind in ("inline", "block", "row", "cell", "raw"))
        if not known or name in elements["removed"] or name == "meta":
            return self._remove(at, tag.end)
        if name == "br":
            self._separate(name, tag._replace(attributes=[]))
        if tag.attributes or tag.is_closed:
            self.changes.append((at + 2 + len(name), tag.end - 1, ""))
        if name == "noscript" and self._noscript is not None:
            if at != self._noscript:
                raise self._refused(at, "the end of a <noscript> is within other markup. Remove the element")
            self._noscript = None
        for i, region in enumerate(self._regions):
            if region.name == name:
                self._regions[i] = region._replace(depth=region.depth - 1)
        while self._regions and any(region.depth == 0 for region in self._regions):
            if self._regions.pop().is_aside:
                self._open_lines.pop()
                self._line = self._open_lines[-1]
        if name != "br":
            self._separate(name, tag)
        return tag.end

    def _raw(self, tag: Tag) -> int:
        """Read the content of a title, a text area, or a style sheet."""
        start = tag.end
        stop, end = raw_end(self._source, tag.name, start)
        if tag.name == "style":
            style = self._source[start:stop]
            if _REVERSED.search(style):
                raise self._refused(tag.start, "a style that shows text in another order. Write it in reading order")
            if stop == end:  # never closed
                return self._remove(tag.start, end)
            new = closed.sheet(style, self._names)
            if new != style:
                self.changes.append((start, stop, new))
            for form, names in self._classes.items():
                self._classes[form] = names | closed.selected(style, form)
            return self._end(stop)
        if "<" in self._source[start:stop] or stop == end:
            problem = f"a <{tag.name}> with a tag in it, or without an end. Write < as &lt;, and close it"
            raise self._refused(start, problem)
        line = FlowLine()
        self._lines.append(line)
        line.words(self._source, start, stop, "raw", exact=tag.name == "textarea")
        return self._end(stop)

    def _meta(self, tag: Tag) -> int:
        rule = rules()["meta"]
        kinds = (tag.value(self._source, key).lower().strip() for key in ("name", "property", "http-equiv"))
        kind = next(filter(None, kinds), "")
        content = next((each for each in tag.attributes if each.name == "content"), None)
        if not kind and tag.value(self._source, "charset"):
            kind = "charset"
        value = decoded(self._source, *content.value) if content else ""
        is_layout = (kind in rule["layout"] and closed.is_layout(value)) or (
            kind in rule["program"] and closed.is_producer(value))
        if not is_layout and not (content and any(kind in rule[key] for key in ("person", "date", "words"))):
            return self._remove(tag.start, tag.end)
        own = {"name", "property", "http-equiv"}
        self._attributes(tag, kept={each.name for each in tag.attributes if each.name in own
                                    and tag.value(self._source, each.name).lower().strip() == kind} | {"content"})
        if content is None or is_layout or not value.strip():
            return tag.end
        if kind in rule["words"]:
            self._attribute_words(content)
            return tag.end
        date = kind in rule["date"]
        text = Text(value, f"meta[{len(self.actions) + 1}].{kind}")
        action = FieldAction(text, 0, len(value), "date" if date else "mask", "DATE" if date else "PERSON")
        self.actions.append(action)
        self.places[action] = (*content.value, content.quote)
        if content.quote == "=":
            self.unquoted.append(content.value)
        if not date:
            self.known.append(Known("PERSON", value))
        return tag.end

    def _attributes(self, tag: Tag, kept: frozenset[str] | set[str] = frozenset()) -> None:
        rule = rules()["attributes"]
        seen: set[str] = set()
        if tag.name == "br":
            return
        for each in tag.attributes:
            value = decoded(self._source, *each.value)
            name, new = each.name, value
            keep = True
            if name in seen:
                keep = False
            elif name in kept or (name == "href" and tag.name == "link"):
                pass
            elif name in rule["words"]:
                self._attribute_words(each)
            elif name in rule["names"]:
                sign = "#" if name == "usemap" and value.startswith("#") else ""
                new = sign + self._names.of_all(value.removeprefix(sign))
            elif name in rule["links"]:
                new = "#" + self._names.of_all(value[1:]) if value.startswith("#") else "#"
            elif name == "style":
                new = closed.declarations(value, self._names)
            elif name in rule["layout"] or name in rule["drawing"]:
                new, keep = closed.layout(value, self._names, is_drawing=name in rule["drawing"])
                if name in ("width", "height") and tag.name in rules()["elements"]["sized"]:
                    keep = closed.is_size(value)
            else:
                keep = (name in rule["language"] and closed.is_language(value)) or (
                    name in rule["namespaces"] and closed.is_namespace(value))
            seen.add(name)
            if not value:
                new = value
            if not keep or (value and not new):
                alone = self._source[each.end] != "/" and self._source[each.start - 1] in " \t\r\n\f/"
                start = each.start - alone
                self.changes.append((start, each.end, ""))
            elif new != value:
                quote = '"' if each.quote == "=" else ""
                self.changes.append((*each.value, f"{quote}{self.escape(new, each.quote)}{quote}"))

    def _attribute_words(self, attribute: Attribute) -> None:
        start, end = attribute.value
        if start == end:
            return
        line = FlowLine()
        self._lines.append(line)
        line.words(self._source, start, end, attribute.quote)
        if attribute.quote == "=":
            self.unquoted.append(attribute.value)

    def _remove(self, start: int, end: int) -> int:
        """Remove a part. An empty comment keeps the words around it from becoming a tag or a reference."""
        is_open = _OPEN.search(self._source, max(0, start - 40), start) is not None
        self.changes.append((start, end, "<!---->" if is_open else ""))
        return end

    def _after(self, sign: str, at: int) -> int:
        found = self._source.find(sign, at)
        return len(self._source) if found < 0 else found + len(sign)

    def _refused(self, at: int, problem: str) -> MalformedRecord:
        return MalformedRecord(f"line {self._source.count(chr(10), 0, at) + 1}: {problem}")


Stretch = TypeVar("Stretch", bound=tuple[int, int, str])


def outermost(changes: Iterable[Stretch]) -> Iterator[Stretch]:
    """Yield changes or marks in order, without those inside another one."""
    end = -1
    for change in sorted(changes, key=lambda change: (change[0], -change[1])):
        if change[1] > end or change[0] >= end:
            yield change
            end = max(end, change[1])

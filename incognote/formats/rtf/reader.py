"""Read RTF token by token into texts, structured fields, and removals, each with its place in the source."""

from __future__ import annotations

import codecs
import re
import sys
import unicodedata

from incognote.errors import MalformedRecord
from incognote.formats.rtf import closed, words
from incognote.formats.rtf.parts import RtfParts
from incognote.formats.rtf.stretch import RtfText, encoded

_TOKEN = re.compile(
    r"(?P<brace>[{}])|\\(?:(?P<word>[A-Za-z]+)(?P<number>-?\d+)? ?|'(?P<hex>[0-9A-Fa-f]{2})|(?P<symbol>[^A-Za-z']))"
    r"|(?P<blank>[\r\n\0]+)|(?P<run>[^\\{}\r\n\0]+)",
    re.DOTALL,
)
_START = re.compile(r"(?:\xef\xbb\xbf)?\s*\{\s*\\rtf(?![a-z])")
_SKIPPED = re.compile(r"[{}]|\\bin(\d+) ?|\\.", re.DOTALL)
_PLAIN = re.compile(r"[\t\x20-\x7e]+")
_LOW = re.compile(r"[\r\n]*\\u(-?\d{1,5})(?!\d) ?")
_DEEPEST = 2000
_AGAIN = "Save the document again as RTF"
_LONGEST_NUMBER = 5  # digits of the number of a control word; a longer one could be a record number
_LONGEST_CODE = 7  # digits of the number of a character


class _Group:
    """The state within one group. A group inside it begins with a copy."""

    def __init__(self, stretch: RtfText) -> None:
        self.start = 0
        self.stretch = self.flow = stretch  # where characters go; where the characters of a field's result go
        self.word = ""  # the destination
        self.opened = False  # whether this group itself opened the destination
        self.ignorable = self.fresh = False  # after \*; before anything else
        self.uc = 1
        self.font: int | None = None
        self.associated: int | None = None
        self.by_associated = self.hidden = self.deleted = self.in_table = False
        self.texts = self.placeholders = 0  # how many there were when it began
        self.shape: dict[str, str] = {}

    @property
    def unseen(self) -> bool:
        """Whether characters here are removed."""
        return self.stretch.removed or self.hidden or self.deleted

    def inner(self, start: int) -> _Group:
        group = _Group.__new__(_Group)
        group.__dict__.update(self.__dict__)  # four times as fast as copy.copy
        group.start, group.opened, group.ignorable, group.fresh = start, False, False, True
        return group


def read(source: str) -> RtfParts:
    """Read one document.

    Args:
        source: its bytes, each as one character.

    Raises:
        MalformedRecord: it is not one complete RTF document, or a part of it cannot be read.
    """
    return _Reader(source).read()


class _Reader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.parts = RtfParts()
        self.placeholders = 0
        self.void = RtfText(removed=True)
        self.fonts: dict[int, str] = {}
        self.ids: dict[str, int] = {}  # the new numbers of lists
        self.default_font: int | None = None
        self.defined_font: int | None = None
        self.page = words.FAMILIES["ansi"]
        self.pending: list[int] = []  # the bytes of an unfinished character, and where they begin
        self.pending_from = self.pending_end = 0
        body = self.parts.text("body")
        body.end = len(source)
        self.group = _Group(body)
        self.stack: list[_Group] = []

    def read(self) -> RtfParts:
        start = _START.match(self.source)
        if start is None:
            raise MalformedRecord("not RTF: it does not begin with {\\rtf. Give the file its own suffix")
        at = self.source.index("{")
        while at < len(self.source):
            token = _TOKEN.match(self.source, at)
            if token is None:
                raise MalformedRecord(f"byte {at}: a backslash without a control word. {_AGAIN}")
            at = self._token(token, at)
            if not self.stack:
                break
        if self.stack:
            raise MalformedRecord("a group is not closed: the document ends early. Export it again")
        if self.source[at:].strip("\0 \t\r\n\x1a"):
            raise MalformedRecord(f"byte {at}: content after the end of the document. Send each document on its own")
        return self.parts

    def _token(self, token: re.Match[str], at: int) -> int:
        """Process one token. Return the position after it."""
        end = token.end()
        kind = token.lastgroup
        if kind == "blank":
            return end
        if self.pending and kind not in ("run", "hex"):
            self._broken()
        group = self.group
        if token["brace"] == "}":
            self._end(at)
            return end
        if group.ignorable and kind not in ("word", "number"):
            return self._remove(group)
        if kind == "brace":
            self._begin(at)
            return end
        if kind == "hex":
            self._byte(int(token["hex"], 16), at, end)
        elif kind == "run":
            self._run(at, end)
        elif kind == "symbol":
            end = self._symbol(token["symbol"], at, end)
        else:
            end = self._word(token["word"], token["number"], at, end)
        group.fresh = False
        return end

    def _begin(self, at: int) -> None:
        if len(self.stack) >= _DEEPEST:
            raise MalformedRecord(f"byte {at}: more than {_DEEPEST} groups inside each other")
        self.stack.append(self.group)
        self.group = self.group.inner(at)

    def _end(self, at: int) -> None:
        group = self.group
        if group.opened:
            self._close(group, at)
        self.group = self.stack.pop()

    def _symbol(self, symbol: str, at: int, end: int) -> int:
        group = self.group
        if symbol == "*":
            group.ignorable = group.fresh
        elif symbol in words.LAYOUT:
            self._layout(symbol, at, end)
        elif symbol in words.SYMBOLS:
            self._emit(words.SYMBOLS[symbol], at, end)
        return end  # \- and the symbols of indexes show nothing

    def _word(self, word: str, number: str | None, at: int, end: int) -> int:
        """Process a control word. Return where to read on."""
        group = self.group
        value = int(number[:12]) if number else 1
        digits = len(number.lstrip("-")) if number else 0
        is_long = digits > _LONGEST_NUMBER
        if word == "u" and number and digits <= _LONGEST_CODE and -0x10000 < value <= sys.maxunicode:
            return self._unicode(value, end, at)
        if (is_long and word in words.STRUCTURE) or (word == "u" and number):
            raise MalformedRecord(f"byte {at}: a control word with a number that is too long. {_AGAIN}")
        if group.ignorable or word in words.DESTINATIONS:
            if group.word == "stylesheet" and word in words.STYLE_WORDS:
                group.ignorable = False
                return end
            return self._destination(word, at, end)
        if word == "bin":
            raise MalformedRecord(f"byte {at}: binary data outside a picture. {_AGAIN}")
        if word in words.LAYOUT:
            self._layout(word, at, end)
        elif word in words.SYMBOLS:
            self._emit(words.SYMBOLS[word], at, end)
        elif word in words.STATES:
            self._state(word, value, at)
        elif word in words.FAMILIES:
            self.page = words.FAMILIES[word]
        elif is_long and number and word in words.NUMBERED:
            new = self.ids.setdefault(number, 10 ** (_LONGEST_NUMBER - 1) + len(self.ids))
            self.parts.defaults.append((at, end, f"\\{word}{new}"))
        elif is_long or word not in closed.vocabulary("words") or (number and word.endswith(words.STAMPS)):
            self.parts.defaults.append((at, end, ""))
        return end

    def _state(self, word: str, value: int, at: int) -> None:
        group = self.group
        if word == "uc":
            group.uc = min(max(value, 0), 16)
        elif word == "v":
            group.hidden = value != 0
        elif word in ("deleted", "mvf"):
            group.deleted = value != 0
        elif word == "plain":
            group.hidden = group.by_associated = False
            group.font = group.associated = None
        elif word in ("loch", "hich", "ltrch"):
            group.by_associated = False
        elif word in ("dbch", "rtlch"):
            group.by_associated = True
        elif word in ("pard", "intbl"):
            group.in_table = word == "intbl"
        elif word == "deff":
            self.default_font = value
        elif word == "cpg":
            codec = _codec(value, at)
            if group.word == "fonttbl":
                self.fonts[self.defined_font or 0] = codec
        elif word == "ansicpg":
            self.page = _codec(value, at)
        elif group.word == "fonttbl":
            if word == "f":
                self.defined_font = value
            elif word == "fcharset" and value in words.CHARSETS:
                self.fonts[self.defined_font or 0] = words.CHARSETS[value]
        elif word == "af":
            group.associated = value
        elif word == "f":
            group.font = value

    def _destination(self, word: str, at: int, end: int) -> int:
        group = self.group
        if len(self.stack) == 1 or group.opened:
            raise MalformedRecord(f"byte {at}: a destination without its own group. {_AGAIN}")
        if not group.fresh and not group.ignorable:
            group.start = at
        if word in words.PLACEHOLDERS:
            return self._remove(group, words.PLACEHOLDERS[word])
        if word in words.REMOVED or word not in words.DESTINATIONS:
            return self._remove(group)
        group.ignorable = False
        if word in words.FLOW:
            group.stretch = group.flow
            return end
        group.word, group.opened = word, True
        group.texts, group.placeholders, group.shape = len(self.parts.texts), self.placeholders, {}
        if word in words.SILENT:
            group.stretch = self.void
            group.flow = group.flow if word in words.AROUND else self.void
            return end
        group.hidden = group.deleted = False  # Word puts comments into hidden groups
        group.stretch = group.flow = self.parts.text(words.TEXTS[word]) if word in words.TEXTS else RtfText()
        group.stretch.end = end
        return end

    def _remove(self, group: _Group, new: str = "") -> int:
        """Replace the rest of a group without reading it. Return the position of its closing brace."""
        depth = 0
        at = group.start + 1
        while True:
            token = _SKIPPED.search(self.source, at)
            if token is None:
                raise MalformedRecord("a group is not closed: the document ends early. Export it again")
            at = token.end()
            if token[1]:
                at += int(token[1])
            depth += {"{": 1, "}": -1}.get(token[0], 0)
            if depth < 0:
                break
        self._replace(group, at - 1, new)
        return at - 1

    def _replace(self, group: _Group, closing: int, new: str = "") -> None:
        """Remove a group up to its closing brace, or put a placeholder into the text around it."""
        whole = self.source[group.start] == "{"
        outer, end = (self.stack[-1], closing + 1) if whole else (group, closing)
        self.parts.override(group.start, [(group.start, end, "" if outer.unseen else new)])
        if new:
            self.placeholders += 1
            if not outer.unseen:
                outer.stretch.add(new, group.start, end, group.uc)

    def _close(self, group: _Group, at: int) -> None:
        """Decide about a destination whose group ends at `at`."""
        word, stretch = group.word, group.stretch
        stretch.end = at if not stretch.removed else 0
        if word in words.NAMES:
            self.parts.names(word, stretch)
        elif word in ("sn", "sv") and self.stack[-1].word == "sp":
            self.stack[-1].shape[word] = stretch.text
        elif word == "sp":
            if not all(closed.keeps(words.CLOSED[part], group.shape.get(part, "?")) for part in ("sn", "sv")):
                self._replace(group, at)
        elif word in ("shp", "shpgrp"):  # a picture in the properties of a shape is not where a placeholder shows
            if self.placeholders > group.placeholders and len(self.parts.texts) == group.texts:
                self._replace(group, at, words.PLACEHOLDERS["pict"])
        elif word in words.CLOSED:
            rule, content = words.CLOSED[word], stretch.text
            if rule == "marks":
                self.parts.override(group.start, stretch.changes(list(closed.masked_marks(content))))
            elif rule in ("fonts", "styles"):
                self.parts.override(group.start, stretch.changes(list(closed.renamed(rule, content))))
            elif content and not closed.keeps(rule, content):
                if rule == "bookmark" and word != "ffname":
                    self._replace(group, at)
                else:
                    self.parts.override(group.start, stretch.changes([(0, len(content), "")]))

    def _run(self, at: int, end: int) -> None:
        """Process unescaped characters."""
        while at < end:
            plain = None if self.pending else _PLAIN.match(self.source, at, end)
            if plain is None:
                self._byte(ord(self.source[at]), at, at + 1)
                at += 1
            else:
                self._emit(plain[0], at, plain.end(), exact=True)
                at = plain.end()

    def _byte(self, byte: int, at: int, end: int) -> None:
        """Process one byte in the code page of the font."""
        if not self.pending:
            self.pending_from = at
        self.pending.append(byte)
        characters = codecs.getincrementaldecoder(self._codec())("replace").decode(bytes(self.pending))
        if characters:
            self.pending.clear()
            self._emit(characters, self.pending_from, end)
        self.pending_end = end

    def _broken(self) -> None:
        """Take an unfinished character as one that cannot be decoded."""
        self.pending.clear()
        self._emit("\ufffd", self.pending_from, self.pending_end)

    def _codec(self) -> str:
        group = self.group
        font = self.defined_font if group.word == "fonttbl" else group.font
        if group.by_associated and group.associated is not None:
            font = group.associated
        if font is None:
            font = self.default_font
        return self.fonts.get(font, self.page) if font is not None else self.page

    def _unicode(self, value: int, at: int, start: int) -> int:
        """Process `\\uN` with its fallback characters, and with the second half of a surrogate pair."""
        at, is_same = self._fallback(at, value % 0x10000)
        code = value % 0x10000 if value < 0x10000 else value
        if 0xD800 <= code < 0xDC00 and (low := _LOW.match(self.source, at)):
            second = int(low[1]) % 0x10000
            if 0xDC00 <= second < 0xE000:
                code = 0x10000 + ((code - 0xD800) << 10) + second - 0xDC00
                at, other = self._fallback(low.end(), code)
                is_same = is_same and other
        character = "\ufffd" if 0xD800 <= code < 0xE000 or code > 0x10FFFF else chr(code)
        if self.group.ignorable:
            return self._remove(self.group)
        if not is_same and not self.group.unseen:
            self.parts.defaults.append((start, at, encoded(character, self.group.uc)))
        self._emit(character, start, at)
        self.group.fresh = False
        return at

    def _fallback(self, at: int, code: int) -> tuple[int, bool]:
        """Return the position after the fallback characters, and whether they are complete and can hide no text."""
        octets = bytearray()
        for _ in range(self.group.uc):
            token = _TOKEN.match(self.source, at)
            while token is not None and token["blank"]:
                at = token.end()
                token = _TOKEN.match(self.source, at)
            if token is None or token["brace"] or token["word"] or token["symbol"] in ("*", "\r", "\n"):
                break
            octets.append(int(token["hex"], 16) if token["hex"] else ord((token["symbol"] or self.source[at])[-1]))
            at = at + 1 if token["run"] else token.end()
        shown = octets.decode(self._codec(), "replace")
        own = chr(code)
        base = unicodedata.normalize("NFKD", own)[:1].casefold()
        hides = shown not in (own, "") and shown.casefold() != base and any(c.isalnum() for c in shown)
        return at, len(octets) == self.group.uc and not hides

    def _emit(self, characters: str, start: int, end: int, *, exact: bool = False) -> None:
        if self.group.unseen:
            if characters.strip(" ;") or not self.group.stretch.removed:
                self.parts.defaults.append((start, end, ""))
        else:
            self.group.stretch.add(characters, start, end, self.group.uc, exact=exact)

    def _layout(self, word: str, start: int, end: int) -> None:
        stretch = self.group.stretch
        if stretch.removed or (self.group.unseen and word == "tab"):
            return
        stays = word in words.LAYOUT_BEFORE
        if stays:  # the end of a cell is also that of its last paragraph, and the end of a row that of its last cell
            start = stretch.without_last(words.LAYOUT_BEFORE[word], start)
        stretch.add(words.LAYOUT[word], start, end, self.group.uc, stays=stays)
        stretch.is_open = word in ("cell", "nestcell") or (word == "par" and self.group.in_table)


def _codec(page: int, at: int) -> str:
    """Return Python's codec for a code page.

    Raises:
        MalformedRecord: the code page is not one that is read.
    """
    if page not in words.PAGES:
        raise MalformedRecord(f"byte {at}: a code page that is not supported. {_AGAIN}")
    return words.PAGES[page]

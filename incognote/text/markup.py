"""Markup inside a text: tags and comments that a browser would not show, and emphasis inside a word."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.text.escapes import Edit

_INLINE = "a|abbr|acronym|b|bdi|bdo|big|cite|code|del|dfn|em|font|i|ins|kbd|mark|nobr|q|s|samp|small|span|strike|strong|sub|sup|tt|u|var|wbr"
_BLOCK = (
    "address|article|blockquote|body|br|caption|center|dd|div|dl|dt|figure|footer|form|h[1-6]|head|header|hr|html|img|input|label|li|"
    "link|main|meta|nav|ol|option|p|paragraph|pre|section|select|style|table|tbody|td|text|textarea|tfoot|th|thead|title|tr|ul"
)
_TAG = re.compile(
    rf"<!--.*?-->|<!\[CDATA\[|\]\]>|</?(?:(?P<inline>{_INLINE})|(?P<block>{_BLOCK}))(?:[ \t\r\n]+(?P<more>[^<>]{{0,2000}}?))?[ \t]*/?>",
    re.IGNORECASE | re.DOTALL,
)
_MARK = r"(\*{1,3}|__|~~|`{1,2})([^\W\d_]{1,24})"
_EMPHASIS = re.compile(rf"(?<=[^\W\d_]){_MARK}\1|(?<![\w*`~]){_MARK}\3(?=[^\W\d_])")


def hidden(text: str) -> Iterator[tuple[int, int, str]]:
    """Tags with attributes, and comments: (start, end, their words). A reader does not see them, a program does."""
    if "<" in text:
        for match in _TAG.finditer(text):
            more = match[0][4:-3] if match[0].startswith("<!--") else match["more"]
            if more and re.search(r"[^\W_]{2}", more):
                yield *match.span(), re.sub(r"[\w:.-]+=(?=[\"'])|[\"']|\b(?:mailto|tel):", " ", more)


def unmarked(text: str) -> Iterator[Edit]:
    """The edits that take tags out; a block's tag ends a line unless it breaks a word."""
    if "<" in text or "]]>" in text:
        for match in _TAG.finditer(text):
            before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
            inside = before.isalnum() and after.isalnum()
            yield (
                *match.span(),
                "\n"
                if match["block"]
                and not (inside and after.islower() and match["more"] is None and match["block"].lower() == "br")
                else "",
            )
    elif "*" in text or "`" in text or "~~" in text or "__" in text:
        for match in _EMPHASIS.finditer(text):
            word = 2 if match[2] else 4
            yield match.start(), match.start(word), ""
            yield match.end(word), match.end(), ""

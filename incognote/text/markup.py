"""Find markup inside a text: tags and comments that a browser would not show, and emphasis inside a word."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.text.escapes import Edit

_INLINE = (
    "a|abbr|acronym|b|bdi|bdo|big|cite|code|del|dfn|em|font|i|ins|kbd|mark|nobr|q|s|samp|small|span|strike|strong|sub|"
    "sup|tt|u|var|wbr|ruby|rb|rt|rp|[a-z]\\w{0,9}:[a-z]\\w{0,24}"
)
_BLOCK = (
    "address|article|blockquote|body|br|caption|center|dd|div|dl|dt|figure|footer|form|h[1-6]|head|header|hr|html|img|"
    "input|label|li|link|main|meta|nav|ol|option|p|paragraph|pre|section|select|style|table|tbody|td|text|textarea|tfoot|"
    "th|thead|title|tr|ul"
)
_TAG = re.compile(
    rf"<!--.*?-->|<!\[CDATA\[|\]\]>|</?(?:(?P<inline>{_INLINE})|(?P<block>{_BLOCK}))"
    r"(?:[ \t\r\n]+(?P<more>[^<>]{0,2000}?))?[ \t]*/?>",
    re.IGNORECASE | re.DOTALL,
)
# Markup inside or next to a word: a symbol to check for first, and the pattern. Each pattern begins with a literal
# character, so that its search skips the rest of the text.
_IN_WORD = tuple(
    (sign, re.compile(form))
    for sign, form in (
        ("[", r"\[/?(?:b|i|u|s|em|strong|color|size|font)(?:=[^\]\n]{0,20})?\]"),
        ("''", r"'{2,5}(?=[^\W_]|\s)"),
        ("{", r"\{(?:color|[*_])(?::[\w#]{1,12})?\}(?=[^\W\d_])|\{[a-z*_#]{1,8}(?::[\w#]{1,12})?\}"),
        ('"', r"\"{1,2}(?=[a-z])"),
        ("»", r"»(?=[a-z])"),
        ("\\_", r"\\_(?=[a-z])"),
        ("}", r"\}(?=[a-z])"),
    )
)
# Code between the pieces of one word or number: a symbol to check for first, the pattern, and the replacement.
_PIECES = tuple(
    (sign, re.compile(form), stands_for)
    for sign, form, stands_for in (
        *(
            (quote, rf"{quote}(?<=[\w@. ].)[ ]{{0,2}}(?:\+|\|\||&|\.)[ ]{{0,2}}{quote}(?=[\w@. ])", "")
            for quote in "\"'`"
        ),
        ("$", r"\$\{(?:''|\"\"|``)?\}(?=\w)", ""),
        ("''", r"'{2,5}(?=[\d-])(?<=[\d'-]..)", ""),
        ('""', r"\"\"(?=\d)(?<=[\d-]..)", ""),
        ("{\\", r"\{\\[a-z]{1,8}\d{0,3}[ ](?=\w)|\}(?<=\w.)", ""),
        ("\\", r"\\,(?=\d)(?<=\d..)", ""),
        ("\\", r"\\\n(?=\w)(?<=\w..)", ""),
        ("\\", r"\\[ ](?=\w)(?<=\w..)", " "),
        ("TJ", r"\)(?<=\w.)[ ]?-?\d{1,4}[ ]?\((?=\w)", ""),
    )
)  # fmt: skip
_LIST = re.compile(r"\[[ ]?[\"'][^\]\n]{3,400}\]")
_COMMA = re.compile(r"([\"']),[ ]?\1")
_NO_WORDS = re.compile(r"(?<!\S)[\w:.-]+=(?=[\"'])|[\"']|\b(?:mailto|tel):")  # "=" before a quote may end base64
_CONCAT = re.compile(r"(?i)\bconcat(?:enate)?\(([^()\n]{3,400})\)")
_JOINER = re.compile(r"([\"'])([^\"'\n]{0,3})\1\.join\(|\.join\(([\"'])([^\"'\n]{0,3})\3")
_MARKED_DIGITS = re.compile(r"([`*~_]{1,3})([-./]?)([`*~_]{1,3})(?=\d)")
_CARET = re.compile(r"(?<=[^\W\d_])\^{1,3}(?=[^\W\d_])")
_LINK = re.compile(r"\[([^\[\]\n]{1,60})\](\([#./]{0,3}\w{0,3}\))")
_TEX = re.compile(r"\\(?:text[a-z]{2,8}|emph|mbox)\{([^{}\n]{1,80})\}")
_EMPHASIS = re.compile(
    r"(\*\*{0,2}|__?|~~|``?)([^\W_]{1,24}(?:[.'\u2019-][^\W_]{1,24}){0,3})\1"  # fast: begins with a symbol
)


def hidden(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield tags with attributes, and comments, as (start, end, words). Readers do not see these; programs do."""
    if "<" in text:
        for match in _TAG.finditer(text):
            more = match[0][4:-3] if match[0].startswith("<!--") else match["more"]
            if more and re.search(r"[^\W_]{2}", more):
                yield *match.span(), _NO_WORDS.sub(" ", more)


def unmarked(text: str) -> Iterator[Edit]:
    """Yield the edits that remove markup. They may overlap. A block tag becomes a line break, except inside a word."""
    if "<" in text or "]]>" in text:
        for match in _TAG.finditer(text):
            before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
            breaks = (match["block"] or "").lower() == "br" and before.isalnum() and after.islower()
            yield *match.span(), "\n" if match["block"] and not breaks else ""
    if any(sign in text for sign in "*`~_"):
        for match in _emphasized(text):
            yield *match.span(1), ""
            yield match.end(2), match.end(), ""
        for match in _MARKED_DIGITS.finditer(text) if any(sign in text for sign in ("`", "**", "~~")) else ():
            if text[match.start() - 1 : match.start()].isdigit() and (match[2] or len({*match[1], *match[3]}) > 1):
                yield *match.span(), match[2]
    for sign, form, stands_for in _PIECES:
        if sign in text:
            yield from ((*match.span(), stands_for) for match in form.finditer(text))
    if ".join(" in text and (joiner := _JOINER.search(text)):
        for match in _LIST.finditer(text):
            for comma in _COMMA.finditer(text, *match.span()):
                yield *comma.span(), joiner[2] or joiner[4] or ""
    if "CONCAT" in text or "concat(" in text:
        for match in _CONCAT.finditer(text):
            for comma in _COMMA.finditer(text, *match.span(1)):
                yield *comma.span(), ""
    for sign, form in _IN_WORD:
        if sign in text:
            for match in form.finditer(text):
                before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
                if before.isalpha() or (sign in "[{" and (before.isalnum() or after.isalnum())):
                    yield *match.span(), ""
    if "](" in text:
        for match in _LINK.finditer(text):
            yield match.start(), match.start(1), ""
            yield match.end(1), match.end(), ""
    if "\\text" in text or "\\emph" in text or "\\mbox" in text:
        for match in _TEX.finditer(text):
            yield match.start(), match.start(1), ""
            yield match.end(1), match.end(), ""
    if "^" in text and "|" not in text:  # HL7 has its own finder
        for match in _CARET.finditer(text):  # between the parts of a name in DICOM and HL7, which begin with capitals
            yield *match.span(), " " if text[match.end()].isupper() else ""


def _emphasized(text: str) -> Iterator[re.Match[str]]:
    """Yield emphasized words inside a word, or next to another emphasized word."""
    last: re.Match[str] | None = None
    shown = True  # whether the last one was yielded, if there is one
    for match in _EMPHASIS.finditer(text):
        start, end = match.span()
        near = last is not None and last.end() + (text[start - 1] == " ") == start
        before, after = text[start - 1 : start], text[end : end + 1]
        if match[1] == "_" and not near and before.isalnum():  # a name in code: snake_case_name
            continue
        if near and not shown and last is not None:
            yield last
        beside = before.isalpha() or (not before.isalnum() and before not in ("_", "*", "`", "~") and after.isalpha())
        shown = near or (beside and match[1] != "_" and len(match[2]) > 1 and match[2].isalpha())
        if shown:
            yield match
        last = match

"""Pieces of RTF in a text whose header is gone: letters as codes, groups and control words."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SURE = re.compile(
    r"\{\\(?:b|i|ul|strike|scaps|fs\d{1,3}|cf\d{1,2}|f\d{1,2}|lang\d{3,5})[ \\]"
    r"|\\(?:pard?|fs\d{1,3}|cf\d{1,2}|sb\d{1,4}|line|tab|cell|row)(?![A-Za-z0-9:\\/._])"
)
_TEX = ("\\begin{", "\\text", "\\emph{", "\\section", "\\document", "\\item")
_WORDS = (
    "par|line|row|page|sect|tab|cell|pard|plain|b|i|ul|ulnone|strike|scaps|caps|sub|super|nosupersub|v|fs|cf|f|cb|"
    "highlight|lang|langnp|sb|sa|sl|slmult|li|ri|fi|qc|ql|qr|qj|ltrpar|rtlpar|ltrch|rtlch|intbl|trowd|cellx|kerning|"
    "expnd|expndtw|up|dn"
)
_TOKEN = re.compile(
    r"\\'(?P<code>[0-9a-fA-F]{2})|\\(?P<sign>[~_-])"
    rf"|(?P<opens>\{{)?\\(?P<word>{_WORDS})-?\d{{0,5}}(?![A-Za-z0-9])[ ]?"
    r"|(?P<brace>[{}])"
)
_SIGNS = {"~": " ", "-": "", "_": "-"}
_BREAKS = {"par": "\n", "line": "\n", "row": "\n", "page": "\n", "sect": "\n", "tab": "\t", "cell": "\t"}


def told(text: str) -> bool:
    """Whether a text with a backslash clearly holds RTF."""
    return _SURE.search(text) is not None and not any(sign in text for sign in _TEX)


def plain(text: str) -> Iterator[tuple[int, int, str]]:
    """The edits that leave what a reader of the RTF sees."""
    groups: list[bool] = []  # of the open ones, whether each begins with a control word
    for match in _TOKEN.finditer(text):
        if code := match["code"]:
            yield *match.span(), bytes.fromhex(code).decode("cp1252", "replace")
        elif sign := match["sign"]:
            yield *match.span(), _SIGNS[sign]
        elif match["brace"] == "{":
            groups.append(False)
        elif match["brace"]:
            if groups and groups.pop():
                yield *match.span(), ""
        else:
            if match["opens"]:
                groups.append(True)
            yield *match.span(), _BREAKS.get(match["word"], "")

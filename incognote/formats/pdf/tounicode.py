"""Write the map from the codes of a PDF font to characters."""

from __future__ import annotations

from collections.abc import Mapping

_BLOCK = 100  # the most entries of a block
_UNKNOWN = "\ufffd"
_MAP = """/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def
/CMapName /Adobe-Identity-UCS def
/CMapType 2 def
1 begincodespacerange
<{first}> <{last}>
endcodespacerange
{entries}endcmap
CMapName currentdict /CMap defineresource pop
end
end
"""


def unicode_map(texts: Mapping[bytes, str]) -> bytes:
    """Return the map of codes of the same length, sorted by code. A code with the text "" gets the sign for unknown."""
    size = max(map(len, texts))
    hexes = {code.hex(): (text or _UNKNOWN).encode("utf-16-be").hex() for code, text in sorted(texts.items())}
    lines = [f"<{code}> <{text}>\n" for code, text in hexes.items()]
    blocks = [lines[at : at + _BLOCK] for at in range(0, len(lines), _BLOCK)]
    body = "".join(f"{len(block)} beginbfchar\n{''.join(block)}endbfchar\n" for block in blocks)
    return _MAP.format(first="00" * size, last="ff" * size, entries=body).encode()

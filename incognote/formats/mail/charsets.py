"""The character sets that are read in e-mails: a closed list, and UTF-16.

All others on the list contain ASCII, so that the bytes of plain digits mean digits. In EBCDIC, for example, they mean
other characters: a number in plain ASCII would be read as these, and released.
"""

from __future__ import annotations

UNKNOWN = "an unknown character set. Send the text in UTF-8"
CODECS = {
    **{name: name for name in (
        "utf-8", "utf-16", "utf-16le", "utf-16be", "gb2312", "gbk", "gb18030", "big5", "big5-hkscs", "euc-jp", "euc-kr",
        "iso-2022-jp", "koi8-r", "koi8-u", "tis-620")},
    **{f"{family}{part}": f"iso8859-{part}" for part in (*range(1, 12), *range(13, 17))
       for family in ("iso-8859-", "iso_8859-", "iso8859-")},
    **{f"{family}{page}": f"cp{page}" for page in range(1250, 1259) for family in ("windows-", "cp")},
    **{f"{family}{page}": f"cp{page}" for page in (437, 850, 852, 855, 858, 862, 866, 874)
       for family in ("cp", "ibm", "windows-")},
    "us-ascii": "ascii", "ascii": "ascii", "ansi_x3.4-1968": "ascii", "utf8": "utf-8", "latin1": "iso8859-1",
    "latin-1": "iso8859-1", "sjis": "shift_jis", "x-sjis": "shift_jis", "iso-8859-8-i": "iso8859-8",
    "shift_jis": "shift_jis", "shift-jis": "shift_jis", "windows-31j": "cp932", "cp932": "cp932",
    "cp936": "gbk", "windows-936": "gbk", "ks_c_5601-1987": "cp949", "cp949": "cp949", "windows-949": "cp949",
    "cp950": "cp950", "macintosh": "mac-roman", "x-mac-roman": "mac-roman",
}  # fmt: skip
"""Python's codec for each name, in lower case."""


def codec_of(name: str) -> str | None:
    """Return Python's codec for a declared character set, or None if it is not read."""
    return CODECS.get(name.lower())

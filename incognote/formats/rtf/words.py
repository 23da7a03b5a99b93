"""The destinations and symbols of RTF, and what the reader does with each."""

from __future__ import annotations

TEXTS = {
    **{f"header{side}": "header" for side in ("", "l", "r", "f")},
    **{f"footer{side}": "footer" for side in ("", "l", "r", "f")},
    **dict.fromkeys(("ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn"), "note separator"),
    **{name: f"info.{name}" for name in ("title", "subject", "category", "keywords", "comment", "doccomm")},
    **{name: f"form.{name}" for name in ("ffdeftext", "ffhelptext", "ffstattext", "ffl")},
    "footnote": "footnote", "annotation": "comment", "shptxt": "text box", "dptxbxtext": "text box",
    "shprslt": "text box",
}  # fmt: skip
"""Destinations that are texts, and the field of each. A second one of the same field gets a number."""
NAMES = {
    "author": ("info.author", "PERSON"), "manager": ("info.manager", "PERSON"), "operator": ("info.operator", "PERSON"),
    "company": ("info.company", "ORGANIZATION"), "atnauthor": ("comment.author", "PERSON"),
    "revtbl": ("revision.author", "PERSON"),
}  # fmt: skip
"""Destinations that are structured fields, with the field and type of each."""
FLOW = frozenset("fldrslt ud listtext pntext nesttableprops".split())
"""Destinations whose text belongs to the text around them."""
SILENT = frozenset(
    "info field formfield shp shpinst shpgrp sp do upr listtable list listlevel listoverridetable"
    " listoverride lfolevel rsidtbl pgptbl defchp defpap mmathPr nonesttables pn pnseclvl colortbl expandedcolortbl"
    " listname".split()
)
"""Destinations that show no text of their own. Characters directly in them are removed; their groups are read."""
AROUND = frozenset(("field", "upr"))
"""Silent destinations that hold text of the destination around them."""
CLOSED = {
    "fonttbl": "fonts", "stylesheet": "styles", "bkmkstart": "bookmark", "bkmkend": "bookmark", "ffname": "bookmark",
    "fldinst": "field", "atnref": "number", "atrfstart": "number", "atrfend": "number", "atnparent": "number",
    "leveltext": "marks", "levelnumbers": "marks", "pntxta": "marks", "pntxtb": "marks", "sn": "shapes", "sv": "value",
}  # fmt: skip
"""Destinations whose content stays if a rule of `closed.py` keeps it."""
PLACEHOLDERS = {
    "pict": "[picture]", "shppict": "[picture]", "object": "[object]", "mmath": "[formula]", "moMath": "[formula]",
    "moMathPara": "[formula]",
}  # fmt: skip
"""Destinations without a reader, and the words that the reader shows and writes instead."""
REMOVED = frozenset(
    "filetbl xe rxe txe tc tcn private keycode template atnid atndate atntime atnicn creatim revtim printim buptim"
    " hlinkbase fontemb fontfile falt fname nextfile nonshppict linkval propname staticval".split()
)
"""Destinations that are removed with their groups. So is every `\\*` destination that this module does not name."""
DESTINATIONS = frozenset((*TEXTS, *NAMES, *FLOW, *SILENT, *CLOSED, *PLACEHOLDERS, *REMOVED))
STYLE_WORDS = frozenset(("cs", "ts", "ds", "s"))
STAMPS = ("dttm", "dttmdel", "prdate", "srdate", "trdate", "crdate", "mvdate", "dfrdate", "pnrdate")
"""The ends of control words whose number is a date."""

SYMBOLS = {
    "emdash": "\u2014", "endash": "\u2013", "emspace": "\u2003", "enspace": "\u2002", "qmspace": "\u2005",
    "bullet": "\u2022", "lquote": "\u2018", "rquote": "\u2019", "ldblquote": "\u201c", "rdblquote": "\u201d",
    "~": "\xa0", "_": "\u2011", "\\": "\\", "{": "{", "}": "}",
}  # fmt: skip
LAYOUT = {
    **dict.fromkeys(("par", "line", "sect", "page", "column", "row", "nestrow", "\n", "\r"), "\n"),
    **dict.fromkeys(("tab", "cell", "nestcell", "\t"), "\t"),
}
LAYOUT_BEFORE = {"cell": "\n", "nestcell": "\n", "row": "\t", "nestrow": "\t", "sect": ""}
"""Layout that stays in the source when the words around it are replaced, and what it replaces in the text before it."""

CHARSETS = {
    0: "cp1252", 2: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "cp950",
    161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251",
    222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp437",
}  # fmt: skip
"""Python's codec for each number of `\\fcharset`. Any other number means the code page of the document."""
PAGES = {
    0: "cp1252", 42: "cp1252", 936: "gbk", 1361: "johab", 10000: "mac_roman", 10006: "mac_greek",
    10007: "mac_cyrillic", 10029: "mac_latin2", 10081: "mac_turkish", 65001: "utf-8",
    **{page: f"cp{page}" for page in (
        437, 720, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 865, 866, 869, 874, 932, 949, 950,
        1125, 1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258)},
}  # fmt: skip
"""Python's codec for each code page that is read. All of them contain ASCII: in EBCDIC, plain digits show as others."""
NUMBERED = frozenset(("listid", "listtemplateid"))
"""Control words whose number only has to be the same everywhere. A long one is replaced."""
FAMILIES = {"ansi": "cp1252", "mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
STATES = frozenset(
    "uc v deleted mvf plain pard intbl loch hich ltrch dbch rtlch deff ansicpg f fcharset cpg af".split()
)
"""Control words that change how the next characters are read."""
STRUCTURE = frozenset((*DESTINATIONS, *STYLE_WORDS, *LAYOUT, *SYMBOLS, *FAMILIES, *STATES))
"""Control words that cannot be removed."""

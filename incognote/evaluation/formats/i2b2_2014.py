"""The XML of i2b2/UTHealth 2014 (track 1), and of MEDDOCAN, which differs in the name of the root: a file per document.

    <deIdi2b2><TEXT><![CDATA[...]]></TEXT><TAGS><NAME id="P0" start="16" end="26" text="..." TYPE="PATIENT"/>...

Offsets count the characters of TEXT as an XML parser gives it, line ends as one; where a file has carriage returns and
its words say that they were counted too, they are. A tag without TYPE has its element's name for a type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from xml.etree.ElementTree import Element

from incognote.errors import MalformedRecord
from incognote.evaluation.formats import document, names, xml
from incognote.evaluation.formats.base import Format
from incognote.evaluation.formats.document import Document, Gold, Mark, Problem
from incognote.evaluation.formats.sink import Folder, Sink
from incognote.evaluation.formats.source import Look, content, files
from incognote.schemas.catalogue import catalogue

_GROUPS = ("PROFESSION", "LOCATION", "AGE", "DATE", "CONTACT", "ID")
_RETURN = "\ue00d"  # of the private use area: stands for a carriage return while a parser would take it away


def _fits(root: str, look: Look) -> bool:
    return look.tag == root


def _read(path: Path) -> Iterator[Document | Problem]:
    for file in files(path, (".xml",)):
        try:
            yield _document(file.name, content(file.path))
        except MalformedRecord as error:
            yield Problem(file.name, str(error))


def _document(name: str, data: bytes) -> Document:
    root = xml.tree(data)
    text = _text(root)
    tags = root.find("TAGS")
    others: tuple[str, ...] = ()
    if b"\r" in data and _RETURN.encode() not in data:
        kept = re.sub(rb"(?s)<TEXT>.*</TEXT>", lambda found: found[0].replace(b"\r", _RETURN.encode()), data)
        others = (_text(xml.tree(kept)).replace(_RETURN, "\r"),)
    marks, fault = None, None
    try:
        marks = None if tags is None else _marks(tags)
    except MalformedRecord as error:
        fault = str(error)
    return Document(name, name, text, marks, fault, others=others)


def _text(root: Element) -> str:
    element = root.find("TEXT")
    if element is None:
        raise MalformedRecord("it has no TEXT")
    return "".join(element.itertext())


def _marks(tags: Element) -> tuple[Mark, ...]:
    return document.marks(
        [{**tag.attrib, "TYPE": tag.get("TYPE") or tag.tag} for tag in tags if "start" in tag.attrib], type_="TYPE"
    )


def _write(root: str, path: Path) -> Sink:
    return Folder(path, partial(_files, root))


def _files(root: str, one: Gold) -> dict[str, str]:
    xml.checked(one.text)
    text = one.text.replace("]]>", "]]]]><![CDATA[>").replace("\r", "]]>&#13;<![CDATA[")  # no reference stands inside
    tags = "".join(
        f'<{_element(type_)} id="P{number}" start="{start}" end="{end}" '
        f'text="{xml.escaped(one.text[start:end], attribute=True)}" TYPE="{xml.escaped(type_, attribute=True)}" '
        'comment="" />\n'
        for number, (start, end, type_) in enumerate(one.labels)
    )
    body = f"<{root}>\n<TEXT><![CDATA[{text}]]></TEXT>\n<TAGS>\n{tags}</TAGS>\n</{root}>\n"
    return {".xml": '<?xml version="1.0" encoding="UTF-8" ?>\n' + body}


def _element(type_: str) -> str:
    """The category that i2b2 files a type under."""
    type_ = names.ours(type_, "i2b2")
    kind = catalogue()[type_].group if type_ in catalogue() else ""
    return "NAME" if kind == "PERSON" else kind if kind in _GROUPS else "OTHER"


def _format(name: str, about: str, root: str, scheme: str) -> Format:
    return Format(name, about, partial(_fits, root), _read, partial(_write, root), scheme)


I2B2_2014 = _format("i2b2-2014", "a folder of i2b2 2014 XML (deIdi2b2)", "deIdi2b2", "i2b2")
MEDDOCAN = _format("meddocan", "a folder of MEDDOCAN's XML (its BRAT files are brat)", "MEDDOCAN", "meddocan")

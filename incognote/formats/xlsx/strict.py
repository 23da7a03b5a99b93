"""Strict Open XML: its namespaces become those of the transitional form, which all programs read."""

from __future__ import annotations

import re

from incognote.formats.office.package import unzipped, zipped

_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/(extendedProperties|customProperties|)")
_NAMES = {b"extendedProperties": b"extended-properties", b"customProperties": b"custom-properties"}


def transitional(data: bytes) -> bytes:
    """Return a workbook without strict namespaces. A workbook that has none keeps its bytes.

    Raises:
        MalformedRecord, UnsupportedFormat: the ZIP file cannot be read.
    """
    parts = unzipped(data)
    if not _STRICT.search(parts.get("_rels/.rels", b"")):
        return data
    names = {name for name in parts if name.endswith((".xml", ".rels"))}
    return zipped({name: _STRICT.sub(_plain, part) if name in names else part for name, part in parts.items()})


def _plain(match: re.Match[bytes]) -> bytes:
    return b"http://schemas.openxmlformats.org/" + match[1] + b"/2006/" + _NAMES.get(match[2], match[2])

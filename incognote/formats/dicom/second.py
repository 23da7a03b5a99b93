"""The second reader of DICOM: pydicom, over every string of an output.

Our own reader finds the elements in the bytes without it. The dictionary, the character sets, and the closed lists of
values that stay are those of the first reader. GDCM would share less, but a file can crash it, and the process with it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from incognote.formats.dicom.profile import (
    is_setting,
    is_standard_meaning,
    is_technical,
    lists,
    safe_creators,
    safe_private,
)
from incognote.formats.dicom.stream import PIXELS, vr_of
from incognote.formats.dicom.values import (
    DUMMIES,
    NUMBERS,
    REMOVED,
    TEXTS,
    WHOLE,
    charsets,
    groups_of,
    guessed,
    is_legal,
    is_well_known,
    iso_of,
)
from incognote.formats.dicom.walk import DOCUMENT, OURS
from incognote.formats.dicom.write import IMPLEMENTATION_UID
from incognote.formats.registry import second_reading

if TYPE_CHECKING:
    from pydicom import Dataset

_CHARSET, _CODE, _SCHEME, _MEANING, _MIME = 0x00080005, 0x00080100, 0x00080102, 0x00080104, 0x00420012
_NEW_YEAR = "-01-01"
_QUIET = ("CS", "DS", "IS", "TM", "AS")


class Read(NamedTuple):
    """An element: its value, or the items of a sequence, each by tag."""

    vr: str
    value: bytes
    items: list[dict[int, Read]]


def second(data: bytes) -> Iterator[str]:
    """Yield every string of a file, decoded. Legal numbers, times, ages and codes are left out, and what rules keep.

    A date is in the form `2025-03-09`, and the first day of a year is that year.

    Raises:
        Exception: the library cannot read the file.
    """
    from pydicom import dcmread

    file = dcmread(io.BytesIO(data), force=True)
    for found in (file.file_meta, file):
        yield from _strings(_elements(found), ())


def _strings(elements: dict[int, Read], codecs: tuple[str, ...]) -> Iterator[str]:
    if charset := elements.get(_CHARSET):
        codecs = charsets(_ascii(charset), "SpecificCharacterSet")
    scheme, code = _ascii(elements.get(_SCHEME)), _ascii(elements.get(_CODE))
    for tag, each in elements.items():
        for item in each.items:
            yield from _strings(item, codecs)
        if tag == DOCUMENT:
            yield from second_reading(each.value.rstrip(b"\0"), _ascii(elements.get(_MIME)) or None)
        elif not each.items and tag not in OURS | PIXELS | {_CHARSET}:
            creator = _ascii(elements.get((tag & 0xFFFF0000) | (tag >> 8 & 0xFF))) if tag >> 16 & 1 else ""
            vr = safe_private().get((tag >> 16, tag & 0xFF, creator), each.vr) if each.vr == "UN" else each.vr
            yield from _values(tag, each._replace(vr=vr), codecs, scheme, code)


def _values(tag: int, each: Read, codecs: tuple[str, ...], scheme: str, code: str) -> Iterator[str]:
    from pydicom.datadict import keyword_for_tag

    keyword = keyword_for_tag(tag)
    if each.vr in NUMBERS or keyword in lists().binary:
        return
    whole = guessed(each.value.rstrip(b" \0"), codecs if each.vr in TEXTS else ())
    for value in [whole] if each.vr in WHOLE else whole.split("\\"):
        value = value.strip(" \0")
        if not value or value == REMOVED or value == DUMMIES.get(each.vr) or value in (IMPLEMENTATION_UID, "INCOGNOTE"):
            continue
        if each.vr in _QUIET and (is_legal(each.vr, value) or (each.vr == "CS" and is_setting(value))):
            continue
        if each.vr == "UI" and (is_well_known(value) or (value.startswith("2.25.") and value[5:].isdigit())):
            continue
        if each.vr in ("DA", "DT") and (iso := iso_of(value)):
            yield iso.removesuffix(_NEW_YEAR)
        elif each.vr == "PN":
            yield from groups_of(value)
        elif not _is_kept(tag, keyword, value, scheme, code):
            yield value


def _is_kept(tag: int, keyword: str, value: str, scheme: str, code: str) -> bool:
    """Whether the rules keep a text in every instance."""
    if tag >> 16 & 1 and tag & 0xFFFF < 0x100:
        return value in safe_creators()
    if tag == _CODE:
        return scheme in lists().systems
    if tag == _SCHEME:
        return value in lists().systems or value.startswith("99")
    return is_technical(keyword, value) or (tag == _MEANING and is_standard_meaning(scheme, code, value))


def _ascii(each: Read | None) -> str:
    return each.value.decode("latin-1").strip(" \0") if each else ""


def _elements(found: Dataset) -> dict[int, Read]:
    """Return the elements of a data set, not decoded."""
    elements = {}
    for tag in found.keys():  # noqa: SIM118 -- iteration over a Dataset gives decoded elements
        raw = found.get_item(tag)
        vr = str(raw.VR or vr_of(int(tag)))
        items = [_elements(item) for item in found[tag].value] if vr == "SQ" else []
        elements[int(tag)] = Read(vr, raw.value if isinstance(raw.value, bytes) else b"", items)
    return elements

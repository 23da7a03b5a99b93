"""Take out of all objects of a PDF what no list has: keys, names, strings, color profiles, and comments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from incognote.formats.pdf import closed
from incognote.formats.pdf.keeping import Kept
from incognote.formats.pdf.tounicode import plain_function, plain_map
from incognote.formats.pdf.values import array, is_array, is_dictionary, is_name, is_stream, is_string, name, string

_NAMED = frozenset(
    "/ExtGState /ColorSpace /Pattern /Shading /XObject /Font /Properties /CharProcs /N /R /D /EF /Colorants".split()
)
"""These keys lead to dictionaries whose keys can have any name. Other rules clean them."""
_FREE = frozenset(("/BaseFont", "/FontName", "/Differences", "/Version"))
"""The keys of names that have a rule of their own."""
_STATES = frozenset(("/AS", "/V", "/DV"))
_STATE = re.compile(r"/\d{1,3}")
_VERSION = re.compile(r"/[12]\.\d")
_DEVICES = {1: "/DeviceGray", 3: "/DeviceRGB", 4: "/DeviceCMYK"}
_COLORANTS = {"/Separation", "/DeviceN"}
_UNKNOWN = "/None"  # the new value of a name in an array


def remove_unlisted(root: Any, kept: Kept) -> None:
    """Remove what no list has from all objects that a document refers to. They are changed in place.

    Args:
        root: its catalog, after all other rules. kept: the texts, whose strings stay.

    Raises:
        MalformedRecord: a function or a map of characters has an unknown form.
    """
    holders = [(holder, key, content) for text in kept.texts.values() for holder, key, _, content in text.strings]
    holders += [(holder, key, str(holder[key])) for holder, key in kept.fields.values()]
    read = {(holder.objgen, key) for holder, key, _ in holders if holder.is_indirect}
    direct = {content for holder, _, content in holders if not holder.is_indirect}

    def is_kept(holder: Any, key: Any, content: str) -> bool:
        is_read = (holder.objgen, key) in read if holder.is_indirect else content in direct
        return is_read or closed.is_string(content)

    for holder, above in _holders(root):
        if is_array(holder):
            _colors(holder, kept)
        else:
            _keys(holder, above, kept)
        _values(holder, above, kept, is_kept)
        if is_stream(holder):
            _content(holder, above, kept)


def _holders(root: Any) -> Iterator[tuple[Any, str]]:
    """Yield each array, dictionary, and stream with the key that leads to it, before what it refers to."""
    seen: set[tuple[int, int]] = set()
    waiting: list[tuple[Any, Any]] = [(root, "/Root")]
    while waiting:
        holder, above = waiting.pop()
        if holder.is_indirect:
            if holder.objgen in seen:
                continue
            seen.add(holder.objgen)
        yield holder, above
        for key in range(len(holder)) if is_array(holder) else sorted(holder.keys()):
            value = holder[key]
            if is_array(value) or is_dictionary(value) or is_stream(value):
                is_shading = key == "/Shading" and "/PatternType" in holder  # its keys are not names of resources
                waiting.append((value, above if is_array(holder) else "/PatternType" if is_shading else key))


def _keys(holder: Any, above: str, kept: Kept) -> None:
    """Remove the keys of a dictionary that are in no list, and replace its color profiles."""
    for key in sorted(holder.keys()):
        if above not in _NAMED and key not in closed.all_keys():
            kept.remove(holder, key)
        elif is_array(holder[key]):
            device = _device(holder[key])
            if device is not None:
                kept.write(holder, key, name(device))


def _colors(holder: Any, kept: Kept) -> None:
    """Replace the color profiles in an array, and name the inks of a color space by their numbers."""
    for index in range(len(holder)):
        device = _device(holder[index]) if is_array(holder[index]) else None
        if device is not None:
            kept.write(holder, index, name(device))
    if len(holder) < 4 or not is_name(holder[0]) or str(holder[0]) not in _COLORANTS:
        return
    inks = list(holder[1]) if is_array(holder[1]) else [holder[1]]
    new = [str(ink) if str(ink) in closed.names("process") else f"/Ink{at}" for at, ink in enumerate(inks, 1)]
    if [str(ink) for ink in inks] != new:
        holder[1] = array(map(name, new)) if is_array(holder[1]) else name(new[0])
        kept.changed += 1
    if len(holder) > 4:  # the attributes name the inks again
        del holder[4]
        kept.changed += 1


def _device(space: Any) -> str | None:
    """Return the color space of a device that has as many components as a color profile, if it is one."""
    if len(space) < 2 or space[0] != "/ICCBased" or not is_stream(space[1]):
        return None
    return _DEVICES.get(int(space[1].get("/N", 3)), "/DeviceRGB")


def _values(holder: Any, above: str, kept: Kept, is_kept: Callable[[Any, Any, str], bool]) -> None:
    """Remove the names and strings of a dictionary or an array that no list has."""
    is_space = is_array(holder) and len(holder) > 1 and is_name(holder[0])
    if is_space and holder[0] == "/Indexed":
        return
    keys: list[Any] = list(range(len(holder))) if is_array(holder) else sorted(holder.keys())
    for key in keys:
        value = holder[key]
        if is_string(value):
            if str(value).strip() and not is_kept(holder, key, str(value)):
                kept.write(holder, key, string(""))
        elif is_name(value) and not _is_listed(str(value), above if is_array(holder) else key):
            if is_array(holder):
                kept.write(holder, key, name(_UNKNOWN))
            else:
                kept.remove(holder, key)


def _is_listed(value: str, key: str) -> bool:
    if key in ("/BaseFont", "/FontName"):
        return closed.font_name(value[1:]) == value[1:]
    if key in _FREE:
        return key == "/Differences" or bool(_VERSION.fullmatch(value))
    if key in _STATES and _STATE.fullmatch(value):
        return True
    return value in closed.values() or closed.is_ink(value)


def _content(stream: Any, above: str, kept: Kept) -> None:
    """Write a function or a map of characters without comments and unknown words."""
    if above in ("/ToUnicode", "/Encoding"):
        plain = plain_map
    elif stream.get("/FunctionType", None) == 4:
        plain = plain_function
    else:
        return
    old = bytes(stream.read_bytes())
    new = plain(old)
    if new != old:
        stream.write(new)
        kept.changed += 1

"""Convert values from callers and rosters to `Known` objects. The type comes from the key, or else from the shape."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from incognote import jsonlines
from incognote.detectors.known.words import days_of, vocabulary
from incognote.errors import SettingError, UsageError
from incognote.languages import language
from incognote.nouns import Known
from incognote.schemas.catalogue import catalogue
from incognote.schemas.fieldnames import hint

_STREET = re.compile(r"\d+\w?\s+\S.*[^\W\d_]{2}", re.S)
_MAX_DEPTH = 8


class _Columns(NamedTuple):
    """Keys and column names without separators: the type of each, the ignored ones, and those for parts of a name."""

    types: dict[str, str]
    ignored: frozenset[str]
    name_parts: tuple[frozenset[str], ...]


@cache
def _columns() -> _Columns:
    written = language().table("words", "known.toml")
    types = {key: kind for kind, keys in written["keys"].items() for key in keys.split()}
    lists = {name: frozenset(keys.split()) for name, keys in written["columns"].items()}
    return _Columns(types, lists["ignored"], (lists["given"], lists["middle"], lists["family"]))


def known_from(value: Any) -> tuple[Known, ...]:
    """Return the known identifiers in a value that a caller passes as `known=`.

    Args:
        value: a string, a number or date, a Known, a mapping such as {"name": …, "mrn": …, "dob": …}, or a sequence of
            these. Keys match without case, spaces, dots, hyphens and underscores. Catalogue types are valid keys.

    Raises:
        UsageError: the value has another type.
    """
    found: dict[Known, None] = {}
    for known in _walk(value, "", 0):
        found.setdefault(known)
    return tuple(found)


def read_roster(path: str | Path) -> tuple[Known, ...]:
    """Read a roster: CSV with a header row, or JSON lines, with one person per row. Both may be gzipped.

    Raises:
        SettingError: the file cannot be read or is in neither format; the message names the line, never a value.
    """
    path = Path(path)
    try:
        raw = path.expanduser().read_bytes()
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError, gzip.zlib.error):  # type: ignore[attr-defined]  # gzip re-exports zlib
        raise SettingError(
            "The roster cannot be read as UTF-8 text. Check `roster` (--roster, INCOGNOTE_ROSTER)."
        ) from None
    rows = _json_rows(text) if text.lstrip()[:1] in ("{", "[") else _csv_rows(text)
    found: dict[Known, None] = {}
    for number, row in rows:
        try:
            for known in _walk(row, "", 0):
                found.setdefault(known)
        except UsageError:
            raise SettingError(
                f"roster, line {number}: a value must be text, a number, a list, or a mapping."
            ) from None
    return tuple(found)


def type_of_key(key: str) -> str | None:
    """Return the entity type for a key or column name, or None if the name gives no hint."""
    plain = re.sub(r"[\W_]+", "", key).lower()
    upper = key.strip().upper()
    if upper in catalogue():
        return upper
    columns = _columns()
    named = columns.types.get(plain) or columns.types.get(plain.removesuffix("s"))
    if named or plain in columns.ignored:
        return named
    hinted = hint(key)
    return hinted.type if hinted else None


def type_of_value(value: str) -> str:
    """Return the entity type that a bare value looks like: e-mail, date, phone, number or code, address, or person."""
    if re.fullmatch(r"\S+@\S+\.\S+", value):
        return "EMAIL"
    if re.match(r"https?://|www\.", value):
        return "URL"
    if days_of(value):
        return "DATE"
    digits = sum(c.isdigit() for c in value)
    if (
        digits >= 7
        and re.fullmatch(r"\+?[\d\s().\-/]+", value)
        and (value[:1] in "+(" or re.search(r"\d[\s().\-]+\d", value))
        and not re.fullmatch(r"\d{3}-\d{2}-\d{4}", value)
    ):
        return "TELEPHONE_NUMBER"
    if digits and (_STREET.match(value) or vocabulary().po_box.match(value)):
        return "ADDRESS"
    return "GUID" if digits else "PERSON"


def _walk(value: Any, key: str, depth: int) -> Iterator[Known]:
    if depth > _MAX_DEPTH:
        raise UsageError("known= is nested too deeply.")
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, Known):
        yield value
    elif isinstance(value, (str, int, float, date)):
        yield from _one(str(value).strip(), key)
    elif isinstance(value, Mapping):
        yield from _whole_name(value)
        for inner, item in value.items():
            own = type_of_key(str(inner)) or re.sub(r"[\W_]+", "", str(inner)).lower() in _columns().ignored
            yield from _walk(item, str(inner) if own else key, depth + 1)
    elif (isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray))) or isinstance(
        value, (set, frozenset)
    ):
        for item in value:
            yield from _walk(item, key, depth + 1)
    else:
        raise UsageError(
            "known= takes text, numbers, dates, Known, and mappings and sequences of these, not "
            f"{type(value).__name__}."
        )


def _one(value: str, key: str) -> Iterator[Known]:
    if not value or re.sub(r"[\W_]+", "", key).lower() in _columns().ignored:
        return
    yield Known(type_of_key(key) or type_of_value(value), value)


def _whole_name(row: Mapping[Any, Any]) -> Iterator[Known]:
    """Yield the full name of a row: its first, middle and last name together."""
    plain = {
        re.sub(r"[\W_]+", "", str(key)).lower(): value
        for key, value in row.items()
        if isinstance(value, str) and value.strip()
    }
    parts = [next((plain[key] for key in plain if key in keys), "") for keys in _columns().name_parts]
    if parts[0] and parts[2]:
        yield Known("PERSON", f"{parts[2]}, {' '.join(part for part in parts[:2] if part)}")


def _json_rows(text: str) -> Iterator[tuple[int, Any]]:
    if text.lstrip().startswith("["):
        try:
            return iter(enumerate(json.loads(text), 1))
        except ValueError:
            raise SettingError("The roster is not valid JSON. Write one JSON object per line.") from None
    return jsonlines.rows(text, "the roster", SettingError)


def _csv_rows(text: str) -> Iterator[tuple[int, Mapping[str, str]]]:
    header = text.split("\n", 1)[0]
    delimiter = max(",;\t|", key=header.count)
    try:
        table = csv.DictReader(io.StringIO(text), delimiter=delimiter, strict=True)
        if text.strip() and not _is_header(table.fieldnames or ()):
            raise SettingError(
                "The first line of the roster names no known column. Start it with a header such as name,mrn,dob."
            )
        for number, row in enumerate(table, 2):
            if None in row:
                raise SettingError(f"roster, line {number}: more fields than the header has.")
            yield number, {key: value for key, value in row.items() if value}
    except csv.Error:
        raise SettingError("The roster is not valid CSV. Check its quotes.") from None


def _is_header(cells: Sequence[str]) -> bool:
    """Whether a first row is a header.

    If no cell equals a known column name, a date or number among the cells shows that the row holds a person's data.
    That person's street or employer may also contain a word that occurs in column names.
    """
    plain = {re.sub(r"[\W_]+", "", cell).lower() for cell in cells}
    columns = _columns()
    whole = {name.removesuffix("s") for name in plain} | plain
    if whole & (columns.types.keys() | columns.ignored) or any(cell.strip().upper() in catalogue() for cell in cells):
        return True
    valued = any(days_of(cell) or "@" in cell or sum(map(str.isdigit, cell)) > 1 for cell in map(str.strip, cells))
    return not valued and any(type_of_key(cell) for cell in cells)

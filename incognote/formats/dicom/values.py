"""Values of elements: character sets, names, dates, ages, unique identifiers, and what is legal (PS3.5 section 6)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from datetime import date

from incognote.errors import MalformedRecord

TEXTS = frozenset("LO LT PN SH ST UC UT".split())
"""Value representations whose characters depend on the character set."""
WHOLE = frozenset("LT ST UT UR".split())
"""Value representations in which a backslash does not part values."""
NUMBERS = frozenset("AT FD FL OD OF OL OV SL SS SV UL US UV".split())
"""Binary value representations that hold only numbers."""
LONGEST = {"AE": 16, "AS": 4, "CS": 16, "DA": 8, "DS": 16, "DT": 26, "IS": 12, "LO": 64, "LT": 10240, "PN": 64,
           "SH": 16, "ST": 1024, "TM": 16, "UI": 64}  # fmt: skip
REMOVED = "REMOVED"
DUMMIES = {"DA": "19000101", "DT": "19000101000000", "TM": "000000", "AS": "000Y", "DS": "0", "IS": "0"}
"""Values that replace others where the profile wants one of the same form. Texts become `REMOVED`."""
_UNICODE = ("UTF8", "GB18030", "GBK")
_ESCAPE = b"\x1b"
_NUMBER = re.compile(r"[+-]?(?=[\d.]{1,24}(?:[eE]|\Z))(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?")
_LEGAL = {
    "AS": re.compile(r"\d{3}[DWMY]"),
    "CS": re.compile(r"[A-Z0-9_ ]{0,16}"),
    "DS": _NUMBER,
    "IS": _NUMBER,
    "TM": re.compile(r"(?:[01]\d|2[0-3])(?::?[0-5]\d(?::?[0-5]\d|60)?(?:\.\d{1,6})?)?"),
    "UI": re.compile(r"[0-9.]{1,64}"),
}
_DATE = re.compile(
    r"(?P<year>\d{4})(?:\.?(?P<month>\d\d)(?:\.?(?P<day>\d\d)"
    r"(?P<time>(?:[01]\d|2[0-3])(?:[0-5]\d(?:[0-5]\d|60)?(?:\.\d{1,6})?)?)?)?)?(?P<zone>[+-]\d{4})?"
)
_ISO = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")
_AGE = {"D": "days", "W": "weeks", "M": "months", "Y": "years"}
_HEX = re.compile(r"[0-9a-f]{16,64}")
_SPLIT = re.compile(rb"(?=\x1b)")
_STANDARD = re.compile(r"1\.2\.840\.10008(?:\.\d{1,3}){1,9}")


def charsets(terms: str, field: str) -> tuple[str, ...]:
    """Return the Python codecs of a Specific Character Set; () for the default repertoire, ASCII.

    Raises:
        MalformedRecord: one of its terms is not in the standard.
    """
    from pydicom.charset import python_encoding

    names = [term.strip() for term in terms.split("\\")]
    if any(name and name not in python_encoding for name in names):
        raise MalformedRecord("a character set that is not in the standard. Correct it", field=field)
    codecs = ["ascii" if name in ("", "ISO_IR 6", "ISO 2022 IR 6") else python_encoding[name] for name in names]
    return () if codecs == ["ascii"] else tuple(codecs)


def decoded(value: bytes, codecs: Sequence[str]) -> str:
    """Return the characters of a value.

    Raises:
        UnicodeDecodeError: the bytes do not have these character sets.
    """
    from pydicom.charset import CODES_TO_ENCODINGS, handled_encodings

    first = codecs[0] if codecs else "ascii"
    if len(codecs) < 2 and first not in _UNICODE and not value.isascii() and _is_utf8(value):
        raise UnicodeDecodeError(first, value, 0, 1, "UTF-8 under another name")
    if _ESCAPE not in value or len(codecs) < 2:
        return value.decode(first)
    pieces = []
    for fragment in _SPLIT.split(value):
        code = next((code for code in CODES_TO_ENCODINGS if fragment.startswith(code)), b"")
        codec = CODES_TO_ENCODINGS[code] if code else first
        if fragment.startswith(_ESCAPE) and not code:
            raise UnicodeDecodeError(first, fragment, 0, 1, "an unknown escape sequence")
        pieces.append(fragment.decode(codec) if codec in handled_encodings else fragment[len(code) :].decode(codec))
    return "".join(pieces)


def guessed(value: bytes, codecs: Sequence[str]) -> str:
    """Return the characters of a value, with UTF-8 or Latin-1 if it does not have its character sets."""
    try:
        return decoded(value, codecs)
    except UnicodeDecodeError:
        return value.decode() if _is_utf8(value) else value.decode("latin-1")


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def encoded(value: str, codecs: Sequence[str]) -> bytes:
    """Return the bytes of a value.

    Raises:
        UnicodeEncodeError: the character sets do not have all of its characters.
    """
    if len(codecs) < 2:
        return value.encode(codecs[0] if codecs else "ascii")
    from pydicom.charset import encode_string

    for character in set(value):
        if not any(_has(codec, character) for codec in codecs):
            character.encode("ascii")  # raises the error
    found = encode_string(value, ["iso8859" if codec == "ascii" else codec for codec in codecs])
    if decoded(found, codecs) != value:
        raise UnicodeEncodeError("ascii", value, 0, len(value), "the character sets cannot represent it")
    return found


def _has(codec: str, character: str) -> bool:
    try:
        character.encode(codec)
    except UnicodeEncodeError:
        return False
    return True


def padded(value: bytes, vr: str) -> bytes:
    """Return a value of even length."""
    return value if len(value) % 2 == 0 else value + (b"\0" if vr in ("UI", "OB", "UN") else b" ")


def is_legal(vr: str, value: str) -> bool:
    """Whether one value, without padding, is legal for its value representation. An empty one is.

    Numbers may be longer, and integers may have decimals: many scanners write such.
    """
    if not value:
        return True
    if vr in ("DA", "DT"):
        return iso_of(value) is not None
    shape = _LEGAL.get(vr)
    fits = vr in ("DS", "IS") or len(value) <= LONGEST.get(vr, len(value))
    return fits and (shape is None or shape.fullmatch(value) is not None)


def fitted(vr: str, value: str) -> str:
    """Return a value that is not too long for its representation: cut off, and without half a label at its end."""
    most = LONGEST.get(vr, len(value))
    if len(value) <= most:
        return value
    cut = value[:most]
    opened = cut.rfind("[")
    return (cut[:opened] if opened > cut.rfind("]") else cut).rstrip()


def iso_of(value: str) -> str | None:
    """Return the date of a DA or DT in the form `2025-03-09`, `2025-03` or `2025`; None if it is no date."""
    match = _DATE.fullmatch(value)
    if match is None:
        return None
    year, month, day = match.group("year", "month", "day")
    try:
        date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return None
    return "-".join(filter(None, (year, month, day)))


def dated(vr: str, written: str, iso: str) -> str | None:
    """Return another date in the form of a DA or DT, with the time of day and the zone of the old value.

    Args:
        written: the old value.
        iso: the new date. A year or month becomes its first day in a DA. The time stays only with a whole date.

    Returns:
        None if `iso` is no date.
    """
    match, old = _ISO.fullmatch(iso), _DATE.fullmatch(written)
    if match is None or old is None or iso_of(iso.replace("-", "")) is None:
        return None
    year, month, day = match.groups()
    if vr == "DA":
        return year + (month or "01") + (day or "01")
    return year + (month or "") + (day or "") + ((old["time"] or "") + (old["zone"] or "") if day else "")


def age_of(written: str) -> str:
    """Return an age in words: `45 years` for `045Y`."""
    return f"{int(written[:3])} {_AGE[written[3]]}"


def aged(words: str) -> str | None:
    """Return an age string of words such as `45 years`, `90+` or `47`; None if they are no age."""
    match = re.fullmatch(r"(?:over )?(\d{1,3})\+?(?: (days|weeks|months|years))?", words.strip())
    return f"{int(match[1]):03d}{(match[2] or 'years')[0].upper()}" if match else None


def natural(written: str) -> str:
    """Return the first group of a name in the order of speech: `Dr Nia Okonkwo` for `Okonkwo^Nia^^Dr`."""
    parts = [part.strip() for part in written.split("=")[0].split("^")]
    family, given, middle, prefix, suffix = [*parts, *[""] * 5][:5]
    return " ".join(filter(None, (prefix, given, middle, family, suffix)))


def named(words: str) -> str:
    """Return a name in the order of speech as the value of a PN: the last word is the family name. A label stays."""
    plain = " ".join(re.sub(r"[\\^=]", " ", words).split())
    given, _, family = plain.rpartition(" ")
    if plain.startswith("[") or not given:
        return fitted("PN", plain)
    return fitted("PN", f"{family}^{given}")


def groups_of(written: str) -> list[str]:
    """Return all groups of a name in the order of speech: as it is written in letters, in ideographs, by its sound."""
    return [name for group in written.split("=") if (name := natural(group))]


def uid_of(hashed: str) -> str:
    """Return the unique identifier for a keyed hash, in the form of PS3.5 section B.2: `2.25.` and a number.

    Any other value stays as it is.
    """
    if not _HEX.fullmatch(hashed):
        return hashed
    return f"2.25.{int.from_bytes(hashlib.sha256(hashed.encode()).digest()[:16], 'big')}"


def is_well_known(uid: str) -> bool:
    """Whether a unique identifier is one of the standard, such as that of a SOP class or a transfer syntax."""
    return _STANDARD.fullmatch(uid) is not None

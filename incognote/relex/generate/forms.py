"""The forms of a person's surrogate: nicknames, female surnames, particles, patronymics, and syllables."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache

from incognote.relex.generate.cultures import HOME, culture, home_of_surname, is_listed
from incognote.relex.generate.reading import NameReading, is_initials, particle
from incognote.relex.names import NamePiece, Parsed, key
from incognote.relex.names.parsed import unparticled, words

_PATRONYMIC = re.compile(r"(?:[oe]vich|[oe]vna|ichna)\Z")

_PLAIN = str.maketrans(
    dict(zip("øØłŁđĐðÐı", "oOlLdDdDi", strict=True)) | {"ß": "ss", "þ": "th", "Þ": "Th", "æ": "ae", "Æ": "Ae"}
)


@lru_cache(maxsize=1 << 12)
def plain_letters(words: str) -> str:
    """Words without diacritics, as in a note that writes none."""
    decomposed = unicodedata.normalize("NFD", words.translate(_PLAIN))
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def nickname(given: str, home: str, original: str, avoided: Callable[[str], bool]) -> str:
    """A listed nickname of a surrogate, or else the full given name. A name is never cut short.

    Args:
        given: the given name of the surrogate.
        home: its culture.
        original: the original nickname. A form in -y or -ie becomes one, if there is one.
        avoided: whether words are an original of the batch.
    """
    small = original.endswith(("y", "ie"))
    free = [name for name in nicknames(given, home) if not avoided(name) and key(name) != original]
    return min(free, key=lambda name: name.endswith(("y", "ie")) != small, default=given.split("-")[-1].title())


def nicknames(given: str, home: str) -> tuple[str, ...]:
    """The listed nicknames of a given name in its culture, or else in that of the notes."""
    return culture(home).nicknames.get(given) or culture(HOME).nicknames.get(given, ())


def is_monogram(words: str) -> bool:
    """Return True for two or three letters in one case that are not a known name: jt, CMS."""
    short = words.isalpha() and 1 < len(words) < 4 and (words.islower() or words.isupper())
    return short and not is_listed(key(words)) and not home_of_surname(words.title())


def monogram(words: str, parts: Mapping[str, str], reading: NameReading) -> str:
    """The initials of a surrogate, as many as the original has, and of the same parts: OJ for Otis James."""
    middle = parts.get("middle") or parts["given"][1:]
    middles = {p.key[:1] for name in reading.written for p in name.of("middle")}
    surnames = {p.key[:1] for name in reading.written for p in name.of("surname") if p.style == "plain"}
    two_given = len(words) == 2 and words[1].lower() in middles - surnames
    last = middle[:1].upper() if two_given else unparticled(parts["surname"])[0]
    letters = plain_letters(parts["given"][0] + middle[: len(words) - 2][-1:] + last)
    if letters.lower() == words.lower():
        letters = letters[0] + plain_letters(parts["surname"])[-1] * (len(letters) - 1)
    return letters.lower() if words.islower() else letters.upper()


def written_like(shape: Parsed, parts: Mapping[str, str], reading: NameReading) -> dict[str, str]:
    """The parts of a surrogate, with an entry of its own for each piece of a name that needs another form."""
    found = dict(parts)
    pieces = [piece for piece in shape.pieces if piece.role in ("given", "nick", "middle", "surname")]
    middle = next((piece for piece in pieces if piece.role == "middle"), None)
    for piece in pieces:
        name = f"{piece.role}:{piece.key}"
        value = parts.get(name) or parts.get(piece.role, "")
        if piece.role == "nick" and piece.key in words().baby | words().newborn:
            new = piece.text
        elif piece.role in ("given", "nick") and is_initials(piece, reading):
            new = monogram(piece.text, parts, reading)
        elif piece.role in ("given", "nick"):
            new = _given(piece, parts, reading, middle is not None)
        elif piece.role == "middle":
            new = _middle(piece, value, parts["given"], reading)
        else:
            new = _surname(piece, value, reading)
        if new and new != value:
            found[name] = new
    return found


def _given(piece: NamePiece, parts: Mapping[str, str], reading: NameReading, followed: bool) -> str:
    """A given name or nickname, or an initial of one of them."""
    if piece.style == "initial":
        nicks = [f"nick:{word}" for word in sorted(reading.nicks) if word[:1] == piece.key[:1] != reading.formal[:1]]
        return next((parts[name] for name in nicks if name in parts), "")
    if piece.key in reading.joined and "middle" in parts:
        return f"{parts['given']}{parts['middle'].lower()}"
    if f"given:{piece.key}" in parts:
        return parts[f"given:{piece.key}"] + "né"
    value = parts.get(f"nick:{piece.key}", parts["given"])
    head, _, rest = piece.text.partition(" ")
    if rest and key(head) in words().kunya:
        return f"{head} {value}"
    if piece.key != reading.formal and reading.formal.endswith(piece.key) and "-" in value and not followed:
        return value.split("-")[1].title()
    return _syllables(piece.text, value, followed)


def _syllables(text: str, value: str, followed: bool) -> str:
    """Min-jun as the original is written: Min-jun, Min-Jun, Min Jun or Minjun; before a second syllable, Min."""
    first, _, second = value.partition("-")
    if not second or not second.islower():
        return value
    if followed:
        return first
    mark = next((c for c in text[1:-1] if c in "-‐‑ "), "")
    upper = bool(mark) and text[text.index(mark, 1) + 1 :][:1].isupper()
    return f"{first}{mark}{second.title() if upper else second}"


def _middle(piece: NamePiece, value: str, given: str, reading: NameReading) -> str:
    if piece.key in culture(reading.family).middle and piece.style == "plain":
        return piece.text
    second = given.partition("-")[2]
    if not value and second:
        return second.title()
    if piece.style != "plain" or not value:
        return ""
    base = unparticled(piece.text)
    if base != piece.text:
        return piece.text[: len(piece.text) - len(base)] + value
    if _PATRONYMIC.search(piece.key):
        return _patronymic(value, piece.key)
    own = culture(home_of_surname(piece.text))  # a birth name: Jónsdóttir, of Sigríður Jónsdóttir Haugen
    return own.feminine(value) if own.is_feminine(piece.text) else value


def _patronymic(father: str, like: str) -> str:
    """Ivan → Ivanovich, or Ivanovna if the original is a woman's."""
    ends = ("ich", "inichna") if father.endswith("a") else ("ovich", "ovna")
    stem = father.rstrip("a")
    if father.endswith(("i", "y")):
        stem, ends = father[:-1] + "y", ("evich", "evna")
    return stem + ends[like.endswith("na")]


def _surname(piece: NamePiece, value: str, reading: NameReading) -> str:
    """A surname with the original's particle, in the female form if the original has it."""
    if not value or piece.style == "spelled":
        return ""
    home = culture(reading.family)
    cut_short = reading.family == "is" and reading.gender == "female" and not piece.key.endswith("son")
    if piece.style == "plain" and reading.gender != "male" and (cut_short or home.is_feminine(piece.text)):
        value = home.feminine(value)
    prefix = particle(piece.text) if home.after else ""
    return prefix + unparticled(value) if prefix else value

"""A person's name as pieces, and rendering it with other parts in the same shape. Also the word lists for names.

The words are data of the language, compared by their normal form (`key`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple

from incognote.errors import UsageError
from incognote.languages import language
from incognote.text.lexicon import fold

Role = Literal["given", "nick", "middle", "surname", "title", "suffix", "degree", "possessive", "gap"]
Style = Literal["plain", "initial", "spelled"]
Order = Literal["given first", "surname first", "inverted", "single", "initials", "user"]
Case = Literal["upper", "lower", "title"]
NAMED: frozenset[str] = frozenset(("given", "nick", "middle", "surname"))
_OCR = str.maketrans("01358", "olesb")
_UNSPOKEN = re.compile(r"[\W_]+")
_PART = re.compile(r"[^\W\d_]+|[\W\d_]+")
_FEWEST = 3  # a shorter part of a name proves nothing
_Form = tuple[Role, str]


@lru_cache(maxsize=1 << 16)
def key(words: str) -> str:
    """The normal form of a name's words: lower case, without accents, hyphens, apostrophes or spaces.

    Digits that OCR read for letters become letters.
    """
    low = _UNSPOKEN.sub("", fold(words))
    return low.translate(_OCR) if any(c.isalpha() for c in low) else low


class NameWords(NamedTuple):
    """The word sets in `names/words.toml` of the language, folded."""

    titles: frozenset[str]
    first_name_titles: frozenset[str]
    female: frozenset[str]
    male: frozenset[str]
    baby: frozenset[str]
    newborn: frozenset[str]
    degrees: frozenset[str]
    physician: frozenset[str]
    suffixes: frozenset[str]
    generations: frozenset[str]
    digraphs: frozenset[str]
    particles: frozenset[str]
    kunya: frozenset[str]
    family_first: frozenset[str]
    also_names: frozenset[str]
    patronymic_ends: frozenset[str]


@cache
def data(name: str) -> dict[str, Any]:
    """A data file from the language's `names` folder, parsed."""
    return language().table("names", name)


@cache
def words() -> NameWords:
    """The words that occur in names, read once per process."""
    table = data("words.toml")
    return NameWords(*(frozenset(table[field].split()) for field in NameWords._fields))


@cache
def _suffixes() -> dict[str, str]:
    return {word: line.split()[0] for line in data("words.toml")["same_suffix"] for word in line.split()}


def suffix(words: str) -> str:
    """The normal form of a generational suffix: `jr` for Junior and ifj., "" for none."""
    return _suffixes().get(key(words), key(words))


@cache
def roots() -> dict[str, frozenset[str]]:
    """Given name (as `key` returns it) → the roots of the groups that contain it."""
    table: dict[str, set[str]] = {}
    for group in data("nicknames.toml")["groups"]:
        root, *forms = group.split()
        for form in (root, *forms):
            table.setdefault(form, set()).add(root)
    return {form: frozenset(found) for form, found in table.items()}


@cache
def short_forms() -> dict[str, tuple[str, ...]]:
    """Root → the forms of its group, including itself."""
    groups: list[str] = data("nicknames.toml")["groups"]
    table: dict[str, list[str]] = {}
    for group in groups:
        table.setdefault(group.split()[0], []).extend(group.split())
    return {root: tuple(forms) for root, forms in table.items()}


@dataclass(frozen=True, slots=True)
class NamePiece:
    """A piece of a written name: its role, and whether it is written in full, as an initial or spelled out."""

    role: Role
    text: str = field(repr=False)
    style: Style = "plain"

    @property
    def key(self) -> str:
        return key(self.text)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A written name as pieces. Joined, they are the original words, byte for byte."""

    pieces: tuple[NamePiece, ...]
    order: Order

    @property
    def words(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    def of(self, *roles: str) -> tuple[NamePiece, ...]:
        """The pieces with one of the roles, in written order."""
        return tuple(piece for piece in self.pieces if piece.role in roles)

    @property
    def given(self) -> tuple[str, ...]:
        return tuple(piece.text for piece in self.of("given"))

    @property
    def middle(self) -> tuple[str, ...]:
        return tuple(piece.text for piece in self.of("middle"))

    @property
    def surname(self) -> tuple[str, ...]:
        """Each surname separately: ("Fuentes", "Ortega"), ("van der Meer", "Bakker")."""
        return tuple(piece.text for piece in self.of("surname"))

    @property
    def nick(self) -> tuple[str, ...]:
        return tuple(piece.text for piece in self.of("nick"))

    @property
    def title(self) -> str:
        return " ".join(piece.text for piece in self.of("title"))

    @property
    def suffix(self) -> str:
        return " ".join(piece.text for piece in self.of("suffix"))

    @property
    def degrees(self) -> tuple[str, ...]:
        return tuple(key(piece.text) for piece in self.of("degree"))

    @property
    def possessive(self) -> str:
        return "".join(piece.text for piece in self.of("possessive"))

    @property
    def initials(self) -> tuple[str, ...]:
        """The initials shown, folded, in written order."""
        return tuple(piece.key for piece in self.pieces if piece.role in NAMED and piece.style == "initial")

    @property
    def case(self) -> Case:
        letters = "".join(piece.text for piece in self.pieces if piece.role in NAMED)
        if letters.isupper() and any(len(p.text) > 1 for p in self.pieces if p.role in NAMED):
            return "upper"
        return "lower" if letters.islower() else "title"

    @property
    def full(self) -> bool:
        """Return True if a given name and a surname are written out."""
        return all(any(p.style != "initial" for p in self.of(role)) for role in ("given", "surname"))


def render(variant: Parsed, parts: Mapping[str, str]) -> str:
    """Write a name in the shape of `variant` with other parts: same title, initials, possessive, case and order.

    Args:
        variant: how the original was written; it also decides which parts are shown.
        parts: "given", "middle", "surname", "nick" → words. An entry like "surname:ortega" is for the piece with that
            normal form and has priority over the general one. A middle name without a part is left out. So is a second
            piece that would only repeat the general part of its role. A nickname without a part shows the given name.

    Returns:
        The words. With the variant's own parts they are the original, byte for byte.

    Raises:
        UsageError: there is no part for a given name or surname that the variant shows.
    """
    out: list[str] = []
    served: set[str] = set()
    dropped = False
    stop = ""
    for place, piece in enumerate(variant.pieces):
        text = piece.text
        if piece.role in NAMED:
            part, general = _part(piece, parts)
            if part is None or (general and general in served):
                if part is None and piece.role != "middle":
                    raise UsageError(f"a surrogate of this shape needs the part {piece.role!r}")
                stop = ""
                if out and place and variant.pieces[place - 1].role == "gap":
                    stop = "." if out.pop().startswith(".") else ""
                dropped = True
                continue
            if general:
                served.add(general)
            text = part if part == text else _styled(part, piece)
        elif dropped and piece.role == "gap":
            text = stop + text.lstrip(".") if out else ""  # the period belongs to the initial before it
        dropped = False
        out.append(text)
    return "".join(out)


def _part(piece: NamePiece, parts: Mapping[str, str]) -> tuple[str | None, str]:
    """The part for a piece, and the name of the general entry it came from ("" for an entry of its own)."""
    own = parts.get(f"{piece.role}:{piece.key}")
    if own is not None:
        return own, ""
    if piece.style == "initial":
        meant = {words for name, words in parts.items() if name.startswith(f"{piece.role}:{piece.key[:1]}")}
        if len(meant) == 1:  # the one of several surnames that begins with this letter
            return meant.pop(), ""
    role = "given" if piece.role == "nick" and "nick" not in parts else piece.role
    return parts.get(role), piece.role


def _styled(part: str, piece: NamePiece) -> str:
    """The part in the style of the piece: as an initial, spelled out, in upper case or in lower case."""
    if piece.style == "spelled":
        gap = next(c for c in piece.text if not c.isalnum())
        return gap.join(c.lower() if piece.text.islower() else c.upper() for c in part if c.isalnum())
    if piece.style == "initial":
        letter = next((c for c in unparticled(part) if c.isalpha()), part[:1])
        return letter.lower() if piece.text.islower() else letter.upper()
    letters = [c for c in piece.text if c.isalpha()]
    if len(letters) > 1 and piece.text.isupper():
        return part.upper()
    return part.lower() if piece.text.islower() else part


def unparticled(surname: str) -> str:
    """A surname without its leading particles: "van der Meer" → "Meer"."""
    rest = surname
    while (cut := rest.replace("-", " ").find(" ")) > 0 and key(rest[:cut]) in words().particles:
        rest = rest[cut + 1 :]
    return rest


def fullest(names: Iterable[Parsed]) -> Parsed | None:
    """The name with the most letters written out; the words break ties. None if there are no names."""
    return min(
        names,
        key=lambda n: (
            -sum(len(p.key) for p in n.pieces if p.role in NAMED and p.style != "initial"),
            -len(n.of(*NAMED)),
            n.case != "title",
            n.order == "inverted",
            n.words,
        ),
        default=None,
    )


def parse_user(written: str, names: Iterable[Parsed]) -> Parsed | None:
    """A user name (or an address up to its @) as pieces of one of those persons' names; None if it contains none.

    It must contain at least one name part of three letters or more (or a nickname of the given name). The letters
    around it must be initials or further parts. So `cokafor` is Chidi Okafor's, and `mokafor` is not. Digits, periods
    and other marks are gaps. So are degrees, suffixes, and, beside a whole surname, other words (`cokafor.trombone`).
    """
    matches = [(parsed, shown) for name in names for parsed, shown in [_as(written, name)] if parsed is not None]
    best = max(matches, key=lambda pair: (pair[1], pair[0].words), default=None)
    return best[0] if best else None


def _as(written: str, name: Parsed) -> tuple[Parsed | None, int]:
    forms = _forms(name)
    pieces: list[NamePiece] = []
    foreign = False
    for match in _PART.finditer(written):
        chunk = match.group()
        if not chunk[0].isalpha():
            pieces.append(NamePiece("gap", chunk))
        elif (cut := _cut(chunk, forms)) is None:
            pieces.append(NamePiece("gap", chunk))
            foreign = foreign or key(chunk) not in words().suffixes | words().degrees
        else:
            pieces.extend(cut)
    plain = [p for p in pieces if p.role in NAMED and p.style == "plain"]
    shown = sum(len(p.text) for p in plain)
    if foreign and not any(p.role == "surname" for p in plain):
        return None, 0
    return (Parsed(tuple(pieces), "user"), shown) if shown >= _FEWEST else (None, 0)


@lru_cache(maxsize=1 << 12)
def _forms(name: Parsed) -> tuple[_Form, ...]:
    """The parts that may occur in a user name, longest first."""
    forms: set[_Form] = set()
    for piece in name.pieces:
        if piece.role not in NAMED or piece.style == "initial":
            continue
        forms.add((piece.role, piece.key))
        forms |= {(piece.role, key(word)) for word in re.split(r"[\s-]", piece.text) if len(key(word)) >= _FEWEST}
        if piece.role == "given":
            forms |= {("given", form) for root in roots().get(piece.key, ()) for form in short_forms()[root]}
    return tuple(sorted(forms, key=lambda form: (-len(form[1]), form)))


def _cut(chunk: str, forms: Sequence[_Form]) -> list[NamePiece] | None:
    """The chunk as whole parts and initials, longest parts first. None if letters are left over."""
    if not chunk:
        return []
    low = key(chunk)
    if len(low) != len(chunk):
        return None
    for role, form in forms:
        if len(form) >= 2 and low.startswith(form) and (rest := _cut(chunk[len(form) :], forms)) is not None:
            return [NamePiece(role, chunk[: len(form)]), *rest]
    for role, form in sorted(forms, key=lambda f: (f[0] != "given", f)):
        if low[0] == form[0] and (rest := _cut(chunk[1:], forms)) is not None:
            return [NamePiece(role, chunk[0], "initial"), *rest]
    return None

"""A person's name taken apart, and put together again with other parts in the same shape; the words of names.

The words are data of the language, compared under their normal form (`key`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple

from incognote.detectors.rules.lexicon import fold
from incognote.errors import UsageError
from incognote.languages import language

Role = Literal["given", "nick", "middle", "surname", "title", "suffix", "degree", "possessive", "gap"]
Style = Literal["plain", "initial", "spelled"]
Order = Literal["given first", "surname first", "inverted", "single", "initials", "user"]
Case = Literal["upper", "lower", "title"]
NAMED: frozenset[str] = frozenset(("given", "nick", "middle", "surname"))
_OCR = str.maketrans("01358", "olesb")
_UNSPOKEN = re.compile(r"[\W_]+")
_PART = re.compile(r"[^\W\d_]+|[\W\d_]+")
_FEWEST = 3  # a shorter stretch of a name proves nothing
_Form = tuple[Role, str]


@lru_cache(maxsize=1 << 16)
def key(words: str) -> str:
    """The normal form of a name's words: lower case, without marks, hyphens, apostrophes, blanks and OCR's digits."""
    low = _UNSPOKEN.sub("", fold(words))
    return low.translate(_OCR) if any(c.isalpha() for c in low) else low


class NameWords(NamedTuple):
    """Word sets of `names/words.toml` of the language, folded."""

    titles: frozenset[str]
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
    """A data file of the language's folder `names`, parsed."""
    return language().table("names", name)


@cache
def words() -> NameWords:
    """The words that stand in names, read once per process."""
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
    """Given name (as `key` gives it) → the roots of the groups it stands in."""
    table: dict[str, set[str]] = {}
    for group in data("nicknames.toml")["groups"]:
        root, *forms = group.split()
        for form in (root, *forms):
            table.setdefault(form, set()).add(root)
    return {form: frozenset(found) for form, found in table.items()}


@cache
def short_forms() -> dict[str, tuple[str, ...]]:
    """Root → the forms of its group, itself among them."""
    groups: list[str] = data("nicknames.toml")["groups"]
    table: dict[str, list[str]] = {}
    for group in groups:
        table.setdefault(group.split()[0], []).extend(group.split())
    return {root: tuple(forms) for root, forms in table.items()}


@dataclass(frozen=True, slots=True)
class NamePiece:
    """A stretch of a written name: what it is, and whether it shows a whole part, an initial or spelt letters."""

    role: Role
    text: str = field(repr=False)
    style: Style = "plain"

    @property
    def key(self) -> str:
        return key(self.text)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A written name as pieces; joined they are the words, byte for byte."""

    pieces: tuple[NamePiece, ...]
    order: Order

    @property
    def words(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    def of(self, *roles: str) -> tuple[NamePiece, ...]:
        """The pieces that play one of the roles, in the order of writing."""
        return tuple(piece for piece in self.pieces if piece.role in roles)

    @property
    def given(self) -> tuple[str, ...]:
        return tuple(piece.text for piece in self.of("given"))

    @property
    def middle(self) -> tuple[str, ...]:
        return tuple(piece.text for piece in self.of("middle"))

    @property
    def surname(self) -> tuple[str, ...]:
        """Each surname on its own: ("Fuentes", "Ortega"), ("van der Meer", "Bakker")."""
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
        """The initials shown, folded, in the order of writing."""
        return tuple(piece.key for piece in self.pieces if piece.role in NAMED and piece.style == "initial")

    @property
    def case(self) -> Case:
        letters = "".join(piece.text for piece in self.pieces if piece.role in NAMED)
        if letters.isupper() and any(len(p.text) > 1 for p in self.pieces if p.role in NAMED):
            return "upper"
        return "lower" if letters.islower() else "title"

    @property
    def full(self) -> bool:
        """A given name written out and a surname written out."""
        return all(any(p.style != "initial" for p in self.of(role)) for role in ("given", "surname"))


def render(variant: Parsed, parts: Mapping[str, str]) -> str:
    """A name in the shape of `variant` with other parts: its title, initials, possessive, capitals, order, parts shown.

    Args:
        variant: how the original was written.
        parts: "given", "middle", "surname", "nick" → words; "surname:ortega" and the like serve the piece whose normal
            form is named, before the general one. A middle name without a part is left out, and so is a second piece
            that the general part of its role would only repeat; a nickname without a part shows the given name.

    Returns:
        The words; with `parts_of(variant)` they are the variant's own, byte for byte.

    Raises:
        UsageError: no part for a given name or surname that the variant shows.
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
            text = stop + text.lstrip(".") if out else ""  # the stop is of the initial before
        dropped = False
        out.append(text)
    return "".join(out)


def _part(piece: NamePiece, parts: Mapping[str, str]) -> tuple[str | None, str]:
    """The part that serves a piece, and the general entry it came from ("" for one of its own)."""
    own = parts.get(f"{piece.role}:{piece.key}")
    if own is not None:
        return own, ""
    if piece.style == "initial":
        meant = {words for name, words in parts.items() if name.startswith(f"{piece.role}:{piece.key[:1]}")}
        if len(meant) == 1:  # of several surnames the one that begins so
            return meant.pop(), ""
    role = "given" if piece.role == "nick" and "nick" not in parts else piece.role
    return parts.get(role), piece.role


def _styled(part: str, piece: NamePiece) -> str:
    """The part as the piece is written: its first letter, spelt out, in capitals or small letters."""
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
    """A surname from its first word on that is no particle: "van der Meer" → "Meer"."""
    rest = surname
    while (cut := rest.replace("-", " ").find(" ")) > 0 and key(rest[:cut]) in words().particles:
        rest = rest[cut + 1 :]
    return rest


def fullest(names: Iterable[Parsed]) -> Parsed | None:
    """The name that shows most of its parts written out; ties by the words themselves. None for none."""
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
    """A user name (or an address up to its @) as pieces of the name of one of those persons; None where it holds none.

    At least one name part of three letters or more must stand in it whole (or the given name's nickname); letters
    around it must be initials or further parts, so that `cokafor` is Chidi Okafor's and `mokafor` is not. Digits,
    points and the like are gaps.
    """
    found = [(parsed, shown) for name in names for parsed, shown in [_as(written, name)] if parsed is not None]
    best = max(found, key=lambda pair: (pair[1], pair[0].words), default=None)
    return best[0] if best else None


def _as(written: str, name: Parsed) -> tuple[Parsed | None, int]:
    forms = _forms(name)
    pieces: list[NamePiece] = []
    for match in _PART.finditer(written):
        chunk = match.group()
        if not chunk[0].isalpha():
            pieces.append(NamePiece("gap", chunk))
        elif (cut := _cut(chunk, forms)) is None:
            return None, 0
        else:
            pieces.extend(cut)
    shown = sum(len(p.text) for p in pieces if p.role in NAMED and p.style == "plain")
    return (Parsed(tuple(pieces), "user"), shown) if shown >= _FEWEST else (None, 0)


@lru_cache(maxsize=1 << 12)
def _forms(name: Parsed) -> tuple[_Form, ...]:
    """The parts that may stand in a user name, the longest first."""
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
    """The chunk as whole parts and initials, the longest parts first; None where letters are left over."""
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

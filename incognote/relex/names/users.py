"""User names and the front of e-mail addresses, made of a person's name: `cokafor`, `chidi.okafor`, `okaforc2`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from incognote.relex.names.parsed import NAMED, Parsed, Piece, Role, key, roots, short_forms

_PART = re.compile(r"[^\W\d_]+|[\W\d_]+")
_FEWEST = 3  # a shorter stretch of a name proves nothing
_Form = tuple[Role, str]


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
    pieces: list[Piece] = []
    for match in _PART.finditer(written):
        chunk = match.group()
        if not chunk[0].isalpha():
            pieces.append(Piece("gap", chunk))
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


def _cut(chunk: str, forms: Sequence[_Form]) -> list[Piece] | None:
    """The chunk as whole parts and initials, the longest parts first; None where letters are left over."""
    if not chunk:
        return []
    low = key(chunk)
    if len(low) != len(chunk):
        return None
    for role, form in forms:
        if len(form) >= 2 and low.startswith(form) and (rest := _cut(chunk[len(form) :], forms)) is not None:
            return [Piece(role, chunk[: len(form)]), *rest]
    for role, form in sorted(forms, key=lambda f: (f[0] != "given", f)):
        if low[0] == form[0] and (rest := _cut(chunk[1:], forms)) is not None:
            return [Piece(role, chunk[0], "initial"), *rest]
    return None

"""The parts of a person's surrogate: which are needed, and by which normal form each is drawn.

Surrogates are drawn part by part, so that whoever shares a surname goes on sharing one, and a surname met alone becomes
what it becomes within the full name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from incognote.relex.names.likeness import alike, related
from incognote.relex.names.likeness import forms as forms_of
from incognote.relex.names.parsed import NAMED, NamePiece, Parsed, Role, key, roots, unparticled
from incognote.relex.names.reading import readings

_STUB = 4  # letters of a surname that is cut short


def fit(written: str, fuller: Sequence[Parsed], title: str = "") -> Parsed:
    """The reading of a written name that agrees best with fuller names of the same person; of equals the likeliest."""
    known = [piece for name in fuller for piece in name.pieces if piece.role in NAMED]
    return max(
        readings(written, title), key=lambda name: sum(_agreement(p, known) for p in name.pieces if p.role in NAMED)
    )


def settled(name: Parsed, whole: Parsed | None) -> Parsed:
    """A name whose words play the parts that they play in the fullest name of the person: one word, one surrogate.

    "SUBRAMANIAN, MURUGESAN" can be read in one way only, and so can "Murugesan S."; of one person, one of the two is
    the wrong way round.
    """
    if whole is None or name == whole:
        return name
    known: dict[str, set[Role]] = {}
    for piece in whole.pieces:
        if piece.role in NAMED and piece.style == "plain":
            known.setdefault(piece.key, set()).add(piece.role)

    def turned(piece: NamePiece) -> NamePiece:
        roles = known.get(piece.key, set())
        if piece.role not in NAMED or piece.style != "plain" or piece.role in roles or len(roles) != 1:
            return piece
        return replace(piece, role=next(iter(roles)))

    return replace(name, pieces=tuple(map(turned, name.pieces)))


def _agreement(piece: NamePiece, known: Iterable[NamePiece]) -> int:
    """3 for the same word in the same role, 2 for a form of it, 1 for its initial."""
    found = 0
    for other in known:
        if other.role != piece.role and {other.role, piece.role} != {"given", "nick"}:
            continue
        if piece.key == other.key:
            return 3
        if "initial" in (piece.style, other.style):
            found = max(found, int(key(unparticled(other.text))[:1] == piece.key[:1] or other.key[:1] == piece.key[:1]))
        elif piece.role == "surname":
            found = max(found, 2 * int(_one_surname(piece, other)))
        else:
            found = max(found, 2 * int(related(piece.key, other.key) or alike(piece.key, other.key)))
    return found


def components(names: Sequence[Parsed]) -> dict[str, str]:
    """What `render` needs to write all these names of one person anew.

    Args:
        names: fitted readings (`fit`) of the ways the person is written.

    Returns:
        Part ("given", "middle", "surname", and "surname:moreau" for each surname of several) → the normal form to draw
        it by. A given name's is its root, so that Bob draws what Robert does; misspelt and hyphened surnames draw what
        the surname does, as most of the names write it. Empty where no part is written out: initials then draw by
        themselves.
    """
    ordered = sorted(dict.fromkeys(names), key=lambda n: (-_shown(n), n.words))
    parts: dict[str, str] = {}
    for role in ("given", "middle", "surname"):
        pieces = [p for name in ordered for p in name.of(role) if p.style != "initial"] or [
            p for name in ordered for p in name.of(role)
        ]
        if pieces:
            forms = [_root(piece.key) if role == "given" else piece.key for piece in pieces]
            parts[role] = max(forms, key=forms.count) if role == "surname" else forms[0]
    for name in ordered:
        for piece in name.of("surname"):
            if piece.style != "initial" and f"surname:{piece.key}" not in parts:
                parts[f"surname:{piece.key}"] = _drawn_by(piece, ordered, parts)
    if len({normal for part, normal in parts.items() if part.startswith("surname")}) == 1:
        return {part: normal for part, normal in parts.items() if not part.startswith("surname:")}
    return parts


def _drawn_by(piece: NamePiece, names: Sequence[Parsed], parts: dict[str, str]) -> str:
    """The normal form of the surname this is a spelling of, met before; its own where it is another."""
    for name in names:
        for other in name.of("surname"):
            drawn = parts.get(f"surname:{other.key}")
            if drawn and other.style != "initial" and (_one_surname(piece, other) or _cut_short(piece, other)):
                return drawn
    return piece.key


def _cut_short(piece: NamePiece, other: NamePiece) -> bool:
    """Of one person's surnames one is the beginning of another: Einarsd. is Einarsdóttir."""
    return len(piece.key) >= _STUB and other.key.startswith(piece.key)


def _one_surname(a: NamePiece, b: NamePiece) -> bool:
    return any(alike(x, y) for x in forms_of(a) for y in forms_of(b))


def _root(given: str) -> str:
    """The least root of a given name: Bob and Rob are Robert's."""
    return min(roots().get(given, {given}), key=lambda root: (root != given, root))


def _shown(name: Parsed) -> int:
    """Letters of the parts written out."""
    return sum(len(piece.key) for piece in name.pieces if piece.role in NAMED and piece.style != "initial")

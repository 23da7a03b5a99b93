"""The parts of a person's surrogate: which are needed, and the normal form by which each is drawn.

Surrogates are drawn part by part. So people who share a surname keep sharing one, and a lone surname becomes the same
word as in the full name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from incognote.relex.names.likeness import alike, related
from incognote.relex.names.likeness import forms as forms_of
from incognote.relex.names.parsed import NAMED, NamePiece, Parsed, Role, key, roots, unparticled
from incognote.relex.names.reading import readings

_STUB = 4  # the fewest letters of an abbreviated surname


def fit(written: str, fuller: Sequence[Parsed], title: str = "") -> Parsed:
    """The reading of a written name that agrees best with fuller names of the same person. The likeliest wins a tie."""
    known = [piece for name in fuller for piece in name.pieces if piece.role in NAMED]
    return max(
        readings(written, title), key=lambda name: sum(_agreement(p, known) for p in name.pieces if p.role in NAMED)
    )


def settled(name: Parsed, whole: Parsed | None) -> Parsed:
    """A name with the same roles as in the fullest name of the person, so that each word has one surrogate.

    "SUBRAMANIAN, MURUGESAN" has only one reading, and so has "Murugesan S.". If both are the same person, one of them
    has the roles swapped.
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
    best = 0
    for other in known:
        if other.role != piece.role and {other.role, piece.role} != {"given", "nick"}:
            continue
        if piece.key == other.key:
            return 3
        if "initial" in (piece.style, other.style):
            best = max(best, int(key(unparticled(other.text))[:1] == piece.key[:1] or other.key[:1] == piece.key[:1]))
        elif piece.role == "surname":
            best = max(best, 2 * int(_one_surname(piece, other)))
        else:
            best = max(best, 2 * int(related(piece.key, other.key) or alike(piece.key, other.key)))
    return best


def components(names: Sequence[Parsed]) -> dict[str, str]:
    """The parts that `render` needs to write all these names of one person with a surrogate.

    Args:
        names: fitted readings (`fit`) of the ways the person is written.

    Returns:
        Part ("given", "middle", "surname", and "surname:moreau" for each of several surnames) → the normal form by
        which it is drawn. For a given name this is its root, so Bob draws the same as Robert. Misspelled and hyphenated
        surnames draw the same as the surname in the form most of the names have. Empty if no part is written out;
        initials are then drawn separately.
    """
    ordered = sorted(dict.fromkeys(names), key=lambda n: (-_shown(n), n.words))
    parts: dict[str, str] = {}
    for role in ("given", "middle", "surname"):
        pieces = [p for name in ordered for p in name.of(role) if p.style != "initial"] or [
            p for name in ordered for p in name.of(role)
        ]
        if pieces:
            forms = [root_of(piece.key) if role == "given" else piece.key for piece in pieces]
            parts[role] = max(forms, key=forms.count) if role == "surname" else forms[0]
    whole = {piece.key for name in ordered for piece in name.of("surname") if piece.style != "initial"}
    if parts.get("surname") in whole:  # comes first, so that misspelled forms are drawn by it
        parts[f"surname:{parts['surname']}"] = parts["surname"]
    for name in ordered:
        for piece in name.of("surname"):
            if piece.style != "initial" and f"surname:{piece.key}" not in parts:
                parts[f"surname:{piece.key}"] = _drawn_by(piece, ordered, parts)
    if len({normal for part, normal in parts.items() if part.startswith("surname")}) == 1:
        return {part: normal for part, normal in parts.items() if not part.startswith("surname:")}
    return parts


def _drawn_by(piece: NamePiece, names: Sequence[Parsed], parts: dict[str, str]) -> str:
    """The normal form of the earlier surname that this is a spelling of, or its own if it is a different one."""
    for name in names:
        for other in name.of("surname"):
            drawn = parts.get(f"surname:{other.key}")
            if drawn and other.style != "initial" and (_one_surname(piece, other) or _cut_short(piece, other)):
                return drawn
    return piece.key


def _cut_short(piece: NamePiece, other: NamePiece) -> bool:
    """Return True if one surname of a person abbreviates another: Einarsd. is Einarsdóttir."""
    return len(piece.key) >= _STUB and other.key.startswith(piece.key)


def _one_surname(a: NamePiece, b: NamePiece) -> bool:
    return any(alike(x, y) for x in forms_of(a) for y in forms_of(b))


def root_of(given: str) -> str:
    """The smallest root of a given name: Bob and Rob lead to Robert."""
    return min(roots().get(given, {given}), key=lambda root: (root != given, root))


def _shown(name: Parsed) -> int:
    """The number of letters in the parts that are written out."""
    return sum(len(piece.key) for piece in name.pieces if piece.role in NAMED and piece.style != "initial")

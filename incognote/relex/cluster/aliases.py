"""Two names side by side for one person: Liu Xin ("Cindy"), David (that is Duc), Quad (Raymond D. Kowalczyk IV)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from incognote.relex.cluster.mentions import Mention
from incognote.relex.names.likeness import same_given

_Place = tuple[str, str, str, int]


def aliased(mentions: Sequence[Mention]) -> tuple[list[Mention], dict[Mention, Mention]]:
    """The mentions, those of a pair told of each other: kin word, gender, and the name one is called by.

    Returns:
        The mentions in their order, and each second of a pair with its first.
    """
    ends = {_place(m, m.variant.end): m for m in mentions}
    pairs = [
        (first, second)
        for second in mentions
        if second.variant.hints.alias
        and (first := ends.get(_place(second, second.variant.start - len(second.variant.hints.alias))))
        and _believed(first, second)
    ]
    now: dict[Mention, Mention] = {}
    for first, second in pairs:
        if first in now or second in now:
            continue  # of three in a row, the third hangs on the second, which is told already
        now[first], now[second] = _told(first, second), _told(second, first)
    return [now.get(m, m) for m in mentions], {now.get(b, b): now.get(a, a) for a, b in pairs}


def _place(mention: Mention, at: int) -> _Place:
    variant = mention.variant
    return variant.owner, variant.record, variant.field, at


def _believed(first: Mention, second: Mention) -> bool:
    """Words between them say so; quotation marks do unless both are whole names; a bracket alone only between a whole
    name and a lone word, and not of staff, who are listed so (Reed (Patel)), or where one is cut from the other."""
    odd = (first.gender and second.gender and first.gender != second.gender) or (
        first.suffix and second.suffix and first.suffix != second.suffix
    )
    if odd or first.variant.type != second.variant.type:
        return False
    mark = second.variant.hints.alias.strip()
    kinds = {first.kind, second.kind}
    if kinds == {"single"} and _within(first, second):
        return True
    if mark == "(":
        return kinds == {"whole", "single"} and first.variant.type != "CLINICIAN"
    spoken = any(c.isalpha() for c in mark)
    return spoken or kinds != {"whole"} or same_given(first.names[0], second.names[0])


def _within(first: Mention, second: Mention) -> bool:
    """One is a part of the other: Sreelekha (Lekha)."""
    short, long = sorted((first.names[0].joined, second.names[0].joined), key=len)
    return len(short) > 2 and short in long


def _told(one: Mention, other: Mention) -> Mention:
    """The one with what the other tells."""
    nick = {name.given for name in other.names if name.given and not name.surname and len(name.given) > 1}
    names = one.names
    if other.kind == "single" and nick:
        names = tuple(name._replace(nick=tuple(sorted({*name.nick, *nick}))) if name.given else name for name in names)
    return replace(
        one,
        names=names,
        gender=one.gender or other.gender,
        kin=one.kin or other.kin,
        side=one.side or other.side,
    )

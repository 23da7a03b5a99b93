"""Gather mentions into persons: whole names by likeness, then weaker mentions with the only person they can mean.

Every step decides for all mentions based on the state before it, and all sorting is by the mentions themselves. So the
result is a function of their set.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from incognote.relex.cluster.attaching import attach, lettered_ways, partly_ways, single_ways, whole_names
from incognote.relex.cluster.mentions import PersonCluster, PersonMention, fits_given, named_before
from incognote.relex.names.likeness import same_given
from incognote.relex.nouns import MentionVariant

_Place = tuple[str, str, str, int]


def aliased(mentions: Sequence[PersonMention]) -> tuple[list[PersonMention], dict[PersonMention, PersonMention]]:
    """Exchange facts within each pair of names for one person: kinship word, gender, and nickname.

    Returns:
        The mentions in their order, and a map from the second of each pair to its first.
    """
    ends = {_place(m, m.variant.end): m for m in mentions}
    pairs = [
        (first, second)
        for second in mentions
        if second.variant.hints.alias
        and (
            first := ends.get(_place(second, second.variant.start - len(second.variant.hints.alias)))
            or _called(second, mentions)
        )
        and _believed(first, second)
    ]
    now: dict[PersonMention, PersonMention] = {}
    for first, second in pairs:
        if first in now or second in now:
            continue  # of three in a row, the third refers to the second, which already has its facts
        now[first], now[second] = _told(first, second), _told(second, first)
    return [now.get(m, m) for m in mentions], {now.get(b, b): now.get(a, a) for a, b in pairs}


def _called(second: PersonMention, mentions: Sequence[PersonMention]) -> PersonMention | None:
    """The person named in full in the sentence before "He goes by Arnold"."""
    hints = second.variant.hints
    if second.kind != "single" or not (hints.maiden and any(map(str.isalpha, hints.alias))):
        return None
    before = named_before(second, mentions, _NEAR)
    return before[-1] if before and before[-1].kind == "whole" else None


def _place(mention: PersonMention, at: int) -> _Place:
    variant = mention.variant
    return variant.owner, variant.record, variant.field, at


def _believed(first: PersonMention, second: PersonMention) -> bool:
    """Return True if the text between the two names supports the alias.

    Words do. Quotation marks do unless both are whole names with different given names. Parentheses do between a whole
    name and a lone word, but not for staff, who are listed like that (Reed (Patel)). They also do after a relative's
    lone name, and between whole names with a surname and an initial in common. Of two lone words, one may be part of
    the other.
    """
    odd = (first.gender and second.gender and first.gender != second.gender) or (
        first.suffix and second.suffix and first.suffix != second.suffix
    )
    annotated = not first.guessed and not second.guessed
    if odd or (annotated and first.variant.type != second.variant.type) or _clash(first, second):
        return False
    mark = second.variant.hints.alias.lstrip('"”’» ').rstrip()
    kinds = {first.kind, second.kind}
    if kinds == {"single"} and _within(first, second):
        return True
    if mark == "(":
        outside = "staff" not in (first.leaning, second.leaning)
        relative = kinds == {"single"} and first.guessed and bool(first.kin) and not second.titled
        return (
            (kinds == {"whole", "single"} and first.variant.type != "CLINICIAN")
            or (outside and relative)  # son Imre (James)
            or (outside and kinds == {"whole"} and first.guessed and _in_full(first, second))
        )
    spoken = any(c.isalpha() for c in mark)
    return spoken or kinds != {"whole"} or same_given(first.names[0], second.names[0])


def _in_full(first: PersonMention, second: PersonMention) -> bool:
    """Return True if one is the other in full: Joe Prado (José Luis Prado Reyes)."""
    a, b = first.names[0], second.names[0]
    return a.given[0] == b.given[0] and bool(set(a.surname) & set(b.surname)) and not (first.kin or second.kin)


def _clash(first: PersonMention, second: PersonMention) -> bool:
    return bool(first.role and second.role) and first.role != second.role


def _within(first: PersonMention, second: PersonMention) -> bool:
    """Return True if one is part of the other: Sreelekha (Lekha)."""
    short, long = sorted((first.names[0].joined, second.names[0].joined), key=len)
    return len(short) > 2 and short in long


def _told(one: PersonMention, other: PersonMention) -> PersonMention:
    """The first mention with the facts of the second."""
    nick = {name.given for name in other.names if name.given and not name.surname and len(name.given) > 1}
    names = one.names
    if other.kind == "single" and nick:
        names = tuple(name._replace(nick=tuple(sorted({*name.nick, *nick}))) if name.given else name for name in names)
    return replace(
        one,
        names=names,
        gender=one.gender or other.gender,
        kin=one.kin or other.kin,
        side="self" if "self" in (one.side, other.side) else one.side or other.side,
    )


_NEAR = 60  # characters between a name and the birth name that follows it


def names_of_birth(mentions: Sequence[PersonMention]) -> dict[PersonMention, PersonMention]:
    """Mentions said to be a former name → the mention of the same person directly before, if there is one."""
    persons_before: dict[PersonMention, PersonMention] = {}
    for mention in mentions:
        if not mention.variant.hints.maiden or (mention.guessed and mention.role == "patient"):
            continue
        before = [
            other
            for other in named_before(mention, mentions, _NEAR)
            if not (mention.gender and other.gender and mention.gender != other.gender)
            and (mention.kind != "whole" or _one_given(mention, other))
        ]
        if before:
            persons_before[mention] = before[-1]
    return persons_before


def married(
    clusters: Sequence[PersonCluster], born: dict[PersonMention, PersonMention]
) -> dict[PersonMention, PersonMention]:
    """Whole birth names, each with a whole name of the same person.

    This is the name it follows, or else the only one with that given name in the owner's records.
    """
    whole_by_birth_name: dict[PersonMention, PersonMention] = {}
    for mention in sorted({m for c in clusters for m in c.members if m.variant.hints.maiden}, key=lambda m: m.variant):
        if mention in born and born[mention].kind == "whole":
            whole_by_birth_name[mention] = born[mention]
            continue
        others = [
            c
            for c in clusters
            if mention.variant.owner in c.owners
            and mention not in c.members
            and c.admits(mention)
            and any(_one_given(mention, face) for face in c.faces.values())
        ]
        if len(others) == 1:
            whole_by_birth_name[mention] = others[0].members[0]
    return whole_by_birth_name


def _one_given(a: PersonMention, b: PersonMention) -> bool:
    """Return True if the given names agree, in the likeliest readings or to the letter in another reading of the first.

    Nguyen Kim Ly may be Kim-Ly, of the family Nguyen.
    """
    if b.kind == "single":
        return fits_given(b, a, "loose")
    mine, other = a.names[0], b.names[0]
    return same_given(mine, other) or any(other.joined in (x.given, x.joined) for x in a.names if len(other.joined) > 3)


def wed(
    clusters: list[PersonCluster], born: dict[PersonMention, PersonMention], reason: str = "birth name"
) -> list[PersonCluster]:
    """Join the cluster of a person with that of the birth name.

    Aliases are joined only if nothing contradicts it.
    """
    home = {id(m): cluster for cluster in clusters for m in cluster.members}
    for mention, other in sorted(born.items(), key=lambda pair: (pair[0].variant, pair[1].variant)):
        target = home.get(id(other))
        source = home.get(id(mention))
        if target is None or target is source:
            if target is None and source is None:
                clusters.append(PersonCluster([mention], "birth name"))
                home[id(mention)] = clusters[-1]
            continue
        moved = list(source.members) if source else [mention]
        if reason == "alias" and not all(target.admits(m) for m in moved):
            continue
        home.update({id(m): target for m in moved})
        if source is None:
            target.add(moved, reason, other)
        else:
            target.absorb(source, reason, (mention, other))
            clusters.remove(source)
    return clusters


_SUBJECT = 120  # characters between a sentence's subject and the name said to be a different person


def gather(
    mentions: Sequence[PersonMention],
    seeds: Sequence[PersonCluster] = (),
    staff: bool = False,
    settle: Callable[[list[PersonCluster], Sequence[PersonMention]], object] | None = None,
) -> list[PersonCluster]:
    """Divide the mentions into persons; a function of their set.

    Args:
        mentions: of one scope, sorted.
        seeds: persons already known (the patient), to whom PERSON mentions may be attached. They are returned too.
        staff: the persons are not relatives. In one patient's records, a given name that differs by one letter is more
            likely misspelled than a colleague with the same surname. Relatives share a surname, and Anna and Anne may
            be sisters.
        settle: changes the persons with whole names, in place, before weak mentions are attached. It may remove
            persons, and add other mentions to the rest.
    """
    mentions, called = aliased(_unlike(mentions))
    born = names_of_birth(mentions)
    clusters, doubtful = whole_names([m for m in mentions if m.kind == "whole"], "free" if staff else "loose")
    clusters = [*seeds, *wed(clusters, married(clusters, born))]
    later = [m for m in mentions if m.kind != "whole" and m not in born]
    if settle is not None:
        settle(clusters, later)
        placed = {m for cluster in clusters for m in cluster.members}
        gone = {m for m in mentions if m.kind == "whole"} - placed - set(doubtful)
        born, called = ({b: a for b, a in pairs.items() if not {a, b} & gone} for pairs in (born, called))
        later = [m for m in later if m not in placed]
    partly = [m for m in later if m.kind == "partly"]
    attach([*doubtful, *partly], clusters, partly_ways)
    attach([m for m in later if m.kind == "single" and not m.titled], clusters, single_ways)
    attach([m for m in later if m.kind == "single" and m.titled], clusters, single_ways)
    attach([m for m in later if m.kind == "lettered"], clusters, lettered_ways)
    return wed(wed(clusters, born), called, "alias")


def _unlike(mentions: Sequence[PersonMention]) -> list[PersonMention]:
    """Mark each mention that is said to be a different person from the one named before it, and that person too."""
    unlike: dict[MentionVariant, set[MentionVariant]] = defaultdict(set)
    for mention in mentions:
        if not mention.variant.hints.apart:
            continue
        before = named_before(mention, mentions, _SUBJECT)
        if before:
            subject = before[-1].variant
            unlike[mention.variant].add(subject)
            unlike[subject].add(mention.variant)
    return [replace(m, unlike=frozenset(unlike[m.variant])) if m.variant in unlike else m for m in mentions]

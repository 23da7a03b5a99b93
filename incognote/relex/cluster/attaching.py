"""Join whole names of persons by likeness, and attach each weak mention to the only person it can mean."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import NamedTuple

from incognote.relex.cluster.choosing import SINGLE_KIN, akin, believed, choice
from incognote.relex.cluster.kinship import kin_alike
from incognote.relex.cluster.leftover import Words, by_side, shortened, stem, ungendered
from incognote.relex.cluster.mentions import (
    PersonCluster,
    PersonMention,
    apart,
    fits_called,
    fits_family,
    fits_given,
    fits_letters,
    fits_middle,
    fits_partly,
    fits_suffix,
    fits_surname,
    letters,
    record_of,
    words_of,
)
from incognote.relex.cluster.reasons import by_likeness
from incognote.relex.names.likeness import BY_EAR, ComparedName, Typo, lettered, one_person, same_given, whole
from incognote.relex.names.sound import sounds

Fits = Callable[[PersonMention, PersonMention, Typo], bool]
_STEPS: tuple[tuple[bool, Typo], ...] = ((True, "none"), (False, "none"), (True, "loose"), (False, "strict"))
"""The search steps for a weak mention's person: (only in its patient's records, allowed misspellings)."""


_REASONS = {
    "fits_partly": "initial",
    "fits_family": "surname",
    "fits_surname": "surname",
    "fits_called": "given name",
    "fits_given": "given name",
    "fits_middle": "middle name",
    "fits_suffix": "suffix",
    "fits_letters": "initials",
}


class _Target(NamedTuple):
    """The person that a weak mention means (None if unclear), why, and the name that shows it.

    `several` is True if other people fitted equally well.
    """

    person: PersonCluster | None = None
    several: bool = False
    reason: str = ""
    face: PersonMention | None = None


def partly_ways(mention: PersonMention) -> list[Fits]:
    return [fits_partly]


def single_ways(mention: PersonMention) -> list[Fits]:
    """Read a lone word as a surname first if it follows a title or names staff.

    Otherwise read it as a given name first.
    """
    surname_first = mention.titled or mention.variant.type == "CLINICIAN"
    family: list[Fits] = [fits_family, fits_surname]
    spelt = lettered_ways(mention) if any(map(lettered, mention.names)) else []
    family = [*map(_plainly, family), *family]
    called: list[Fits] = [fits_called, _plainly(fits_given), fits_given]
    rest: list[Fits] = [fits_middle, fits_suffix, *spelt]
    if mention.kin and not mention.titled and mention.guessed:
        return [*called, *rest]  # her son Min is called so; he is not of a family Min
    if mention.variant.type == "CLINICIAN" and mention.variant.words.isupper() and len(mention.variant.words) < 4:
        return [*family, *spelt, *called, *rest]  # EM below a note is Ewan MacTavish rather than Emily
    return [*family, *called, *rest] if surname_first else [*called, *family, *rest]


def _plainly(fits: Fits) -> Fits:
    """Match only the likeliest reading of the other name: Mohamed is Mohamed Hassan rather than Liban Mohamed."""

    @wraps(fits)
    def plainly(weak: PersonMention, other: PersonMention, typo: Typo) -> bool:
        return fits(weak, replace(other, names=other.names[:1]), typo)

    return plainly


def lettered_ways(mention: PersonMention) -> list[Fits]:
    return [fits_letters]


def attach(
    weak: Sequence[PersonMention], clusters: list[PersonCluster], ways: Callable[[PersonMention], list[Fits]]
) -> None:
    """Attach each weak mention to the only person it can mean. The others form new persons, grouped by their words.

    The search covers the records of its patient first (its own record before the others), and then the scope.
    Misspellings are tried last. Mentions with only one candidate are attached first. Among several candidates, the one
    already in the mention's record is then chosen.
    """
    table = _table(clusters)
    first = _by_kin([(mention, _target(mention, clusters, table, ways(mention), sure=True)) for mention in weak])
    for mention, target in first:
        if target.person is not None:
            target.person.add([mention], target.reason, target.face)
    weak = [mention for mention, target in first if target.person is None]
    targets = _by_kin([(mention, _target(mention, clusters, table, ways(mention))) for mention in weak])
    spoken: dict[tuple[str, ...], dict[int, _Target]] = defaultdict(dict)
    for mention, target in targets:
        if target.person is not None:
            spoken[record_of(mention), *stem(mention)][id(target.person)] = target
    placed: list[tuple[PersonMention, _Target]] = []
    alone: dict[Words, list[PersonMention]] = defaultdict(list)
    for mention, target in targets:
        said = spoken.get((record_of(mention), *stem(mention)), {}).values()
        meant = [one for one in said if one.person is not None and one.person.admits(mention)]
        if target.person is None and target.several and len(meant) == 1:
            target = meant[0]  # one note seldom uses one word for two people
        if target.person is not None:
            placed.append((mention, target))
        else:
            owner = mention.variant.owner if target.several else ""
            gender = mention.gender if target.several or mention.guessed else ""
            own = stem(mention, nicknames=not (target.several and mention.guessed))
            alone[owner, gender, mention.suffix, *own].append(mention)
    for mention, target in placed:
        if target.person is not None:
            target.person.add([mention], target.reason, target.face)
    groups = [members for _, found in sorted(ungendered(alone).items()) for members in by_side(found)]
    clusters.extend(shortened([PersonCluster(members, "same words") for members in groups], clusters))


def meant(weak: PersonMention, clusters: Sequence[PersonCluster]) -> PersonCluster | None:
    """The only person that a weak mention can mean; the clusters do not change."""
    ways = partly_ways(weak) if weak.kind == "partly" else single_ways(weak)
    return _target(weak, clusters, _table(clusters), ways, sure=True).person


def _by_kin(targets: Sequence[tuple[PersonMention, _Target]]) -> list[tuple[PersonMention, _Target]]:
    """The targets, without a surname or middle name that is a relative's given name: Erik, in a chart with son Erik."""
    relatives = {(m.variant.owner, *stem(m)) for m, target in targets if m.kin and target.person is None}
    given = _plainly(fits_given)

    def another(mention: PersonMention, target: _Target) -> bool:
        loose = mention.guessed and not mention.titled and (mention.variant.owner, *stem(mention)) in relatives
        return loose and target.face is not None and not given(mention, target.face, "none")

    return [(m, _Target() if another(m, target) else target) for m, target in targets]


def _table(clusters: Sequence[PersonCluster]) -> dict[str, list[int]]:
    """Word → the clusters to which a name with that word may belong."""
    places_by_word: dict[str, set[int]] = defaultdict(set)
    for at, cluster in enumerate(clusters):
        for names in cluster.faces:
            for name in names:
                for word in words_of(name):
                    places_by_word[word].add(at)
    return {word: sorted(places) for word, places in places_by_word.items()}


def _target(
    mention: PersonMention,
    clusters: Sequence[PersonCluster],
    table: dict[str, list[int]],
    ways: Sequence[Fits],
    sure: bool = False,
) -> _Target:
    """Find the person meant.

    With `sure`, several candidates give None, even if one of them is in the record.
    """
    seen: dict[bool, list[PersonCluster]] = {}
    steps = _STEPS[:1] if mention.kind == "lettered" and len(letters(mention.names[0])) == 1 else _STEPS
    for own, typo in steps:
        alike = typo != "none"
        if alike not in seen:
            met = {at for word in _sought(mention, alike) for at in table.get(word, ())}
            seen[alike] = [clusters[at] for at in sorted(met) if clusters[at].admits(mention)]
        within = [c for c in seen[alike] if mention.variant.owner in c.owners] if own else seen[alike]
        for fits in ways:
            found = [c for c in within if any(fits(mention, face, typo) for face in c.faces.values())]
            found = akin(mention, believed(mention, found) if mention.guessed else found)
            near = found if sure else [c for c in found if record_of(mention) in c.records] or found
            if near:
                meant = near[0] if len(near) == 1 else choice(mention, near)
                faces = meant.faces.values() if meant else ()
                face = next((face for face in faces if fits(mention, face, typo)), None)
                return _Target(meant, len(near) > 1, "misspelling" if alike else _REASONS[fits.__name__], face)
    return _Target()


def _sought(mention: PersonMention, alike: bool) -> set[str]:
    """The words under which candidates are listed in the table; with `alike`, those of misspellings."""
    if mention.kind == "lettered":
        return {f"={letters(name)}" for name in mention.names}
    shown = {f"={letters(name)}" for name in mention.names if lettered(name)}
    return shown | {word for name in mention.names for word in words_of(name) if (word[0] == "^") == alike}


Form = tuple[tuple[ComparedName, ...], str, str]
"""A written form, the generation of its kinship word, and the record in which it names another person."""


def whole_names(mentions: Sequence[PersonMention], near_by: Typo) -> tuple[list[PersonCluster], list[PersonMention]]:
    """Join whole names by likeness, the best match first, never against a contradiction.

    Returns:
        The clusters, and the mentions that fit two persons who cannot be the same (Robert Hargrove if there are a
        Robert T. and a Robert J.). These are attached like weak mentions.
    """
    forms: dict[Form, list[PersonMention]] = defaultdict(list)
    for mention in mentions:
        forms[mention.names, mention.side, record_of(mention) if mention.variant.hints.another else ""].append(mention)
    order = sorted(forms)
    likeness = _likeness(order, [forms[form] for form in order], near_by)
    near: dict[int, list[int]] = defaultdict(list)
    for a, b in likeness:
        near[a].append(b)
        near[b].append(a)
    doubtful = {
        at
        for at, others in near.items()
        if any(
            _against(order[x], order[y]) and not _telling(order[at], order[x], order[y])
            for i, x in enumerate(others)
            for y in others[i + 1 :]
        )
    }
    group = {at: [at] for at in range(len(order)) if at not in doubtful}
    links: list[tuple[int, int, str]] = []
    kept = _both_spelled(forms, order, likeness)
    for score, a, b in sorted((-score, a, b) for (a, b), score in likeness.items() if not {a, b} & doubtful):
        ones, others = group[a], group[b]
        if ones is others or any(_against(order[x], order[y]) or (x, y) in kept for x in ones for y in others):
            continue
        relative = -score == BY_EAR and _namely(forms[order[a]], forms[order[b]])
        links.append((a, b, "relative" if relative else by_likeness(-score)))
        ones.extend(others)
        for x in others:
            group[x] = ones
    return _linked(forms, order, group, links), [m for at in sorted(doubtful) for m in forms[order[at]]]


def _linked(
    forms: Mapping[Form, Sequence[PersonMention]],
    order: Sequence[Form],
    group: Mapping[int, list[int]],
    links: Sequence[tuple[int, int, str]],
) -> list[PersonCluster]:
    """Make a cluster of each group of forms, joined along its links."""
    home = {at: (PersonCluster(forms[order[at]], "same name"), [at]) for at in group}
    for a, b, reason in links:
        (person, own), (lost, others) = home[a], home[b]
        person.absorb(lost, reason, (forms[order[b]][0], forms[order[a]][0]))
        own.extend(others)
        home.update(dict.fromkeys(others, (person, own)))
    return [home[at][0] for at in sorted({min(members) for members in group.values()})]


def _both_spelled(
    forms: Mapping[Form, Sequence[PersonMention]], order: Sequence[Form], likeness: Mapping[tuple[int, int], float]
) -> set[tuple[int, int]]:
    """The pairs of names that sound alike but are both in one record. Its author means two people by them."""
    records = [{record_of(m) for m in forms[form]} for form in order]
    pairs = [(a, b) for (a, b), score in likeness.items() if score == BY_EAR and records[a] & records[b]]
    return {*pairs, *((b, a) for a, b in pairs)}


def _likeness(
    order: Sequence[Form], members: Sequence[Sequence[PersonMention]], near_by: Typo
) -> dict[tuple[int, int], float]:
    """Score the pairs of forms that may be one person.

    Only forms that share a word are compared: an exactly equal surname or given name, or one name that is all of the
    other's given names.

    Misspellings are assumed more readily (`near_by`) for names in the records of one patient.
    """
    owners = [{m.variant.owner for m in own} for own in members]
    blocks: dict[str, set[int]] = defaultdict(set)
    for at, (names, _, _) in enumerate(order):
        for name in filter(whole, names):
            for word in {*name.surname, name.given, name.joined, *name.nick, *(name.given + s for s in name.surname)}:
                blocks[word].add(at)
            for sound in {f"~{sound}" for surname in name.surname for sound in sounds(surname)}:
                blocks[sound].add(at)
    pairs = {(a, b) for block in blocks.values() for a in block for b in block if a < b}
    scored = {
        (a, b): one_person(order[a][0], order[b][0], near_by if owners[a] & owners[b] else "strict")
        or _namely(members[a], members[b])
        for a, b in pairs
        if _may_meet(order[a], order[b], members[a], members[b])
    }
    return {pair: score for pair, score in scored.items() if score}


def _may_meet(a: Form, b: Form, ones: Sequence[PersonMention], others: Sequence[PersonMention]) -> bool:
    """Return True if the generations agree and neither is said to be another person than those of the other form."""
    for form, members in ((a, others), (b, ones)):
        if form[2] and any(record_of(m) == form[2] or m.guessed or m.leaning for m in members):
            return False
    return not apart(a[1], b[1])


def _namely(ones: Sequence[PersonMention], others: Sequence[PersonMention]) -> float:
    """Score two names of one wife or one daughter: nobody has two with the same given name, and surnames change."""
    return 0.5 * any(
        a.kin in SINGLE_KIN
        and kin_alike(a.kin, b.kin)
        and a.variant.owner == b.variant.owner
        and same_given(a.names[0], b.names[0])
        for a in ones
        for b in others
    )


def _against(a: Form, b: Form) -> bool:
    """Return True if they cannot be one person: two generations, or a shared surname but no agreement."""
    related = bool(set(a[0][0].surname) & set(b[0][0].surname))
    return apart(a[1], b[1]) or (related and not one_person(a[0], b[0], "free"))


def _telling(form: Form, x: Form, y: Form) -> bool:
    """Return True if the form agrees better with one of the two than with the other."""
    return one_person(form[0], x[0]) != one_person(form[0], y[0])

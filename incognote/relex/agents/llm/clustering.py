"""Clustering by a language model.

The model gets one patient's mentions at a time, by number. Staff and institutions are matched across patients by their
fullest form.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from incognote.llm.base import gather_all
from incognote.relex.agents.base import EmbeddedClusterer, RelexNote
from incognote.relex.agents.llm.asking import Excerpts, ModelAgent, ModelAsker, Question, Rest, headed, written
from incognote.relex.agents.llm.contracts import groups
from incognote.relex.cluster import cluster, group_of
from incognote.relex.cluster.grouping import kept, named, tied
from incognote.relex.cluster.persons import described
from incognote.relex.names import fullest, parse
from incognote.relex.nouns import Identity, MentionVariant
from incognote.text.lexicon import fold

MOST = 120
"""The most mentions per request. In longer lists, models mix up the numbers."""
HEADINGS = ("PERSON", "ORG", "PLACE", "CONTACT", "ID", "DATE", "AGE", "OCCUPATION", "OTHER")
"""The groups of identities in the order of the list in a request."""
KNOWN = 60
"""The most earlier groups that a request shows."""
PROMPT = "relex/cluster/v1"
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "additionalProperties": {"type": "array", "items": {"type": "integer"}},
    },
}
Group = tuple[MentionVariant, ...]


class LlmClusterer(ModelAgent):
    """M_cluster by a language model.

    The model partitions a patient's mentions. The same notes and earlier identities lead to the same question, in any
    order. Groups of staff and institutions from several patients' notes are joined if the embedded clusterer joins
    their fullest names, unless the model separated them in some patient's notes.

    Args:
        asker: the asker of the run.
    """

    def __init__(self, asker: ModelAsker) -> None:
        super().__init__(asker, PROMPT)
        self._standin = EmbeddedClusterer()

    async def cluster(self, notes: Sequence[RelexNote], earlier: Sequence[Identity] = ()) -> list[Identity]:
        """See `Clusterer`."""
        shown = Excerpts(notes)
        known = {v for old in earlier for v in old.variants}
        by_owner: dict[tuple[str, str], set[MentionVariant]] = {}
        for variant in (v for note in notes for v in note.variants):
            by_owner.setdefault((variant.domain, variant.owner), set()).add(variant)
        owners = sorted(by_owner.items())
        work = [
            self._owned(sorted(own - known), _theirs(owner, earlier), shown, [n for n in notes if _of(n, owner)])
            for owner, own in owners
        ]
        parts = [part for one in await gather_all(work) for part in one]
        whole = united([*parts, *(old.variants for old in earlier)])
        return self.identities(_across(whole), earlier)

    async def regrouped(
        self, found: Sequence[Identity], fresh: Collection[MentionVariant], firm: Sequence[Group], shown: Excerpts
    ) -> list[Group]:
        """Put some mentions into groups of their patient, or into groups of their own.

        Args:
            found: the identities to which they belong if the model has no answer and the policy allows a fallback.
            fresh: the mentions. The request shows groups that share word beginnings with them.
            firm: groups of all other mentions.
        """
        by_owner: dict[tuple[str, str], list[MentionVariant]] = {}
        for variant in sorted(fresh):
            by_owner.setdefault((variant.domain, variant.owner), []).append(variant)
        work = []
        for owner, own in sorted(by_owner.items()):
            near = [group for group in firm if any((v.domain, v.owner) == owner for v in group)]
            before = [one.variants for one in found if set(own) & set(one.variants)]
            for at in range(0, len(own), MOST):
                window = own[at : at + MOST]
                asked = self._asked(window, _alike(near, window), shown)
                work.append(self._asker.served(asked, partial(_same, before)))
        return united([*firm, *(part for answer in await gather_all(work) for part in answer)])

    async def _owned(
        self, fresh: Sequence[MentionVariant], earlier: Sequence[Group], shown: Excerpts, notes: Sequence[RelexNote]
    ) -> list[Group]:
        """The groups of one owner's mentions, with the earlier groups that mentions were added to."""
        if not fresh:
            return []
        parts: list[Group] = list(earlier)
        for at in range(0, len(fresh), MOST):
            window = fresh[at : at + MOST]
            asked = self._asked(window, _alike(parts, window), shown)
            answer = await self._asker.served(asked, partial(self._otherwise, window, notes))
            parts = united([*parts, *answer])
        return parts

    async def _asked(self, window: Sequence[MentionVariant], known: Sequence[Group], shown: Excerpts) -> list[Group]:
        before = set(known)
        units: list[Group] = [*((v,) for v in window), *known]
        units.sort(key=lambda unit: (HEADINGS.index(group_of(unit[0].type)), unit in before, _place(unit[0])))
        numbered = dict(enumerate(units, 1))
        around = shown.marks(v for unit in units for v in unit)
        answer = await self._asker.ask(self._question(numbered, before, shown, around))
        return [tuple(v for number in group for v in numbered[number]) for group in answer]

    def _question(
        self, numbered: Mapping[int, Group], known: Collection[Group], shown: Excerpts, around: tuple[str, str]
    ) -> Question[list[list[int]]]:
        """Ask which of the units are the same. The notes are shown around those that are not known."""
        numbers = {number: group_of(unit[0].type) for number, unit in numbered.items()}
        single = {unit[0]: number for number, unit in numbered.items() if unit not in known}
        lines = [(numbers[n], f"{n} {'(known) ' if u in known else ''}{written(u)}") for n, u in numbered.items()]
        material = {"mentions": headed(lines), "notes": shown.excerpts(single, around)}

        def rest(good: list[list[int]]) -> Rest[list[list[int]]] | None:
            """Ask about the other units only. They may belong to the groups of the good part, which are known now."""
            left = {n: unit for n, unit in numbered.items() if not any(n in group for group in good)}
            parts = {min(group): tuple(v for n in group for v in numbered[n]) for group in good}
            near = set(_alike(list(parts.values()), [v for unit in left.values() for v in unit]))
            shown_again = {n: part for n, part in parts.items() if part in near}
            members = {min(group): group for group in good}

            def joined(answer: list[list[int]]) -> list[list[int]]:
                whole = [[m for n in group for m in (members[n] if n in shown_again else [n])] for group in answer]
                return [*whole, *(group for n, group in members.items() if n not in shown_again)]

            smaller = dict(sorted((left | shown_again).items()))
            return Rest(self._question(smaller, {*known, *near}, shown, around), joined) if left else None

        messages = self._prompt.messages({}, material, around)
        return Question(messages, _SCHEMA, partial(groups, numbers=numbers), rest, strict=False)

    async def _otherwise(self, window: Sequence[MentionVariant], notes: Sequence[RelexNote]) -> list[Group]:
        wanted = set(window)
        kept = [replace(n, variants=tuple(v for v in n.variants if v in wanted)) for n in notes]
        return [one.variants for one in await self._standin.cluster(kept)]

    @staticmethod
    def identities(parts: Sequence[Group], earlier: Sequence[Identity]) -> list[Identity]:
        """Make identities of the groups.

        Attributes come from the largest part that the embedded clusterer makes of a group.
        """
        made: dict[str, Identity] = {}
        days = {v: one for one in cluster(_dates(parts)) for v in one.variants}
        for part in sorted(tuple(sorted(group)) for group in parts):
            own = {days[v].id: days[v] for v in part if v in days}.values() or cluster(part)
            lead = max(own, key=lambda one: (len(one.variants), one.variants))
            about = {key: value for key, value in lead.attributes.items() if key != "person"}
            about |= described(part) if lead.group == "PERSON" else {}
            id_ = named((lead.group, lead.domain, lead.scope, about["normal"]))
            while id_ in made:  # the model separates names that are written alike
                id_ = named((lead.group, lead.domain, lead.scope, about["normal"], id_))
            made[id_] = Identity(id_, lead.group, lead.domain, lead.scope, part, about)
        before = {v: old.id for old in earlier for v in old.variants}
        found = sorted(made.values(), key=lambda one: (one.group, one.domain, one.scope, one.variants))
        return tied(kept(found, before))


async def _same(groups: list[Group]) -> list[Group]:
    return groups


def _dates(parts: Iterable[Group]) -> list[MentionVariant]:
    """All dates and ages. A patient's other dates decide how a date is read, and whose age an age is."""
    return [v for part in parts for v in part if group_of(v.type) in ("DATE", "AGE")]


def _of(note: RelexNote, owner: tuple[str, str]) -> bool:
    return any((v.domain, v.owner) == owner for v in note.variants)


def _theirs(owner: tuple[str, str], earlier: Iterable[Identity]) -> list[Group]:
    """The earlier identities that occur in an owner's notes."""
    return [old.variants for old in earlier if any((v.domain, v.owner) == owner for v in old.variants)]


def _place(variant: MentionVariant) -> tuple[str, str, int, int, MentionVariant]:
    return variant.record, variant.field, variant.start, variant.end, variant


def _alike(known: Sequence[Group], window: Sequence[MentionVariant]) -> list[Group]:
    """The known groups to which mentions of the window may belong: those that share the most word beginnings."""
    wanted = {(group_of(v.type), start) for v in window for start in _starts(v)}
    shares = {part: len({(group_of(v.type), s) for v in part for s in _starts(v)} & wanted) for part in known}
    near = sorted((part for part in known if shares[part]), key=lambda part: (-shares[part], part))
    return near[:KNOWN]


def _starts(variant: MentionVariant) -> set[str]:
    words = fold(variant.words).replace("-", " ").split()
    return {word[:3] for word in words} | {word[:1] for word in words if group_of(variant.type) == "PERSON"}


def united(parts: Iterable[Sequence[MentionVariant]]) -> list[Group]:
    """Join the groups that share a variant."""
    home: dict[MentionVariant, set[MentionVariant]] = {}
    for part in parts:
        whole = set(part)
        for variant in part:
            whole |= home.get(variant, set())
        for variant in whole:
            home[variant] = whole
    return sorted(tuple(sorted(whole)) for whole in {id(w): w for w in home.values()}.values())


def _across(parts: Sequence[Group]) -> list[Group]:
    """Join groups of staff and institutions of the domain across patients."""
    faces: dict[MentionVariant, Group] = {}
    for part in parts:
        lead = max(cluster(part), key=lambda one: (len(one.variants), one.variants))
        if lead.scope == "":
            faces[_face(part, lead)] = part
    joined: list[Sequence[MentionVariant]] = list(parts)
    for one in cluster(faces):
        joined.extend(_compatible({v: faces[v] for v in one.variants}))
    return united(joined)


def _face(part: Group, lead: Identity) -> MentionVariant:
    """The mention that represents a group: the one with the fullest name, or else the longest words."""
    if lead.group != "PERSON":
        return max(part, key=lambda v: (len(v.words), v))
    parsed = {v: parse(v.words, v.hints.title) for v in part}
    best = fullest(parsed.values())
    return min(v for v in part if parsed[v] == best)


def _compatible(parts: Mapping[MentionVariant, Group]) -> list[Group]:
    """Join these groups. If the model separated two groups of one patient, join only those that are written alike.

    Args:
        parts: groups by their representative mentions.
    """
    if not _apart(list(parts.values())):
        return [tuple(v for part in parts.values() for v in part)]
    alike: dict[str, list[Group]] = {}
    for face, part in sorted(parts.items()):
        alike.setdefault(" ".join(fold(face.words).split()), []).append(part)
    return [tuple(v for part in some for v in part) for some in alike.values() if not _apart(some)]


def _apart(parts: Sequence[Group]) -> bool:
    """Return True if two of the groups belong to the same patient."""
    owners = [owner for part in parts for owner in {v.owner for v in part}]
    return len(owners) > len(set(owners))

"""Clustering by a language model for doubtful mentions only; the embedded clusterer groups all others.

A mention is doubtful if it may mean several people of its patient's notes (a lone surname with two bearers), or if its
name or type contradicts the rest of its identity.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from incognote.relex.agents.base import EmbeddedClusterer, RelexNote
from incognote.relex.agents.llm.asking import Excerpts
from incognote.relex.agents.llm.clustering import Group, LlmClusterer, united
from incognote.relex.cluster.mentions import PersonMention, fits_given, fits_letters, fits_partly, fits_surname, read
from incognote.relex.names.likeness import one_person
from incognote.relex.nouns import Identity, MentionVariant

_OPPOSED = frozenset(("PATIENT", "RELATIVE"))


class DoubtfulClusterer:
    """M_cluster as a mixture: the embedded clusterer, and a model for what is doubtful.

    A doubtful mention that was placed with others earlier stays with them, so that the model is asked once.

    Args:
        model: the clusterer that is asked about doubtful mentions.
    """

    def __init__(self, model: LlmClusterer) -> None:
        self._model, self._embedded = model, EmbeddedClusterer()
        self.name, self.version = f"{model.name} for doubtful mentions", model.version

    async def cluster(self, notes: Sequence[RelexNote], earlier: Sequence[Identity] = ()) -> list[Identity]:
        """See `Clusterer`."""
        found = await self._embedded.cluster(notes, earlier)
        doubted = {mention for owner in _by_owner(found).values() for mention in doubtful(owner)}
        if not doubted:
            return found
        firm: list[Group] = [rest for one in found if (rest := tuple(v for v in one.variants if v not in doubted))]
        placed: list[Group] = []
        fresh = set(doubted)
        for old in earlier:
            mates = [v for v in old.variants if v not in doubted]
            fresh -= {*old.variants}
            placed.extend((v, *mates[:1]) for v in old.variants if v in doubted)
        parts = await self._model.regrouped(found, fresh, united([*firm, *placed]), Excerpts(notes))
        return self._model.identities(parts, earlier)


def doubtful(identities: Sequence[Identity]) -> set[MentionVariant]:
    """The doubtful mentions among the people in one patient's notes."""
    mentions = [[read(v) for v in one.variants] for one in identities]
    bearers = [[m for m in own if m.kind == "whole"] for own in mentions]
    found: set[MentionVariant] = set()
    for own in mentions:
        found |= _contradicting(own)
        for mention in own:
            if mention.kind != "whole" and sum(_may_mean(mention, whole) for whole in bearers) > 1:
                found.add(mention.variant)
    return found


def _may_mean(mention: PersonMention, whole: Iterable[PersonMention]) -> bool:
    """Return True if a short form fits one of a person's whole names, and gender, suffix, and title agree."""
    return any(
        not (mention.gender and other.gender and mention.gender != other.gender)
        and not (mention.suffix and other.suffix != mention.suffix)
        and not (mention.grades and other.variant.type in _OPPOSED)
        and (
            fits_surname(mention, other, "none")
            or fits_given(mention, other, "none")
            or fits_partly(mention, other, "none")
            or (mention.kind == "lettered" and fits_letters(mention, other, "none"))
        )
        for other in whole
    )


def _contradicting(own: Sequence[PersonMention]) -> set[MentionVariant]:
    """The mentions of one identity whose whole name or type differs from that of most of the others."""
    whole = [m for m in own if m.kind == "whole"]
    found: set[MentionVariant] = set()
    if whole:
        lead = Counter(m.names for m in whole).most_common(1)[0][0]
        found |= {m.variant for m in whole if not one_person(m.names, lead, "free") and not m.variant.hints.maiden}
    types = Counter(m.variant.type for m in own if m.variant.type in _OPPOSED)
    if len(types) > 1:
        rarer = min(types, key=lambda kind: (types[kind], kind))
        found |= {m.variant for m in own if m.variant.type == rarer}
    return found


def _by_owner(identities: Iterable[Identity]) -> Mapping[tuple[str, str], Sequence[Identity]]:
    """The people in each patient's notes."""
    people: dict[tuple[str, str], list[Identity]] = defaultdict(list)
    for one in identities:
        if one.group == "PERSON":
            for owner in sorted({(v.domain, v.owner) for v in one.variants}):
                people[owner].append(one)
    return people

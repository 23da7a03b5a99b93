"""What a model's substitute amounts to: the components of the identity's kind, and whether they may be given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from incognote.relex.cluster import group_of
from incognote.relex.generate import Choices, Component, Taken
from incognote.relex.generate.base import Kind, plain
from incognote.relex.generate.institutions import Institutions, read_name
from incognote.relex.generate.occupations import Occupations
from incognote.relex.generate.persons import NO_NAME, Persons
from incognote.relex.names import parse
from incognote.relex.nouns import Group, Identity
from incognote.relex.pools import pools

_LONGEST = 80


@dataclass(frozen=True, slots=True)
class Proposal:
    """A substitute taken apart: component → its word; empty where it is not written as its kind is."""

    parts: Mapping[Component, str] = field(repr=False)
    surname: str = field(default="", repr=False)


class Fitting:
    """Substitutes against the generators' components.

    Args:
        choices: what the policy chose.
    """

    def __init__(self, choices: Choices) -> None:
        self._kinds: dict[str, Kind] = {kind.group: kind(choices) for kind in (Persons, Institutions, Occupations)}
        self._pools = pools(choices.pools)

    @staticmethod
    def kind_of(type: str) -> Group:
        """The group a type falls in."""
        return group_of(type)

    def settled(self, identity: Identity, taken: Taken) -> bool:
        """Every component is held already: there is nothing to invent."""
        return all(taken.holds(part) is not None for part in self._kinds[identity.group].named(identity).values())

    def read(self, identity: Identity, words: str) -> Proposal:
        """A substitute as components."""
        named = self._kinds[identity.group].named(identity)
        if identity.group == "PERSON":
            return self._person(named, words)
        if identity.group == "OCCUPATION":
            return Proposal({named["job"]: words})
        core = read_name(words, self._pools)
        parts: dict[Component, str] = {}
        for kind, component in named.items():
            value = _initials(words) if kind == "letters" and not core.acronym else core.core
            if value:
                parts[component] = value
        return Proposal(parts)

    @staticmethod
    def _person(named: Mapping[str, Component], words: str) -> Proposal:
        read = parse(words)
        surnames = [piece.text for piece in read.of("surname") if piece.style == "plain"]
        given = [piece.text for piece in read.of("given") if piece.style == "plain"]
        if not surnames or not given or read.of("title", "degree", "suffix", "nick", "possessive") or read.initials:
            return Proposal({})
        families = list(dict.fromkeys(c for part, c in named.items() if part.split(":")[0] == "surname" and _known(c)))
        parts = dict(zip(families, surnames if len(families) > 1 else [" ".join(surnames)], strict=False))
        parts[named["given"]] = given[0]
        if "middle" in named and (middle := [p.text for p in read.of("middle") if p.style == "plain"]):
            parts[named["middle"]] = middle[0]
        return Proposal(parts, plain(parts[families[0]]) if families else "")

    def claim(self, identity: Identity, proposal: Proposal, taken: Taken) -> bool:
        """Hold what is free of a substitute; what is not, the generator draws. Whether all of it was free or held."""
        whole = bool(proposal.parts)
        for component, value in proposal.parts.items():
            whole &= bool(taken.claim(component, iter((value,)), part=identity.group == "PERSON", default=""))
        return whole

    def amiss(
        self, names: Mapping[str, Identity], avoided: set[str], given: set[str], found: Mapping[str, str]
    ) -> dict[str, list[str]]:
        """Which substitutes cannot be used: code → names.

        Args:
            names: who was asked about.
            avoided: words of originals, folded (`plain`).
            given: substitutes given before, folded.
            found: the substitutes.
        """
        bad: dict[str, list[str]] = defaultdict(list)
        times: dict[str, list[str]] = defaultdict(list)
        for name, words in found.items():
            one = names[name]
            times[plain(words)].append(name)
            read = self.read(one, words)
            if len(words) > _LONGEST or (not read.parts and one.group == "PERSON"):  # an unfit ORG is drawn instead
                bad["form"].append(name)
            if self._original(one, words, read, avoided):
                bad["original"].append(name)
            if plain(words) in given:
                bad["repeats"].append(name)
        bad["repeats"] += [name for same in times.values() if len(same) > 1 for name in same]
        for code, pair in self._families({name: (names[name], self.read(names[name], w)) for name, w in found.items()}):
            bad[code] += pair
        return {code: list(dict.fromkeys(which)) for code, which in bad.items() if which}

    def _original(self, one: Identity, words: str, read: Proposal, avoided: set[str]) -> bool:
        """A word of an original name in a name, or the same words as an original's."""
        same = any(plain(value) in {plain(part.normal), *avoided} for part, value in read.parts.items())
        if same or plain(words) in avoided:
            return True
        return one.group == "PERSON" and any(len(plain(w)) > 1 and plain(w) in avoided for w in words.split())

    def _families(self, found: Mapping[str, tuple[Identity, Proposal]]) -> list[tuple[str, Sequence[str]]]:
        """Pairs of persons of one scope that share a surname and no longer would, or the other way round."""
        told: dict[str, tuple[Component, str]] = {}
        for name, (one, read) in found.items():
            if read.surname:
                told[name] = (self._kinds["PERSON"].named(one)["surname"], read.surname)
        pairs: list[tuple[str, Sequence[str]]] = []
        for (a, (mine, new)), (b, (theirs, other)) in combinations(told.items(), 2):
            if (mine.domain, mine.scope) != (theirs.domain, theirs.scope):
                continue
            if mine == theirs and new != other:
                pairs.append(("kin", (a, b)))
            if mine != theirs and new == other:
                pairs.append(("unrelated", (a, b)))
        return pairs


def _known(surname: Component) -> bool:
    """Somebody wrote it; of whom only a given name is known the generator draws one, since kin may share it or not."""
    return not surname.normal.startswith(NO_NAME)


def _initials(words: str) -> str:
    return "".join(word[0] for word in words.split() if word[0].isupper())

"""Substitutes by a language model: names of persons and organizations, and jobs. The generators draw everything else.

A model can neither keep one date offset per patient nor know which numbers were never issued, so it is not asked for
these. Its proposals are claimed component by component, as draws are, and written by the generator of their kind.
Relatives still share a surname, and "Wilson" and "Dr. Adam Wilson" agree in any order of requests.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any

from incognote.llm.base import gather_all
from incognote.relex.agents.base import RelexNote
from incognote.relex.agents.llm.asking import (
    Excerpts,
    ModelAgent,
    ModelAsker,
    Question,
    Rest,
    headed,
    listed,
    named,
    near,
    windows,
)
from incognote.relex.agents.llm.contracts import replacements
from incognote.relex.cluster import group_of
from incognote.relex.generate import Choices, Component, Draw, Generators, UsedSurrogates, originals
from incognote.relex.generate.base import SurrogateGenerator, plain
from incognote.relex.generate.cultures import culture, home_of_surname
from incognote.relex.generate.institutions import Institutions, read_name
from incognote.relex.generate.persons import NO_NAME, Persons
from incognote.relex.generate.values import Occupations
from incognote.relex.names import parse
from incognote.relex.nouns import Identity, Surrogate
from incognote.relex.pools import VERSION, pools

_LONGEST = 80


@dataclass(frozen=True, slots=True)
class ModelSubstitute:
    """A substitute split into components: component → word. It is empty if it does not have the form of its kind."""

    parts: Mapping[Component, str] = field(repr=False)

    @property
    def surnames(self) -> dict[str, str]:
        """The substitutes of the surnames that were written: normal form → folded substitute."""
        written = {c: value for c, value in self.parts.items() if c.type == "surname" and _known(c)}
        return {c.normal: plain(value) for c, value in written.items()}


class Fitting:
    """Matches substitutes to the generators' components.

    Args:
        choices: the policy's choices.
    """

    def __init__(self, choices: Choices) -> None:
        self._persons = Persons(choices)
        kinds = (self._persons, Institutions(choices), Occupations(choices))
        self._kinds: dict[str, SurrogateGenerator] = {kind.group: kind for kind in kinds}

    def settled(self, identity: Identity, taken: UsedSurrogates) -> bool:
        """Return True if every component is already held, so there is nothing to invent."""
        return all(taken.holds(part) is not None for part in self._kinds[identity.group].named(identity).values())

    def read(self, identity: Identity, words: str) -> ModelSubstitute:
        """Split a substitute into components."""
        named = self._kinds[identity.group].named(identity)
        if identity.group == "PERSON":
            return self._person(identity, named, words)
        if identity.group == "OCCUPATION":
            return ModelSubstitute({named["job"]: words})
        core = read_name(words, pools())
        parts: dict[Component, str] = {}
        for kind, component in named.items():
            value = _initials(words) if kind == "letters" and not core.acronym else core.core
            if value:
                parts[component] = value
        return ModelSubstitute(parts)

    @staticmethod
    def _person(identity: Identity, named: Mapping[str, Component], words: str) -> ModelSubstitute:
        read = parse(words)
        surnames = [piece.text for piece in read.of("surname") if piece.style == "plain"]
        given = [piece.text for piece in read.of("given") if piece.style == "plain"]
        if not surnames or not given or read.of("title", "degree", "suffix", "nick", "possessive") or read.initials:
            return ModelSubstitute({})
        written = max((parse(v.words).of("surname") for v in identity.variants), key=len)
        several = [named[part] for p in written if (part := f"surname:{p.key}") in named]
        families = [c for c in dict.fromkeys(several or [named["surname"]]) if _known(c)]
        if len(surnames) < len(families):
            families = [named["surname"]]
        base = [_masculine(surname) for surname in surnames]
        parts = dict(zip(families, base if len(families) > 1 else [" ".join(base)], strict=False))
        parts[named["given"]] = given[0]
        if "middle" in named and (middle := [p.text for p in read.of("middle") if p.style == "plain"]):
            parts[named["middle"]] = middle[0]
        return ModelSubstitute(parts)

    def surname(self, identity: Identity, taken: UsedSurrogates) -> str:
        """The surname that a person has already, because a relative or a namesake has it; "" for none."""
        component = self._persons.named(identity)["surname"]
        return (taken.holds(component) or "") if _known(component) else ""

    def name_of(self, identity: Identity) -> tuple[Component, ...]:
        """What namesakes share: the components of the given name and the surname."""
        named = self._persons.named(identity)
        return named["given"], named["surname"]

    def completed(self, identity: Identity, words: str, taken: UsedSurrogates) -> str:
        """The substitute with the surname that the person has already, if the model gave only a given name."""
        held = self.surname(identity, taken) if identity.group == "PERSON" else ""
        return f"{words} {held}" if held and len(words.split()) == 1 else words

    def claim(self, identity: Identity, proposal: ModelSubstitute, taken: UsedSurrogates) -> bool:
        """Hold the free components of a substitute, and for a person the whole name.

        The generator draws the others. Return True if all were free or held. Namesakes share the component of the given
        name, so the whole name is what keeps the model's given name for each of them.
        """
        whole = bool(proposal.parts)
        for component, value in proposal.parts.items():
            whole &= bool(taken.claim(component, iter((value,)), default=""))
        if whole and identity.group == "PERSON":
            named = self._persons.named(identity)
            given, surname = proposal.parts[named["given"]], taken.holds(named["surname"])
            if surname is not None:
                name = f"{given} {surname}"
                whole = taken.claim(self._persons.whole_name(identity), iter((name,)), default="") == name
        return whole

    def amiss(
        self, names: Mapping[str, Identity], avoided: set[str], given: set[str], found: Mapping[str, str]
    ) -> dict[str, list[str]]:
        """Find the substitutes that cannot be used: code → names.

        Args:
            names: the identities of the question.
            avoided: words of originals, folded (`plain`).
            given: substitutes given earlier, folded.
            found: the substitutes.
        """
        bad: dict[str, list[str]] = defaultdict(list)
        times: dict[str, list[str]] = defaultdict(list)
        for name, words in found.items():
            one = names[name]
            if one.group != "OCCUPATION":  # two people may have one job
                times[plain(words)].append(name)
            read = self.read(one, words)
            if len(words) > _LONGEST or (not read.parts and one.group == "PERSON"):  # a malformed ORG is drawn instead
                bad["form"].append(name)
            if self._original(one, words, read, avoided):
                bad["original"].append(name)
            if plain(words) in given and one.group != "OCCUPATION":
                bad["repeats"].append(name)
        bad["repeats"] += [name for same in times.values() if len(same) > 1 for name in same]
        for code, pair in self._families({name: (names[name], self.read(names[name], w)) for name, w in found.items()}):
            bad[code] += pair
        return {code: list(dict.fromkeys(which)) for code, which in bad.items() if which}

    def _original(self, one: Identity, words: str, read: ModelSubstitute, avoided: set[str]) -> bool:
        """Return True if a name contains a word of an original name, or a substitute repeats an original's words."""
        same = any(plain(value) in {plain(part.normal), *avoided} for part, value in read.parts.items())
        if same or plain(words) in avoided:
            return True
        return one.group == "PERSON" and any(len(plain(w)) > 1 and plain(w) in avoided for w in words.split())

    def _families(self, found: Mapping[str, tuple[Identity, ModelSubstitute]]) -> list[tuple[str, Sequence[str]]]:
        """Pairs of persons in one scope that share a surname and no longer would, or the other way round.

        A double surname is related to each of its halves, and a surname with a particle to the one without it.
        """
        people = {name: (one, read.surnames) for name, (one, read) in found.items() if read.surnames}
        pairs: list[tuple[str, Sequence[str]]] = []
        for (a, (one, mine)), (b, (other, theirs)) in combinations(people.items(), 2):
            if (one.domain, one.scope) != (other.domain, other.scope):
                continue
            if any(mine[surname] != theirs[surname] for surname in mine.keys() & theirs):
                pairs.append(("kin", (a, b)))
            related = any(x.endswith(y) or y.endswith(x) for x in mine for y in theirs)
            if not related and not set(mine.values()).isdisjoint(theirs.values()):
                pairs.append(("unrelated", (a, b)))
        return pairs


def _known(surname: Component) -> bool:
    """Return True if the surname was written.

    Otherwise the generator draws one, because relatives may or may not share it.
    """
    return not surname.normal.startswith(NO_NAME)


def _masculine(surname: str) -> str:
    """The form of a surname that a generator starts from: Morozov for Morozova."""
    return culture(home_of_surname(surname)).masculine(surname)


def _initials(words: str) -> str:
    return "".join(word[0] for word in words.split() if word[0].isupper())


MOST = 40
"""The most identities per request."""
PROMPT = "relex/replacement/v2"
INVENTED = frozenset(("PERSON", "ORG", "OCCUPATION"))
"""Groups that the model is asked about."""
_LISTED = 150  # the most words listed as given or to be avoided


class LlmReplacer(ModelAgent):
    """M_replace by a language model.

    Args:
        asker: the asker of the run.
        choices: the policy's choices, for draws.
    """

    def __init__(self, asker: ModelAsker, choices: Choices | None = None) -> None:
        super().__init__(asker, PROMPT)
        chosen = choices or Choices()
        self.version += f" pools {VERSION}"
        self.refused: Counter[str] = Counter()
        """The number of substitutes that were drawn because the model's was already taken, by group."""
        self._generators, self._fitting = Generators(chosen), Fitting(chosen)
        self._proposed: dict[str, ModelSubstitute] = {}

    async def replace(
        self, identities: Sequence[Identity], draw: Draw, taken: UsedSurrogates, notes: Sequence[RelexNote]
    ) -> dict[str, Surrogate]:
        """See `Replacer`."""
        for one in identities:
            taken.avoid(originals(one))
        open_ = [one for one in identities if one.group in INVENTED and not self._fitting.settled(one, taken)]
        for wave in windows(open_, MOST):  # claimed in this order, whichever reply arrives first
            answers = await gather_all(self._said(some, taken, notes) for some in wave)
            for some, answer in zip(wave, answers, strict=True):
                self._proposed |= answer
                for one in some:
                    if one.id in answer and not self._fitting.claim(one, answer[one.id], taken):
                        self.refused[one.group] += 1
        asked = {one.id for one in open_}
        for one in identities:  # in a repeated draw, namesakes keep the names that the model gave to each
            if one.id in self._proposed and one.id not in asked:
                self._fitting.claim(one, self._proposed[one.id], taken)
        return self._generators.generate_all(identities, draw, taken)

    async def _said(
        self, identities: Sequence[Identity], taken: UsedSurrogates, notes: Sequence[RelexNote]
    ) -> dict[str, ModelSubstitute]:
        """The model's substitutes; none if it has no answer and the policy lets the generators draw."""

        async def none() -> dict[str, ModelSubstitute]:
            return {}

        return await self._asker.served(self._asked(identities, taken, notes), none)

    async def _asked(
        self, identities: Sequence[Identity], taken: UsedSurrogates, notes: Sequence[RelexNote]
    ) -> dict[str, ModelSubstitute]:
        names, shown = named(identities), Excerpts(near(identities, notes))
        at_hand = {note.record for note in near(identities, notes)}
        own = {v.words for one in identities for v in one.variants}
        others: set[str] = set()
        theirs: set[str] = set()  # other patients' words: no request shows them, and no substitute may repeat them
        for v in (v for note in notes for v in note.variants if group_of(v.type) in INVENTED):
            if v.words not in own:
                (others if v.record in at_hand else theirs).add(" ".join(v.words.split()))
        avoided = {plain(word) for one in identities for word in originals(one)}
        avoided |= {plain(word) for word in others | theirs}

        def question(some: Mapping[str, Identity], given: Mapping[str, str]) -> Question[dict[str, str]]:
            held = {part: value for part, value in taken.held.items() if _near(part, identities)}
            listing, before = self._listing(some, names, given, taken), [_given(held), *sorted(given.values())]
            around = shown.marks(v for one in some.values() for v in one.variants)
            material = {
                "identities": headed(listing),
                "given": "\n".join(["Given before", *filter(None, before)]) if any(before) else "Given before: nothing",
                "avoid": f"Not to be used\n{'; '.join(sorted(others)[:_LISTED]) or 'no further words'}",
                "notes": shown.of(some, around),
            }
            used = {plain(value) for part, value in held.items() if part.type != "surname"}
            used |= {plain(words) for words in given.values()}

            def amiss(found: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
                whole = {name: self._fitting.completed(names[name], words, taken) for name, words in found.items()}
                return self._fitting.amiss(names, avoided, used, whole)

            def rest(good: dict[str, str]) -> Rest[dict[str, str]] | None:
                left = {name: one for name, one in some.items() if name not in good}
                return Rest(question(left, {**given, **good}), lambda answer: good | answer) if left else None

            headings = {name: one.group for name, one in some.items()}
            read = partial(replacements, names=headings, amiss=amiss)
            return Question(self._prompt.messages({}, material, around), _schema(headings), read, rest)

        answer = await self._asker.ask(question(names, {}))
        whole = {name: self._fitting.completed(names[name], words, taken) for name, words in answer.items()}
        return {names[name].id: self._fitting.read(names[name], words) for name, words in whole.items()}

    def _listing(
        self,
        some: Mapping[str, Identity],
        names: Mapping[str, Identity],
        given: Mapping[str, str],
        taken: UsedSurrogates,
    ) -> list[tuple[str, str]]:
        """The lines of the list: each identity, whose surname it has already, and whose namesake it is."""
        lines: list[tuple[str, str]] = []
        bearers: dict[tuple[Component, ...], str] = {}
        for name, one in names.items():
            line = listed(name, one)
            if one.group == "PERSON":
                if surname := self._fitting.surname(one, taken):
                    line += f"\n  surname only: {surname}"
                first = bearers.setdefault(self._fitting.name_of(one), name)
                if first != name:
                    line += f"\n  namesake of {first}" + (f", who is {given[first]} now" if first in given else "")
            if name in some:
                lines.append((one.group, line))
        return lines


def _near(component: Component, identities: Sequence[Identity]) -> bool:
    """Return True if it is held in the scope of one of these, or by their staff."""
    return any(component.domain == one.domain and component.scope in ("", one.scope) for one in identities)


def _given(held: Mapping[Component, str]) -> str:
    """List surnames with their substitutes, so that relatives agree, and other substitutes, so that none repeats."""
    surnames = sorted((part.normal, value) for part, value in held.items() if part.type == "surname")
    wholes = sorted({value for part, value in held.items() if part.type in ("person", "job") or "core:" in part.type})
    lines = [f"surname {normal} became {value}" for normal, value in surnames[:_LISTED]]
    return "\n".join([*lines, *wholes[:_LISTED]])


def _schema(headings: Mapping[str, str]) -> Mapping[str, Any]:
    each = {
        name: {
            "type": "object",
            "properties": {"replacement": {"type": "string"}, "type": {"type": "string", "enum": [heading]}},
            "required": ["replacement", "type"],
            "additionalProperties": False,
        }
        for name, heading in headings.items()
    }
    return {"type": "object", "properties": each, "required": list(each), "additionalProperties": False}

"""Replacement consistency (RedactOR §A.7): one surrogate per thing, and different surrogates for different things.

Three separate questions, over all notes. Does the partition agree with the annotator's (B-cubed: people merged, people
split)? Do the words in the notes agree, since a reader sees no identities? Did two things get the same surrogate?

B-cubed precision, recall, and F1 of a partition of mentions (Bagga and Baldwin, LREC workshop 1998): for each mention,
precision is the share of the mentions grouped with it that belong with it. Recall is the share of the mentions that
belong with it that are grouped with it. The score is the mean over mentions. Low precision means that people are
merged, low recall that they are split.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from incognote.errors import UsageError
from incognote.evaluation.intervals import Counts, Figure, interval, resampled, share
from incognote.evaluation.relex.pairs import RESAMPLES, MentionPair, NotePair, share_of
from incognote.relex.cluster.grouping import shared
from incognote.relex.cluster.mentions import PersonMention as Read
from incognote.relex.cluster.mentions import fits_given, fits_letters, fits_partly, fits_surname, read
from incognote.relex.cluster.values import date_of
from incognote.relex.names.likeness import one_person
from incognote.relex.nouns import MentionVariant
from incognote.text.lexicon import fold

_WHOLE = ("PERSON", "ORG", "CONTACT", "ID")
"""Groups in which two things must not share a surrogate; towns, jobs, days, and ages may."""


@dataclass(frozen=True, slots=True)
class Consistency:
    """How consistently things are replaced.

    Attributes:
        names, all: B-cubed over mentions of names, and over all mentions, of gold identities with two or more mentions.
            A missed mention counts as an identity of its own.
        joined: of the machine's identities of people, the share that hold mentions of two or more gold people.
        patients_joined: of patients, the share with whom somebody else is joined.
        agreement: of pairs of mentions of one gold identity whose words show that they are one, the share whose
            surrogates show it too.
        collisions: of the machine's identities with a whole surrogate, the share that have the same one as another
            identity of their scope.
        merged: of gold identities, the share that have the same surrogate as another gold identity of their scope.
        originals: of surrogates of persons, institutions, and numbers, the share that equals an original of the notes.
    """

    names: BCubed
    all: BCubed
    joined: Figure
    patients_joined: Figure
    agreement: Figure
    collisions: Figure
    merged: Figure
    originals: Figure

    def as_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"names": self.names.as_dict(), "all": self.all.as_dict()}
        for name in ("joined", "patients_joined", "agreement", "collisions", "merged", "originals"):
            found[name] = getattr(self, name).as_dict()
        return found


def consistency(notes: Sequence[NotePair], resamples: int = RESAMPLES, seed: int = 0) -> Consistency:
    """Score all notes of a run together. The partition is scored over all mentions, and the words over the replaced
    ones.

    A day, town or number of two patients counts as two identities even if the gold gives it one code, because each
    patient's are replaced apart. What belongs to a domain is the same in all notes. A person belongs together within a
    patient's notes, and as staff in all notes: a nurse who is also a patient may have two surrogates.
    """
    every = [(n.patient, m) for n in notes for m in n.mentions if m.how != "kept"]
    gold = {
        at: (m.gold, "" if m.group == "PERSON" or shared(m.type) else patient) for at, (patient, m) in enumerate(every)
    }
    homes = {at: (patient, shared(m.type)) for at, (patient, m) in enumerate(every)}
    found = {at: mention.given or f"alone {at}" for at, (_, mention) in enumerate(every)}
    twice = repeated(gold, homes)
    names = [at for at in twice if every[at][1].group == "PERSON"]
    placed = [(patient, mention) for patient, mention in every if mention.surrogate is not None]

    def unit(at: int) -> str:
        return every[at][0]

    joined, patients_joined = _joined(placed)
    return Consistency(
        names=bcubed(gold, found, unit, scored=names, homes=homes, resamples=resamples, seed=seed),
        all=bcubed(gold, found, unit, scored=twice, homes=homes, resamples=resamples, seed=seed),
        joined=joined,
        patients_joined=patients_joined,
        agreement=share_of(_agreeing(placed), resamples, seed),
        collisions=_collisions(placed, by_gold=False),
        merged=_collisions(placed, by_gold=True),
        originals=share_of(_originals(placed), resamples, seed),
    )


Placed = Sequence[tuple[str, MentionPair]]


def _joined(placed: Placed) -> tuple[Figure, Figure]:
    """The share of the machine's people that hold two or more gold people, and of patients joined with another."""
    people: dict[str, set[str]] = defaultdict(set)
    patients: dict[str, set[str]] = defaultdict(set)
    for patient, mention in placed:
        if mention.group == "PERSON" and mention.given:
            people[mention.given].add(mention.gold)
            if mention.type == "PATIENT":
                patients[patient].add(mention.given)
    mixed = {given for given, members in people.items() if len(members) > 1}
    return share(len(mixed), len(people)), share(sum(bool(own & mixed) for own in patients.values()), len(patients))


def _agreeing(placed: Placed) -> Iterator[tuple[str, float, float]]:
    """Per mention, the share of its companions that it agrees with, if any can be compared.

    The same day of two patients counts as two days, each moved by its patient's own offset.
    """
    homes: dict[tuple[str, str], list[tuple[str, MentionPair]]] = defaultdict(list)
    for patient, mention in placed:
        homes[mention.gold, patient if mention.group == "DATE" else ""].append((patient, mention))
    for members in homes.values():
        for at, (patient, one) in enumerate(members):
            agreements = [
                one_thing(one.group, one.surrogate or "", other.surrogate or "")
                for place, (_, other) in enumerate(members)
                if place != at and one.group == other.group and one_thing(one.group, one.words, other.words)
            ]
            if agreements:
                yield patient, sum(agreements) / len(agreements), 1


def one_thing(group: str, a: str, b: str) -> bool:
    """Return True if two strings can mean the same thing: names that fit, the same day, or the same words or digits."""
    if _plain(a) == _plain(b):
        return True
    if group == "DATE":
        return date_of(a, False) == date_of(b, False)
    return group == "PERSON" and _one_person(a, b)


@lru_cache(maxsize=1 << 15)
def _one_person(a: str, b: str) -> bool:
    one, other = _read(a), _read(b)
    if one_person(one.names, other.names, "loose"):
        return True
    return any(
        fits_partly(x, y, "none")
        or fits_surname(x, y, "none")
        or fits_given(x, y, "none")
        or (x.kind == "lettered" and fits_letters(x, y, "none"))
        for x, y in ((one, other), (other, one))
    )


def _read(words: str) -> Read:
    return read(MentionVariant("PERSON", words))


def _plain(words: str) -> str:
    return "".join(c for c in fold(words.removesuffix("'s").removesuffix("’s")) if c.isalnum())


def _fullest(group: str, texts: Iterable[str]) -> str:
    """The whole name of one identity as the notes show it, or "" if only parts of it occur."""
    shown = sorted(set(texts), key=lambda words: (-len(words), words))
    if group == "PERSON":
        shown = [words for words in shown if _read(words).kind == "whole"]
        return "|".join(sorted({*_read(shown[0]).names[0].surname, _read(shown[0]).names[0].joined})) if shown else ""
    return _plain(shown[0])


def _collisions(placed: Placed, by_gold: bool) -> Figure:
    """The share of identities whose surrogate another identity of the patient has, or of the domain if both are shared.

    Namesakes, such as a father and a son, share a name in the original too. That is no collision.
    """
    homes: dict[tuple[str, str], list[MentionPair]] = defaultdict(list)
    for patient, mention in placed:
        if mention.group in _WHOLE and mention.words != mention.surrogate:
            scope = "" if shared(mention.type) else patient
            homes[scope, mention.gold if by_gold else mention.given].append(mention)
    wholes: dict[tuple[str, str], tuple[tuple[str, str, str], str]] = {}
    for (scope, identity), members in homes.items():
        group = members[0].group
        if whole := _fullest(group, (m.surrogate or "" for m in members)):
            wholes[scope, identity] = (scope, group, whole), _fullest(group, (m.words for m in members))
    bearers: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for home, original in wholes.values():
        bearers[home].add(original)
    hit = sum(len(bearers[home]) > 1 for home, _ in wholes.values())
    return share(hit, len(wholes))


def _originals(placed: Placed) -> Iterator[tuple[str, float, float]]:
    """Surrogates that equal an original of the same group, word for word. For names, only whole names count."""
    known: dict[str, set[str]] = defaultdict(set)
    for _, mention in placed:
        known[mention.group].add(_plain(mention.words))
    for patient, mention in placed:
        if mention.group in _WHOLE and (mention.group != "PERSON" or _read(mention.words).kind == "whole"):
            yield patient, float(_plain(mention.surrogate or "") in known[mention.group]), 1


Item = TypeVar("Item", bound=Hashable)
Homes = Mapping[Item, tuple[str, bool]]
RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class BCubed:
    """Three figures with intervals over the resampled units (patients)."""

    precision: Figure
    recall: Figure
    f1: Figure

    def as_dict(self) -> dict[str, Any]:
        return {"precision": self.precision.as_dict(), "recall": self.recall.as_dict(), "f1": self.f1.as_dict()}


def bcubed(
    gold: Mapping[Item, Hashable],
    found: Mapping[Item, Hashable],
    unit: Callable[[Item], str],
    *,
    scored: Iterable[Item] | None = None,
    homes: Homes[Item] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> BCubed:
    """Score a partition against gold.

    Args:
        gold, found: item → its identity on that side; both have the same items.
        unit: the unit that an item belongs to (its patient); intervals are a bootstrap over units.
        scored: the items that the mean is taken over, for example of identities with two or more mentions; all by
            default. Every item counts as a companion, so an item wrongly grouped with them still lowers precision.
        homes: the owner of each item, and whether the item is shared by all owners. Items of one gold identity must be
            grouped together if they have the same owner or are both shared; otherwise they may be. By default, all
            must.

    Raises:
        UsageError: an item is on one side only.
    """
    if gold.keys() != found.keys():
        raise UsageError("gold and found must hold the same mentions")
    in_found, both = Counter(found.values()), Counter((gold[item], found[item]) for item in gold)
    in_gold, together = _companions(gold, homes), _companions({item: (gold[item], found[item]) for item in gold}, homes)
    rows: dict[str, list[float]] = {}
    for item in gold if scored is None else scored:
        row = rows.setdefault(unit(item), [0.0, 0.0, 0.0])
        precision = both[gold[item], found[item]] / in_found[found[item]]
        for at, value in enumerate((1.0, precision, together[item] / in_gold[item])):
            row[at] += value
    return _figures(np.array([rows[one] for one in sorted(rows)], dtype=np.float64).reshape(-1, 3), resamples, seed)


def repeated(gold: Mapping[Item, Hashable], homes: Homes[Item] | None = None) -> list[Item]:
    """The items of identities with two or more mentions; `homes` as for `bcubed`."""
    counts = _companions(gold, homes)
    return [item for item in gold if counts[item] > 1]


def _companions(groups: Mapping[Item, Hashable], homes: Homes[Item] | None) -> dict[Item, int]:
    """For each item, how many items of its group belong with it, itself included."""
    if homes is None:
        sizes = Counter(groups.values())
        return {item: sizes[group] for item, group in groups.items()}
    own = Counter((group, homes[item][0]) for item, group in groups.items())
    shared_by_all = Counter(group for item, group in groups.items() if homes[item][1])
    shared_by_own = Counter((group, homes[item][0]) for item, group in groups.items() if homes[item][1])
    return {
        item: own[group, homes[item][0]]
        + (shared_by_all[group] - shared_by_own[group, homes[item][0]] if homes[item][1] else 0)
        for item, group in groups.items()
    }


def _figures(counts: Counts, resamples: int, seed: int) -> BCubed:
    total = counts.sum(axis=0)
    of = int(total[0])
    drawn = _scores(resampled(counts, resamples, seed)) if len(counts) > 1 else np.full((1, 3), np.nan)
    values: Sequence[float | None] = [float(v) for v in _scores(total[None, :])[0]] if of else [None] * 3
    precision, recall, f1 = (Figure(value, *interval(drawn[:, at]), of) for at, value in enumerate(values))
    return BCubed(precision, recall, f1)


def _scores(sums: Counts) -> Counts:
    """Columns n, Σ precision, Σ recall → precision, recall, F1 of each row."""
    with np.errstate(invalid="ignore", divide="ignore"):
        precision, recall = sums[:, 1] / sums[:, 0], sums[:, 2] / sums[:, 0]
        return np.stack([precision, recall, 2 * precision * recall / (precision + recall)], axis=1)

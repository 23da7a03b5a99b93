"""Hiding in plain sight (RedactOR §3.2; Carrell et al., JAMIA 2013 and 2020): can an attacker find an overlooked
identifier among the surrogates?

Some replaced mentions are restored, as if detection had missed them, either one by one or an identity in a whole note
at a time (see `planting`). Each attacker names as many mentions as were planted. Random naming would hit at the rate at
which mentions are planted. The factor is 1 if an attacker does no better than chance, and 0 if every planted mention is
found.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import log
from typing import Any

import numpy as np

from incognote.errors import UsageError
from incognote.evaluation.intervals import Counts, Figure, interval, resampled
from incognote.evaluation.relex.contradictions import Seen, contradictions
from incognote.evaluation.relex.kinds import WORD, shape
from incognote.evaluation.relex.pairs import RESAMPLES, NotePair
from incognote.evaluation.relex.planting import By, PlantedNote, plant, plantable, units
from incognote.relex.pools import pools
from incognote.text.lexicon import fold

SHARE = 0.05
DRAWS = 10
Attack = Callable[[Sequence[Seen]], list[float]]
"""How much each mention looks like an original. The attacker names those with the highest values."""

@dataclass(frozen=True, slots=True)
class Hidden:
    """The result of one attacker.

    Attributes:
        planted: mentions restored, over all draws.
        found: the share of them among the mentions that the attacker names, which are as many as were planted.
        chance: the share that random naming would hit.
        factor: 1 − (found − chance) / (1 − chance), at most 1; its interval is a bootstrap over patients.
    """

    planted: int
    found: float | None
    chance: float | None
    factor: Figure

    def as_dict(self) -> dict[str, Any]:
        return {"planted": self.planted, "found": self.found, "chance": self.chance, "factor": self.factor.as_dict()}


def hiding(
    notes: Sequence[NotePair], planted: float = SHARE, draws: int = DRAWS, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Hidden]:
    """Plant a share of mentions or identities at random, and score which mentions each attacker finds.

    `outsider` has only the new notes. It looks for words unlike those of other patients, and used for nobody else in
    the patient's notes. `insider` also knows the pools, which are public. It has learned from other patients' notes
    which mentions were planted, like somebody who holds a part of the originals. `contradictions` has only the new
    notes, and looks for what contradicts the rest of the patient's notes.

    Raises:
        UsageError: the share is not between 0 and 1, or `draws` is below 1.
    """
    if not 0 < planted < 1 or draws < 1:
        raise UsageError("--planted must be between 0 and 1, with at least one draw.")
    random = np.random.default_rng(seed)
    patients = {patient: at for at, patient in enumerate(sorted({note.patient for note in notes}))}
    attacks: Mapping[str, Attack] = {"outsider": _outsider, "insider": _insider, "contradictions": contradictions}
    ways: tuple[By, By] = ("mention", "identity")
    counts = {f"{name}, by {by}": np.zeros((len(patients), 3)) for by in ways for name in attacks}
    for by, _ in product(ways, range(draws)):
        seen = _planted(notes, planted, by, random)
        wanted = sum(one.planted for one in seen)
        for name, attack in attacks.items():
            scores = attack(seen)
            ties = random.random(len(seen))  # the order in the notes carries no information
            named = set(np.lexsort((ties, -np.array(scores)))[:wanted].tolist())
            for at, one in enumerate(seen):
                counts[f"{name}, by {by}"][patients[one.patient]] += (at in named and one.planted, one.planted, 1)
    return {name: _hidden(rows, resamples, seed) for name, rows in counts.items()}


def _planted(notes: Sequence[NotePair], share: float, by: By, random: np.random.Generator) -> list[Seen]:
    """All mentions that look like identifiers in the new notes, some of them restored at random."""
    found: list[tuple[PlantedNote, int, str, bool]] = []
    for note in notes:
        back = {at for unit in units(note, by) if random.random() < share for at in unit}
        made = plant(note, back)
        found += ((made, at, made.text[slice(*made.places[at])], at in back) for at in plantable(note))
    counts: Counter[tuple[str, str]] = Counter(
        (made.note.patient, word) for made, _, words, _ in found for word in set(_words(words))
    )
    return [
        Seen(made, at, words, back, all(counts[made.note.patient, word] < 2 for word in _words(words)))
        for made, at, words, back in found
    ]


def _words(text: str) -> list[str]:
    return [fold(word) for word in WORD.findall(text)] or [text]


def _letters(seen: Seen) -> list[str]:
    """The character trigrams of the mention's words, with all digits as 0."""
    padded = "".join("0" if c.isdigit() else c for c in f"^{fold(seen.words)}$")
    return [seen.group + padded[at : at + 3] for at in range(len(padded) - 2)]


def _outsider(seen: Sequence[Seen]) -> list[float]:
    """How rare the mention's character trigrams are among the other patients' mentions of its group, plus 1 if its
    words occur only once in the patient's notes."""
    own: dict[str, Counter[str]] = defaultdict(Counter)
    for one in seen:
        own[one.patient].update(_letters(one))
    every: Counter[str] = Counter()
    for counted in own.values():
        every.update(counted)
    strange: list[float] = []
    for one in seen:
        triples = _letters(one)
        rare = [-log((every[t] - own[one.patient][t] + 0.5) / (len(every) + 1)) for t in triples]
        strange.append(sum(rare) / max(1, len(rare)) + one.alone)
    return strange


def _insider(seen: Sequence[Seen]) -> list[float]:
    """Log-odds of being planted (naive Bayes over features), learned from all patients except the mention's own."""
    signs = [_signs(one) for one in seen]
    counted: dict[tuple[str, bool], Counter[str]] = defaultdict(Counter)
    sizes: Counter[tuple[str, bool]] = Counter()
    for one, found in zip(seen, signs, strict=True):
        counted[one.patient, one.planted].update(found)
        sizes[one.patient, one.planted] += 1
    every = {side: _sum(c for (_, s), c in counted.items() if s is side) for side in (True, False)}
    n = {side: sum(size for (_, s), size in sizes.items() if s is side) for side in (True, False)}
    scores: list[float] = []
    for one, found in zip(seen, signs, strict=True):
        mine = {side: counted.get((one.patient, side), Counter()) for side in (True, False)}
        odds = 0.0
        for sign in found:
            yes, no = (
                log((every[side][sign] - mine[side][sign] + 0.5) / (n[side] - sizes[one.patient, side] + 1))
                for side in (True, False)
            )
            odds += yes - no
        scores.append(odds / len(found))
    return scores


def _sum(counted: Iterable[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for one in counted:
        total.update(one)
    return total


def _signs(one: Seen) -> list[str]:
    known = [word for word in _words(one.words) if len(word) > 1]
    pooled = sum(word in _pooled() for word in known)
    known_as = "none" if not pooled else "all" if pooled == len(known) else "some"
    return sorted(
        {*_letters(one), f"{one.group} pool {known_as}", f"{one.group} alone {one.alone}", f"shape {shape(one.words)}"}
    )


@cache
def _pooled() -> frozenset[str]:
    """Every word of the current pools, folded: people, towns, institutions, streets."""
    found: set[str] = set()

    def walk(table: object) -> None:
        if isinstance(table, str):
            found.update(fold(word) for word in WORD.findall(table))
        elif isinstance(table, Mapping):
            for value in table.values():
                walk(value)
        elif isinstance(table, list):
            for value in table:
                walk(value)

    for name in ("people", "us", "world", "institutions", "streets"):
        walk(pools().data(name))
    return frozenset(found)


def _hidden(rows: Counts, resamples: int, seed: int) -> Hidden:
    total = rows.sum(axis=0)
    if not total[1]:
        return Hidden(0, None, None, Figure(None, None, None, 0))
    drawn = _factors(resampled(rows, resamples, seed)) if len(rows) > 1 else np.full(1, np.nan)
    factor = Figure(float(_factors(total[None, :])[0]), *interval(drawn), int(total[1]))
    return Hidden(int(total[1]), float(total[0] / total[1]), float(total[1] / total[2]), factor)


def _factors(sums: Counts) -> Counts:
    """Columns hits, planted, all → the factor of each row."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found, chance = sums[:, 0] / sums[:, 1], sums[:, 1] / sums[:, 2]
        factors: Counts = np.minimum(1.0, 1 - (found - chance) / (1 - chance))
    return factors

"""Hiding in plain sight: a missed name is not recognizable among surrogates, but it is among labels."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote.errors import UsageError
from incognote.evaluation.relex.hiding import hiding
from incognote.evaluation.relex.pairs import NotePair
from incognote.relex.pools import pools

Pair = Callable[..., NotePair]


_ENGLISH = pools().people["en"]
NAMES = (
    sorted(name for names in _ENGLISH.given.values() for name in names),
    sorted((*_ENGLISH.surname, *_ENGLISH.more)),
)


def notes(pair: Pair, surrogate: Callable[[int], str]) -> list[NotePair]:
    """Twenty patients with four relatives each, with names from the pools."""
    given, surnames = NAMES
    made = []
    for at in range(20):
        named = [
            f"{given[(7 * (4 * at + i)) % len(given)]} {surnames[(11 * (4 * at + i)) % len(surnames)]}"
            for i in range(4)
        ]
        marked = ". ".join(f"Her friend [RELATIVE {name}|{surrogate(4 * at + i)}] came" for i, name in enumerate(named))
        made.append(pair(marked, f"p{at}", at))
    return made


def like_people(at: int) -> str:
    given, surnames = NAMES
    return f"{given[(13 * at + 5) % len(given)]} {surnames[(17 * at + 3) % len(surnames)]}"


def test_among_names_of_the_same_sort_what_was_overlooked_hides(pair: Pair) -> None:
    told = hiding(notes(pair, like_people), draws=6, resamples=50)
    assert told
    for attack in told.values():
        assert attack.factor.value is not None
        assert attack.factor.value > 0.8


@pytest.mark.parametrize("label", ["<NAME>", "Qqx Zzv"])
def test_among_labels_and_odd_strings_it_is_found(pair: Pair, label: str) -> None:
    told = hiding(notes(pair, lambda at: label), draws=6, resamples=50)
    for attack in ("insider, by mention", "outsider, by mention", "insider, by identity"):
        value = told[attack].factor.value
        assert value is not None
        assert value < 0.1


def test_the_same_seed_plants_the_same(pair: Pair) -> None:
    made = notes(pair, like_people)
    assert hiding(made, draws=2, resamples=20) == hiding(made, draws=2, resamples=20)


@pytest.mark.parametrize(("share", "draws"), [(0, 1), (1, 1), (0.1, 0)])
def test_impossible_wishes_are_refused(pair: Pair, share: float, draws: int) -> None:
    with pytest.raises(UsageError, match="--planted must be"):
        hiding(notes(pair, like_people), share, draws)


"""Attack the surrogates of 1,500 clinicians by the frequencies of their names.

    python benchmarks/scripts/staff_attack.py > docs/measured/staff_attack.json

The attacker sees the surrogates of all clinicians of a domain and knows how frequent each original name is. It ranks
the surrogate names by their number of bearers and takes the most frequent for the most frequent original. Chance is the
same guess with the surrogates shuffled among the clinicians. `known` is an attacker that knows half of the clinicians
and guesses each of the others by the surrogate of its name. For comparison, `cipher` draws each given name by itself.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence

from incognote.keys import Keyring
from incognote.relex.cluster import cluster
from incognote.relex.generate import Generators, KeyedDraw, UsedSurrogates
from incognote.relex.nouns import MentionVariant
from incognote.relex.pools import pools

CLINICIANS, KEYS, SHUFFLES = 1500, 5, 40
_SEED = 18
Pairs = Sequence[tuple[str, str]]
"""Original name and surrogate of each clinician."""


def clinicians(draw: random.Random) -> list[tuple[str, str, str]]:
    """Gender, given name, and surname: distinct people. The share of a name is that of its rank, as in a census."""
    english = pools().people["en"]
    families = [*english.also["surname"], *english.surname, *english.more]
    known = set(english.also["given"])
    ages = ("", "_older", "_younger")
    given = {g: [name for age in ages for name in english.given[g + age]] for g in ("female", "male")}
    given["male"] += sorted(known & set("Robert Edward Frank Henry Jack Mark Peter Victor Patrick Joel".split()))
    given["female"] += sorted(known & set("Mary Laura Heather Victoria Dawn Holly Rachel Maria Robin Beth".split()))
    found: dict[tuple[str, str, str], None] = {}
    while len(found) < CLINICIANS:
        gender = draw.choice(("female", "male"))
        found[gender, _by_rank(given[gender], 8, draw), _by_rank(families, 60, draw)] = None
    return list(found)


def _by_rank(names: Sequence[str], flat: int, draw: random.Random) -> str:
    return draw.choices(names, [1 / (rank + flat) for rank in range(len(names))])[0]


def drawn(people: Sequence[tuple[str, str, str]], key: Keyring) -> list[tuple[str, str]]:
    """Given name and surname of each clinician's surrogate."""
    mentions = [
        MentionVariant("CLINICIAN", f"{given} {surname}", "d", f"p{at}", f"r{at}", "", 0, len(given) + len(surname) + 1)
        for at, (_, given, surname) in enumerate(people)
    ]
    identities = cluster(mentions)
    surrogates = Generators().generate_all(identities, KeyedDraw(key), UsedSurrogates())
    home = {variant: surrogates[one.id].parts for one in identities for variant in one.variants}
    return [(home[mention]["given"], home[mention]["surname"]) for mention in mentions]


def by_rank(pairs: Pairs) -> float:
    """The share of clinicians whose original name is found by matching ranks."""
    names = [name for name, _ in Counter(original for original, _ in pairs).most_common()]
    bearers = Counter(surrogate for _, surrogate in pairs)
    shown = sorted(bearers, key=lambda name: (-bearers[name], name))
    guess = dict(zip(shown, names, strict=False))
    return sum(guess.get(surrogate) == original for original, surrogate in pairs) / len(pairs)


def by_known(pairs: Pairs, draw: random.Random) -> float:
    """The share found among one half of the clinicians by what the surrogates of the other half stand for."""
    mixed = draw.sample(pairs, len(pairs))
    known, asked = mixed[::2], mixed[1::2]
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for original, surrogate in known:
        seen[surrogate][original] += 1
    usual = Counter(original for original, _ in known).most_common(1)[0][0]
    guesses = [(seen[s].most_common(1)[0][0] if s in seen else usual, original) for original, s in asked]
    return sum(guess == original for guess, original in guesses) / len(asked)


def attacked(runs: Sequence[Pairs]) -> dict[str, float]:
    """Both attacks, and both with the surrogates shuffled: means over the runs."""
    draw = random.Random(_SEED)  # noqa: S311 -- an experiment, not a secret
    shuffled = []
    for pairs in runs:
        for _ in range(SHUFFLES):
            surrogates = draw.sample([s for _, s in pairs], len(pairs))
            shuffled.append([(original, s) for (original, _), s in zip(pairs, surrogates, strict=True)])
    usual = statistics.mean(Counter(o for o, _ in pairs).most_common(1)[0][1] / len(pairs) for pairs in runs)
    found = {
        "rank": statistics.mean(map(by_rank, runs)),
        "rank_chance": statistics.mean(map(by_rank, shuffled)),
        "known": statistics.mean(by_known(pairs, draw) for pairs in runs),
        "known_chance": statistics.mean(by_known(pairs, draw) for pairs in shuffled),
        "always_the_commonest": usual,
    }
    return {name: round(value, 4) for name, value in found.items()}


def main() -> None:
    draw = random.Random(_SEED)  # noqa: S311 -- an experiment, not a secret
    runs: dict[str, list[Pairs]] = defaultdict(list)
    doubles = 0
    for n in range(KEYS):
        people = clinicians(draw)
        shown = drawn(people, Keyring(bytes([n]) * 32))
        doubles += sum("-" in surname for _, surname in shown)
        runs["surname"].append([(person[2], new) for person, (_, new) in zip(people, shown, strict=True)])
        for gender in ("female", "male"):
            pairs = [(p[1], new) for p, (new, _) in zip(people, shown, strict=True) if p[0] == gender]
            runs[f"given {gender}"].append(pairs)
            runs[f"given {gender}, cipher"].append([(original, f"of {original}") for original, _ in pairs])
    report = {name: attacked(pairs) for name, pairs in sorted(runs.items())}
    figures = {"clinicians": CLINICIANS, "keys": KEYS, "double_surnames": doubles, "found": report}
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()

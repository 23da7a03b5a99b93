"""Measure what a stolen vector reveals, with made-up people: `python -m incognote_benchmarks.stolen_vectors`."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from incognote.embedding import Embedder, open_embedder
from incognote.relex.pools import pools

_SEED = 7


def measure(embedder: Embedder, *, people: int = 500, directory: int = 20_000) -> dict[str, int]:
    """Count the people that a thief of their vectors can name, by the nearest vector of a list that the thief embeds.

    Args:
        people: number of names whose float16 vectors were stolen.
        directory: number of names that the thief tries, including those of the people (a telephone book).

    Returns:
        `whole`: how often the nearest name of the directory is the person's. `surname` and `given`: how often the
        nearest of all surnames, or of all given names, is the person's, for a thief without a directory.
    """
    draw = random.Random(_SEED)  # noqa: S311 -- a sample, not a secret
    english = pools().people["en"]
    given = sorted({name for names in english.given.values() for name in names})
    surnames = [*english.surname, *english.more]

    def named(count: int) -> list[str]:
        return [f"{draw.choice(given)} {draw.choice(surnames)}" for _ in range(count)]

    stolen = named(people)
    tried = sorted({*stolen, *named(directory - people)})
    vectors = _half(embedder, stolen)

    def nearest(names: Sequence[str]) -> list[str]:
        return [names[at] for at in (vectors @ _half(embedder, names).T).argmax(axis=1)]

    return {
        "people": people,
        "directory": len(tried),
        "surnames": len(surnames),
        "given_names": len(given),
        "whole": sum(a == b for a, b in zip(nearest(tried), stolen, strict=True)),
        "surname": sum(b.endswith(f" {a}") for a, b in zip(nearest(surnames), stolen, strict=True)),
        "given": sum(b.startswith(f"{a} ") for a, b in zip(nearest(given), stolen, strict=True)),
    }


def _half(embedder: Embedder, names: Sequence[str]) -> NDArray[np.float32]:
    """Vectors in the precision that the index stores."""
    return embedder.embed(names).astype("<f2").astype(np.float32)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(open_embedder())) + "\n")

"""Documents without end, the same for the same seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import accumulate
from random import Random

from incognote.distill.corpus.document import Document
from incognote.distill.corpus.grammar import Template, assemble, expand
from incognote.distill.corpus.lists import Family, families
from incognote.distill.corpus.scene import Scene
from incognote.evaluation.formats.document import Label

Prose = Callable[[Random, str], Template | None]


@cache
def _weighted() -> tuple[tuple[Family, ...], tuple[float, ...]]:
    some = families()
    return some, tuple(accumulate(family.weight for family in some))


def made(family: Family, random: Random, name: str, prose: Prose | None = None) -> Document:
    """One document of a family, as its writer typed it."""
    scene = Scene(random, family.options, prose)
    text, spans = assemble(expand(family.template, random, scene.fill))
    return Document(name, text, tuple(Label(*span) for span in spans), "en", family.style, "template")


def synthesize(seed: int, n: int) -> Iterator[Document]:
    """So many documents."""
    some, weights = _weighted()
    for number in range(n):
        random = Random(f"{seed}:{number}")  # noqa: S311 - a corpus, not a secret
        family = random.choices(some, cum_weights=weights)[0]
        yield made(family, random, f"{seed}-{number:06}")

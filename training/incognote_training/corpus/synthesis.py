"""Generate any number of documents, the same for the same seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate, chain
from random import Random

from incognote.evaluation.formats.document import LabeledSpan
from incognote_training.corpus.corruption import corrupted
from incognote_training.corpus.document import Document
from incognote_training.corpus.grammar import Piece, Template, assemble, expand
from incognote_training.corpus.material import Family, families
from incognote_training.corpus.scene import Scene

Prose = Callable[[Random, str, bool], Template | None]
_CHART = 0.3
_BETWEEN = (
    "\n\n",
    "\n\n",
    "\n\n---\n\n",
    "\n\n==========\n\n",
    "\n\nPage 2\n\n",
    "\n",
    "\n\n* * *\n\n",
    "\n________________\n",
)
_STRAY = 0.035
"""Share of documents without PHI from families that are not `clean`: short ones in which no optional part appears."""


@cache
def _drawn(clean: bool) -> tuple[tuple[Family, ...], tuple[float, ...]]:
    some = tuple(family for family in families() if ("clean" in family.options) is clean)
    return some, tuple(accumulate(family.weight for family in some))


def made(family: Family, random: Random, name: str, prose: Prose | None = None,
         more: Sequence[Family] = ()) -> Document:  # fmt: skip
    """Make one document of a family, as its writer typed it.

    Args:
        more: families whose documents follow in the same text, about the same people, as in a chart.
    """
    scene = Scene(random, family.options, prose)
    pieces = expand(family.template, random, scene.fill)
    if more:
        between = random.choice(_BETWEEN)
        pieces = chain(pieces, *(chain((Piece(between),), expand(one.template, random, scene.fill)) for one in more))
    text, spans = assemble(pieces)
    injected = family.id.startswith("injected") and prose is not None
    labels = tuple(LabeledSpan(*span) for span in spans)
    return Document(name, text, labels, "en", family.style, "injected" if injected else "template")


def synthesize(
    seed: int, n: int, *, clean: float = 0.3, corrupt: float = 0.3, prose: Prose | None = None
) -> Iterator[Document]:
    """Generate documents. Each depends only on the seed and its own number.

    Args:
        clean: approximate share without PHI.
        corrupt: share with errors of OCR, typing, or encoding (`corruption.py`).
        prose: real clinical prose (`injection.Source`); our own sentences are used without it.

    Raises:
        MissingExtra: Faker is not installed.
    """
    for number in range(n):
        random = Random(f"{seed}:{number}")  # noqa: S311 - a corpus, not a secret
        without = random.random() < (clean - _STRAY) / (1 - _STRAY)
        some, weights = _drawn(without)
        family = random.choices(some, cum_weights=weights)[0]
        more: list[Family] = []
        if random.random() < _CHART and "single" not in family.options:
            others = random.choices(some, cum_weights=weights, k=random.choice((1, 1, 2)))
            more = [one for one in others if "single" not in one.options]
        document = made(family, random, f"{seed}-{number:06}", prose, more)
        if not document.text:
            continue
        if random.random() < corrupt:
            document = corrupted(replace(document, source=document.source + "+corrupted"), random)
        yield document

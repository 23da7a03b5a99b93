"""Measure what later passes add if findings are masked, and which of them passes by need leave out.

The model is scripted: it names the k most obvious identifiers that it still sees in a chunk, group by group in the
order of `material.GROUPS`. So the curves show the effect of masking for a model that stops early, which is RedactOR's
argument (§3.2, Figure 2). They do not show how many passes a real model needs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import product
from typing import Any, cast

from incognote.align.merge import merge
from incognote.extraction.asking import AskingTerms, ChunkAsker
from incognote.extraction.chunks import chunks
from incognote.extraction.extractor import Extractor, TextChunk
from incognote.nouns import Span, Text
from incognote.prompts.loader import load
from incognote.schemas.policy import Policy
from incognote.sdk import Deidentifier
from incognote.settings import Passes
from incognote.testing import ScriptedLLM
from incognote_benchmarks.reading.material import GROUPS, Note, findings, group, names_once, script
from incognote_benchmarks.script import Script

MOST = 4
"""The number of passes in Figure 2."""
AT_MOST = 8
"""k: the number of identifiers in one reply."""


def passes(material: Sequence[Note], policy: Policy) -> dict[str, Any]:
    """Recall after 1 to MOST passes, with and without masking.

    Returns:
        `notes` and `identifiers`: their numbers. `groups`: the number of notes with each group. `masking` and
        `no_masking`: per group and for `all`, `recall` and `all_or_nothing`, each a list over the passes. `recall` is
        the share of identifiers whose letters and digits are all found. `all_or_nothing` is the share of the notes with
        the group in which all of its identifiers are found (RedactOR §4.3, Figure 2).
    """
    some = [note for note in material if note.gold]
    return {
        "at_most": AT_MOST,
        "order": list(GROUPS),
        "notes": len(some),
        "identifiers": sum(len(note.gold) for note in some),
        "groups": {name: sum(any(group(x.type) == name for x in note.gold) for note in some) for name in GROUPS},
        "masking": _curves(some, policy, masking=True),
        "no_masking": _curves(some, policy, masking=False),
    }


def _curves(some: Sequence[Note], policy: Policy, *, masking: bool) -> dict[str, Any]:
    covered = [[_covered(note, policy, turns, masking=masking) for note in some] for turns in _TURNS]
    made: dict[str, Any] = {}
    for name in ("all", *GROUPS):
        of_pass = []
        for by_note in covered:
            kept = [[hit for kind, hit in hits if name in ("all", kind)] for hits in by_note]
            of_pass.append([hits for hits in kept if hits])
        if of_pass[0]:
            made[name] = {
                "recall": [sum(map(sum, hits)) / sum(map(len, hits)) for hits in of_pass],
                "all_or_nothing": [sum(map(all, hits)) / len(hits) for hits in of_pass],
            }
    return made


def by_need(material: Sequence[Note], limits: Sequence[int | None] = (None, AT_MOST)) -> list[dict[str, Any]]:
    """Compare passes by need with one and with two passes, with rules and encoder in use.

    Args:
        limits: the maximum number of identifiers in one reply; None for complete replies.

    Returns:
        For each limit and setting of `passes`: `calls` per note, `recall` of identifiers, and `leaking`, the number of
        notes in which an identifier is not found completely.
    """
    rows = []
    for at_most, passes in product(limits, (1, "need", 2)):
        answer = Script({note.text: findings(note) for note in material}, write=names_once, at_most=at_most)
        model = ScriptedLLM(answer)
        with Deidentifier(model=model, passes=cast(Passes, passes)) as deidentifier:
            spans = deidentifier.detect([note.text for note in material])
        hits = [[hit for _, hit in _hits(note, each)] for note, each in zip(material, spans, strict=True)]
        rows.append({
            "at_most": at_most,
            "passes": passes,
            "calls": model.calls / len(material),
            "recall": sum(map(sum, hits)) / sum(map(len, hits)),
            "leaking": sum(not all(each) for each in hits),
        })  # fmt: skip
    return rows


_TURNS = range(1, MOST + 1)


def _covered(note: Note, policy: Policy, turns: int, *, masking: bool) -> list[tuple[str, bool]]:
    """For each identifier, its group and whether the chunks alone find it: no rules, no sweep of the document."""
    text, found = Text(note.text), list[Span]()
    asker = ChunkAsker(AskingTerms((ScriptedLLM(script(note, AT_MOST)),), _PROMPT, _PROMPT.types(policy)))
    extractor = Extractor(asker, turns, masking)
    for chunk in chunks(note.text):
        (made,) = asyncio.run(extractor.extract([TextChunk(text, chunk)]))
        found = merge([*found, *made.spans])
    return _hits(note, found)


def _hits(note: Note, found: Sequence[Span]) -> list[tuple[str, bool]]:
    taken = {at for span in found for at in range(span.start, span.end)}
    return [
        (group(x.type), all(at in taken for at in range(x.start, x.end) if note.text[at].isalnum())) for x in note.gold
    ]


_PROMPT = load("extract/v2")

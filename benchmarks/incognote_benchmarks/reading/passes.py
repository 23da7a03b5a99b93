"""Measure what later passes add if findings are masked, and that they add nothing if they are not.

The model is scripted: it names the k most obvious identifiers that it still sees in a chunk, group by group in the
order of `material.GROUPS`. So the curves show the effect of masking for a model that stops early, which is RedactOR's
argument (§3.2, Figure 2). They do not show how many passes a real model needs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from incognote.align.merge import merge
from incognote.extraction.asking import AskingTerms, ChunkAsker
from incognote.extraction.chunks import chunks
from incognote.extraction.extractor import Extractor, TextChunk
from incognote.nouns import Span, Text
from incognote.prompts.loader import asked, load
from incognote.schemas.policy import Policy
from incognote.testing import ScriptedLLM
from incognote_benchmarks.reading.material import GROUPS, Note, group, script

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


_TURNS = range(1, MOST + 1)


def _covered(note: Note, policy: Policy, turns: int, *, masking: bool) -> list[tuple[str, bool]]:
    """For each identifier, its group and whether the chunks alone find it: no rules, no sweep of the document."""
    text, found = Text(note.text), list[Span]()
    asker = ChunkAsker(AskingTerms((ScriptedLLM(script(note, AT_MOST)),), _PROMPT, asked(policy)))
    extractor = Extractor(asker, turns, masking)
    for chunk in chunks(note.text):
        (made,) = asyncio.run(extractor.extract([TextChunk(text, chunk)]))
        found = merge([*found, *made.spans])
    taken = {at for span in found for at in range(span.start, span.end)}
    return [
        (group(x.type), all(at in taken for at in range(x.start, x.end) if note.text[at].isalnum())) for x in note.gold
    ]


_PROMPT = load("extract/v2")

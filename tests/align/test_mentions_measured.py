"""How often a phrase with a randomly drawn hint is placed correctly: synthetic notes, invented mentions, no model.

`incognote_benchmarks.reading.drawing` draws them. The author of `words/fitting.toml` wrote the first set of lines and
consulted it while extending the word lists; the second set was written after the lists were final.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from incognote.align.mentions import place
from incognote_benchmarks.reading.drawing import Lines, Note, drawn, lines, noisy, outcome, with_more_lines

NOTES = Path(__file__).parents[1] / "data" / "notes.jsonl"
WORDS = 256
SEEDS = (1, 2, 3)


@pytest.fixture(scope="module")
def notes() -> list[Note]:
    read = [json.loads(line) for line in NOTES.read_text(encoding="utf-8").splitlines()]
    return [Note(n["text"], tuple((s["start"], s["end"], s["type"]) for s in n["spans"])) for n in read]


def chunks(note: Note) -> list[Note]:
    """Split a note into pieces of at most 256 words without cutting an identifier."""
    starts = [m.start() for m in re.finditer(r"\S+", note.text)]
    cuts, at = [0], 0
    while at + WORDS < len(starts):
        at += WORDS
        while any(s < starts[at] < e for s, e, _ in note.gold):
            at -= 1
        cuts.append(starts[at])
    edges = [*cuts, len(note.text)]
    return [
        Note(note.text[low:high], tuple((s - low, e - low, t) for s, e, t in note.gold if low <= s and e <= high))
        for low, high in pairwise(edges)
    ]


def measure(
    notes: list[Note], *, lines: Lines, noise: bool = False, hints: int | None = None, show: bool = False
) -> Counter[str]:
    """Count outcomes over all notes and seeds. "hard" counts mentions whose words also occur elsewhere in the chunk."""
    counts: Counter[str] = Counter()
    for seed in SEEDS:
        rng = random.Random(f"{seed} {noise} {hints}")
        for note in notes:
            for chunk in chunks(with_more_lines(note, rng, lines)):
                asked = drawn(chunk, rng, hints)
                mentions = [noisy(one.mention, rng) if noise else one.mention for one in asked]
                placements = place(chunk.text, mentions)
                assert [p.mention for p in placements] == mentions
                for one, placement in zip(asked, placements, strict=True):
                    came = outcome(one.gold, chunk.gold, placement.stretches)
                    counts.update(["n", came, *(["hard", f"hard {came}"] if one.twice else [])])
                    counts["unsure"] += not placement.certain
                    counts["wrong and certain"] += came == "wrong" and placement.certain
                    counts["dropped"] += placement.certain and not placement.stretches
                    if show and came != "right":
                        around = [chunk.text[max(0, a - 12) : b + 12] for a, b in placement.stretches]
                        print(came, placement.how, one.mention.type, [placement.mention.phrase], around)
    return counts


def said(name: str, counts: Counter[str]) -> str:
    n, hard = counts["n"], counts["hard"]
    rest = ", ".join(
        f"{key} {counts[key]}" for key in ("wrong and certain", "ragged", "other", "nowhere", "unsure", "dropped")
    )
    return (
        f"{name}: right {counts['right'] / n:.4f}, wrong occurrence {counts['wrong'] / n:.4f} of n = {n}; the words "
        f"also stand elsewhere in {hard / n:.3f}, of those right {counts['hard right'] / hard:.4f}; {rest}"
    )


def check(name: str, counts: Counter[str], right: float, wrong: float) -> None:
    """Print the figures, then compare them with their thresholds (shares of all mentions)."""
    print(said(name, counts))
    assert counts["hard"] / counts["n"] >= 0.30
    assert counts["right"] / counts["n"] >= right
    assert counts["wrong"] / counts["n"] <= wrong
    assert counts["dropped"] == 0


BOTH = pytest.mark.parametrize("lines", [pytest.param(lines(name), id=name) for name in ("seen", "unseen")])


@BOTH
def test_phrases_word_for_word_find_their_place(notes: list[Note], lines: Lines) -> None:
    check("0-4 hint words, word for word", measure(notes, lines=lines), right=0.997, wrong=0.003)


@BOTH
def test_careless_phrases_find_their_place(notes: list[Note], lines: Lines) -> None:
    check("0-4 hint words, noisy", measure(notes, lines=lines, noise=True), right=0.990, wrong=0.004)


@BOTH
def test_phrases_without_a_hint_find_their_place(notes: list[Note], lines: Lines) -> None:
    """The hard cases: a bare "53" next to "53 mg", a name next to the disease named after it."""
    check("no hint, word for word", measure(notes, lines=lines, hints=0), right=0.988, wrong=0.010)
    check("no hint, noisy", measure(notes, lines=lines, noise=True, hints=0), right=0.980, wrong=0.010)

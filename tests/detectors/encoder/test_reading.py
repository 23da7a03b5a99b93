"""From logits to a reading: of a large text in blocks, and the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.detectors.encoder import pieces
from incognote.detectors.encoder.bundle import Exit
from incognote.detectors.encoder.labels import allowed, classes
from incognote.detectors.encoder.pieces import Encoded, Pieces
from incognote.detectors.encoder.reading import Finder
from incognote.detectors.encoder.units import units
from incognote.nouns import Text

N = len(classes())


@given(st.integers(0, 2**31), st.integers(0, 120), st.integers(1, 40), st.sampled_from([0.0, 6.0, 14.0]))
def test_a_reading_from_blocks_is_that_of_the_whole(seed: int, words: int, block: int, certain: float) -> None:
    random = np.random.default_rng(seed)
    transitions = np.where(allowed(N), random.normal(0, 0.5, (1 + 2 * N,) * 2), -np.inf).astype(np.float32)
    way = Exit(transitions, random.uniform(0.5, 2, N).astype(np.float32), {"balanced": 0.0})
    find = Finder(way, 0.3, "encoder:full")
    text = Text(" ".join(random.choice(["seen", "Hale", "34F", "12-3", "Oslo."], words)))
    found = units(text.content)
    encoded = Encoded(found, np.zeros(len(found), np.int64), np.arange(len(found) + 1))
    logits = random.normal(0, 2, (len(found), 1 + 2 * N)).astype(np.float32)
    logits[:, 0] += certain * (random.random(len(found)) < 0.8)
    (whole,) = find([text], [encoded], [logits])
    parts = [logits[a : a + block] for a in range(0, max(1, len(logits)), block)]
    made = find.large(text, encoded, iter(parts))
    assert (made.spans, made.doubts) == (whole.spans, whole.doubts)
    assert [made.sure(s.start, s.end) for s in made.doubts] == [whole.sure(s.start, s.end) for s in whole.doubts]


@pytest.mark.parametrize("at_once", [1, 3, 50_000])
def test_the_pieces_do_not_depend_on_how_many_units_are_encoded_at_once(
    tokenizer_file: Path, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Dr. Hale met 1234567 patients \x00 in Oslo, \u00c5se and 20/03/2024."
    whole = Pieces(tokenizer_file)(text)
    monkeypatch.setattr(pieces, "_AT_ONCE", at_once)
    made = Pieces(tokenizer_file)(text)
    assert np.array_equal(made.ids, whole.ids)
    assert np.array_equal(made.first, whole.first)
    assert np.array_equal(made.units.starts, whole.units.starts)

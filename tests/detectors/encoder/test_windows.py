"""Windows: nothing left out, none too long, and stitched logits that are those of the units."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incognote.detectors.encoder import windows as module
from incognote.detectors.encoder.pieces import Encoded, Pieces
from incognote.detectors.encoder.units import Units
from incognote.detectors.encoder.windows import Stitches, batch, cut, stitched

SPECIAL = (0, 2, 3)


def made(sizes: list[int]) -> Encoded:
    """A text of units with so many pieces each; piece ids are the unit's number plus ten."""
    n = len(sizes)
    units = Units(np.arange(n), np.arange(n) + 1, np.arange(n).astype(np.uint64), np.zeros(n, bool))
    return Encoded(units, np.repeat(np.arange(n) + 10, sizes), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


texts = st.lists(st.lists(st.integers(1, 16), max_size=120), min_size=1, max_size=4)
sizes = st.tuples(st.integers(40, 128), st.integers(0, 18))


def test_the_drawn_texts_take_several_windows() -> None:
    rows, size = hypothesis.find(
        st.tuples(texts, sizes), lambda drawn: len(list(cut(0, made(drawn[0][0]), *drawn[1]))) > 1
    )
    assert len(list(cut(0, made(rows[0]), *size))) == 2


@given(texts, sizes)
def test_every_unit_lies_in_a_window_and_none_is_too_long(rows: list[list[int]], size: tuple[int, int]) -> None:
    for row in rows:
        encoded = made(row)
        seen: set[int] = set()
        for window in cut(0, encoded, *size):
            assert window.begin < window.end
            assert window.size == encoded.first[window.end] - encoded.first[window.begin] + 2 <= size[0]
            seen.update(range(window.begin, window.end))
        assert seen == set(range(len(row)))


@given(texts, sizes, st.integers(1, 5))
def test_stitched_logits_are_those_of_the_units(rows: list[list[int]], size: tuple[int, int], side: int) -> None:
    encoded = [made(row) for row in rows]
    windows = [w for i, one in enumerate(encoded) for w in cut(i, one, *size)]
    stitches = Stitches(encoded, 2)
    for place in range(0, len(windows), side):
        some = batch(encoded, windows[place : place + side], SPECIAL)
        assert some.ids.shape[1] == max(w.size for w in some.windows)
        logits = np.stack([some.ids - 10, some.ids * 2], axis=-1).astype(np.float32)
        stitches.add(some, logits)
    for one, logits in zip(encoded, stitches.texts(), strict=True):
        assert np.allclose(logits[:, 0], np.arange(len(one.units)), atol=1e-3)


def test_neighbours_overlap() -> None:
    windows = cut(0, made([1] * 200), 64, 16)
    assert all(a.end - b.begin == 16 for a, b in itertools.pairwise(windows))
    assert max(w.size for w in windows) - min(w.size for w in windows) <= 2


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=200), min_size=1, max_size=5))
def test_any_text_goes_through(tokenizer_file: Path, strings: list[str]) -> None:
    pieces = Pieces(tokenizer_file)
    encoded = [pieces(text) for text in strings]
    windows = [w for i, one in enumerate(encoded) for w in cut(i, one, 48, 10)]
    stitches = Stitches(encoded, 3)
    for window in windows:
        alone = batch(encoded, [window], SPECIAL)
        stitches.add(alone, np.ones((*alone.ids.shape, 3), np.float32))
    assert all(np.allclose(logits, 1) for logits in stitches.texts())


@given(st.lists(st.integers(1, 16), max_size=400), sizes, st.integers(1, 60), st.randoms(use_true_random=False))
def test_logits_in_blocks_are_those_of_the_whole(
    row: list[int], size: tuple[int, int], block: int, draw: random.Random
) -> None:
    encoded, numbers = made(row), np.random.default_rng(draw.randrange(2**31))
    stitches, ran = Stitches([encoded], 3), []
    for window in cut(0, encoded, *size):
        alone = batch([encoded], [window], SPECIAL)
        logits = numbers.normal(size=(*alone.ids.shape, 3)).astype(np.float32)
        stitches.add(alone, logits)
        ran.append((window, logits[0][alone.at[0]]))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "_BLOCK", block)
        blocks = list(stitched(iter(ran), 3))
    assert np.array_equal(np.concatenate(blocks), stitches.texts()[0])

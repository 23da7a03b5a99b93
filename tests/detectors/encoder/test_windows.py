"""Windows: nothing is left out, none is too long, and the stitched logits are those of the units."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incognote.detectors.encoder import windows as module
from incognote.detectors.encoder.bundle import Bundle, load
from incognote.detectors.encoder.units import Encoded, Pieces, Units
from incognote.detectors.encoder.windows import Batch, Session, Stitches, batch, cut, stitched, surest

SPECIAL = (0, 2, 3)
NOTES = Path(__file__).parents[2] / "data" / "dev_e.jsonl"
PROSE = "The wound is clean and dry, without erythema or drainage, and the patient tolerates a regular diet well. " * 3
NAMED = f"{PROSE}Seen with her daughter Ingrid Halvorsen on 3 March."


def made(sizes: list[int]) -> Encoded:
    """A text whose units have the given numbers of pieces. Each piece id is its unit's number plus ten."""
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


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return load()


def windows(bundle: Bundle, *texts: str) -> Iterator[Batch]:
    pieces = Pieces(bundle.folder / "tokenizer.json", medical=bundle.medical)
    for encoded in map(pieces, texts):
        for window in cut(0, encoded, bundle.window, bundle.overlap):
            yield batch([encoded], [window], pieces.special)


@pytest.mark.parametrize(("text", "leaves"), [(PROSE, True), (NAMED, False)])
def test_a_window_of_plain_prose_leaves_by_the_early_exit_and_one_with_a_name_does_not(
    bundle: Bundle, text: str, leaves: bool
) -> None:
    ways = Session(bundle.folder, fast=False, leave=bundle.leave), Session(bundle.folder, fast=leaves)
    read = windows(bundle, text)
    assert read
    for window in read:
        asked, same = (way(window.ids, window.features) for way in ways)
        assert np.array_equal(asked, same)


def test_without_a_line_no_window_leaves_early(bundle: Bundle) -> None:
    full, never = Session(bundle.folder, fast=False), Session(bundle.folder, fast=False, leave=-np.inf)
    read = windows(bundle, PROSE)
    assert read
    for window in read:
        assert np.array_equal(full(window.ids, window.features), never(window.ids, window.features))


def test_no_window_of_the_development_notes_that_leaves_early_holds_what_the_full_exit_would_find(
    bundle: Bundle,
) -> None:
    assert bundle.leave is not None
    full, fast = Session(bundle.folder, fast=False), Session(bundle.folder, fast=True)
    texts = [json.loads(line)["text"] for line in NOTES.read_text(encoding="utf-8").splitlines()]
    left = 0
    for window in windows(bundle, *texts):
        if surest(fast(window.ids, window.features)[0]) < bundle.leave:
            left += 1
            at = window.at[0]
            assert surest(full(window.ids, window.features)[0][[0, *at, 0]]) < bundle.exits["full"].biases["recall"]
    assert left


def test_the_ends_of_a_window_are_no_words() -> None:
    window = np.zeros((4, 3), np.float32)
    window[:, 0] = 9
    window[[0, 3], 1] = 99
    assert surest(window) < 0
    assert surest(window[:2]) == -np.inf

"""A window leaves by the early exit where that is sure of it, and only there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from incognote.detectors.encoder.bundle import Bundle, load
from incognote.detectors.encoder.pieces import Pieces
from incognote.detectors.encoder.session import Session, surest
from incognote.detectors.encoder.windows import Batch, batch, cut

NOTES = Path(__file__).parents[2] / "data" / "dev_e.jsonl"
PROSE = "The wound is clean and dry, without erythema or drainage, and the patient tolerates a regular diet well. " * 3
NAMED = f"{PROSE}Seen with her daughter Ingrid Halvorsen on 3 March."


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

"""Decoding matches a plain reference, is legal, and does not change if a text is cut at its certain words."""

from __future__ import annotations

import itertools

import hypothesis
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from incognote.detectors.encoder.bundle import allowed
from incognote.detectors.encoder.viterbi import Decoder, viterbi

Floats = NDArray[np.float32]


def plain(emissions: Floats, transitions: Floats) -> tuple[list[int], float]:
    """The reference: one sequence, one word, one tag at a time."""
    n, k = emissions.shape
    best = [[-np.inf if y and y % 2 == 0 else float(emissions[0, y]) for y in range(k)]]
    back: list[list[int]] = []
    for t in range(1, n):
        row, came = [], []
        for y in range(k):
            scores = [best[-1][x] + float(transitions[x, y]) for x in range(k)]
            x = max(range(k), key=lambda x: scores[x])
            row.append(scores[x] + float(emissions[t, y]))
            came.append(x)
        best.append(row)
        back.append(came)
    y = max(range(k), key=lambda y: best[-1][y])
    path = [y]
    for came in reversed(back):
        path.append(came[path[-1]])
    return path[::-1], best[-1][y]


def score(path: list[int], emissions: Floats, transitions: Floats) -> float:
    return sum(float(emissions[t, y]) for t, y in enumerate(path)) + sum(
        float(transitions[x, y]) for x, y in itertools.pairwise(path)
    )


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[Floats], Floats]:
    classes = draw(st.integers(1, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k = 1 + 2 * classes
    transitions = random.normal(0, draw(st.sampled_from([0.1, 1, 4])), (k, k)).astype(np.float32)
    transitions = np.where(allowed(classes), transitions, -np.inf).astype(np.float32)
    lengths = draw(st.lists(st.integers(0, 24), min_size=1, max_size=6))
    certain = draw(st.sampled_from([0, 5, 30]))
    texts = []
    for n in lengths:
        emissions = random.normal(0, 3, (n, k)).astype(np.float32)
        emissions[:, 0] += certain * (random.random(n) < 0.7)
        texts.append(emissions)
    return texts, transitions


def test_the_drawn_problems_hold_texts_with_words() -> None:
    texts, _ = hypothesis.find(problems(), lambda problem: sum(len(text) > 1 for text in problem[0]) > 1)
    assert len(texts) == 2


@given(problems())
def test_a_batch_decodes_as_the_plain_reference_does(problem: tuple[list[Floats], Floats]) -> None:
    texts, transitions = problem
    lengths = np.array([len(text) for text in texts])
    block = np.full((len(texts), max(lengths), len(transitions)), 99, np.float32)  # values past a length are ignored
    for row, text in zip(block, texts, strict=True):
        row[: len(text)] = text
    for text, path in zip(texts, viterbi(block, lengths, transitions), strict=True):
        found = path[: len(text)].tolist()
        assert not path[len(text) :].any()
        if len(text):
            assert np.isclose(score(found, text, transitions), plain(text, transitions)[1], rtol=1e-4, atol=1e-3)


@given(problems())
def test_cutting_at_certain_words_changes_no_score(problem: tuple[list[Floats], Floats]) -> None:
    texts, transitions = problem
    for text, path in zip(texts, Decoder(transitions)(texts), strict=True):
        if len(text):
            assert np.isclose(
                score(path.tolist(), text, transitions), plain(text, transitions)[1], rtol=1e-4, atol=1e-3
            )


@given(problems())
def test_no_path_has_an_inside_without_its_begin(problem: tuple[list[Floats], Floats]) -> None:
    texts, transitions = problem
    legal = np.isfinite(transitions)
    for path in Decoder(transitions)(texts):
        assert not len(path) or path[0] == 0 or path[0] % 2 == 1
        assert all(legal[x, y] for x, y in itertools.pairwise(path))


def test_certain_words_are_not_decoded_at_all() -> None:
    transitions = np.where(allowed(3), 0, -np.inf).astype(np.float32)
    emissions = np.zeros((100, 7), np.float32)
    emissions[:, 0] = 9
    emissions[50, 3] = 20
    assert Decoder(transitions)._stretches(emissions) == [(49, 52)]
    assert np.flatnonzero(Decoder(transitions)([emissions])[0]).tolist() == [50]

"""How much information redaction preserves, with embedders whose results can be computed by hand."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import wasserstein_distance

from incognote.errors import UsageError
from incognote.evaluation.metrics.utility import clinical_utility, semantic_preservation


class Given:
    """An embedder that returns the given vectors."""

    def __init__(self, **vectors: tuple[float, ...]) -> None:
        self._vectors = vectors

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        return np.array([self._vectors[text] for text in texts], float)


class Hashing:
    """An embedder that hashes words into 64 dimensions and counts them."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        vectors = np.zeros((len(texts), 64))
        for row, text in zip(vectors, texts, strict=True):
            for word in text.lower().split():
                row[hashlib.sha256(word.encode()).digest()[0] % 64] += 1
        return vectors


def on_circle(**degrees: float) -> Given:
    return Given(**{name: (math.cos(math.radians(d)), math.sin(math.radians(d))) for name, d in degrees.items()})


def test_the_clinical_utility_score_by_hand() -> None:
    # Cosines 0.6 and 1, so losses 0.4 and 0: loss 0.2; (1 - 0.2) * 0.9.
    embedder = Given(a=(2, 0), b=(3, 4), c=(0, 1), d=(0, 5))
    result = clinical_utility(["a", "c"], ["b", "d"], 0.9, embedder, resamples=50)
    assert result.loss.value == pytest.approx(0.2)
    assert result.score == pytest.approx(0.72)


def test_a_loss_is_at_most_one() -> None:
    result = clinical_utility(["a"], ["b"], 1.0, Given(a=(1, 0), b=(-1, 0)))
    assert (result.score, result.loss.value) == (0, 1)


def test_a_text_of_which_nothing_is_left_is_lost_and_an_empty_one_is_not() -> None:
    embedder = Hashing()
    assert clinical_utility(["Foley out"], [""], 1.0, embedder).score == 0
    assert clinical_utility([""], [""], 1.0, embedder).score == 1


def test_more_redaction_leaves_less() -> None:
    note = "Mary Smith 76 seen at Mercy Hospital for chest pain"
    light = "[PERSON] 76 seen at Mercy Hospital for chest pain"
    heavy = "[PERSON] [AGE] seen at [LOCATION] for chest pain"
    scores = [clinical_utility([note], [text], 1.0, Hashing()).score for text in (note, light, heavy)]
    assert scores[0] == pytest.approx(1)
    assert scores[0] > scores[1] > scores[2]


def test_neighbours_by_hand() -> None:
    # Before, at 0 10 100 110 degrees, a-b and c-d are nearest. After, b has moved to 95: nearest are b, c, b, c.
    # a and d keep theirs.
    embedder = on_circle(a=0, b=10, c=100, d=110, B=95)
    result = semantic_preservation(["a", "b", "c", "d"], ["a", "B", "c", "d"], embedder, k=1, resamples=50)
    assert result.documents == 4
    assert result.neighbours.value == 1 / 2
    assert result.cosine.value == pytest.approx((3 + math.cos(math.radians(85))) / 4)


def test_the_wasserstein_distance_by_hand() -> None:
    # First dimension 1 5 1 5 -> 3 7 3 7: 2 apart, or 1 standard deviation (2). Second 1 1 1 1 -> 1 1 1 1: 0.
    embedder = Given(a=(1, 1), b=(5, 1), A=(3, 1), B=(7, 1))
    result = semantic_preservation(["a", "b", "a", "b"], ["B", "A", "A", "B"], embedder, k=1, resamples=50)
    assert result.wasserstein == 1
    assert result.wasserstein_scaled == 0.5


def test_the_wasserstein_distance_is_that_of_scipy_in_each_dimension() -> None:
    random = np.random.default_rng(0)
    before, after = random.normal(size=(40, 3)), random.normal(0.3, 1.2, size=(40, 3))
    vectors = {f"b{i}": tuple(row) for i, row in enumerate(before)} | {
        f"a{i}": tuple(row) for i, row in enumerate(after)
    }
    result = semantic_preservation(
        [f"b{i}" for i in range(40)], [f"a{i}" for i in range(40)], Given(**vectors), resamples=10
    )
    theirs = np.mean([wasserstein_distance(before[:, i], after[:, i]) for i in range(3)])
    assert result.wasserstein == pytest.approx(theirs, rel=1e-12)


def test_notes_that_are_left_alone_keep_everything() -> None:
    notes = [f"word{i} word{i + 1} word{i // 2} pain" for i in range(30)]
    result = semantic_preservation(notes, notes, Hashing(), resamples=10)
    assert result.cosine.value == pytest.approx(1)
    assert result.neighbours.value == 1
    assert result.wasserstein == 0


@pytest.mark.parametrize(("originals", "redacted"), [([], []), (["a"], ["a", "b"])])
def test_texts_that_do_not_pair_are_refused(originals: list[str], redacted: list[str]) -> None:
    with pytest.raises(UsageError, match="a redacted text for every original"):
        clinical_utility(originals, redacted, 0.5, Hashing())


def test_an_f1_beyond_one_is_refused() -> None:
    with pytest.raises(UsageError, match="F1"):
        clinical_utility(["a"], ["a"], 95.3, Hashing())


def test_too_few_documents_have_no_neighbours() -> None:
    with pytest.raises(UsageError, match="at least 12 documents"):
        semantic_preservation(["a"] * 11, ["a"] * 11, Hashing())


@pytest.mark.parametrize("vectors", [np.ones(2), np.ones((3, 2)), np.array([[1.0, np.nan]])])
def test_an_embedder_that_answers_something_else_is_refused(vectors: NDArray[np.float64]) -> None:
    class Odd:
        def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
            return vectors

    with pytest.raises(UsageError, match="embedder"):
        clinical_utility(["a"], ["b"], 0.5, Odd())

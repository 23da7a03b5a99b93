"""All embedders satisfy the same contract."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from incognote.embedding import Embedder
from incognote.evaluation.metrics.utility import clinical_utility, semantic_preservation

CANARY = "Ottoline Featherstonehaugh"
TEXTS = [
    "Ruth Hale",
    "Hale, Ruth",
    "12 Linden Street, Leeds LS1 4AB",
    "St. Mary's Hospital",
    "María-José Ñuñez",
    "Acute appendicitis; appendectomy was performed without complications.",
    "7",
]


@pytest.fixture(
    params=["hashing", "embedded", "tiny", pytest.param("all-MiniLM-L6-v2", marks=pytest.mark.shared)], scope="module"
)
def embedder(request: pytest.FixtureRequest, opened: Callable[[str], Embedder]) -> Embedder:
    return opened(request.param)


def test_vectors_are_float32_of_length_one_in_the_order_of_the_texts(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), embedder.dimension)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)
    back = embedder.embed(TEXTS[::-1])
    assert np.allclose(back[::-1], vectors, atol=1e-5)


def test_a_text_has_one_vector_whatever_stands_beside_it(embedder: Embedder) -> None:
    together = embedder.embed([*TEXTS, "word " * 700])
    for number, text in enumerate(TEXTS):
        assert np.allclose(embedder.embed([text])[0], together[number], atol=1e-5)


def test_no_texts_make_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dimension)
    assert embedder.embed([]).dtype == np.float32


@pytest.mark.parametrize("blank", ["", " ", "\n\t ", "\u200b"])
def test_a_text_with_nothing_to_read_is_zero(blank: str, embedder: Embedder) -> None:
    vectors = embedder.embed(["Ruth", blank])
    assert not vectors[1].any()
    assert vectors[0].any()


@pytest.mark.parametrize("odd", ["\ud800 Ruth", "a\x00b", "\U0001f600 Ruth", "名前", "é" * 300, "x" * 5000])
def test_odd_texts_have_finite_vectors(odd: str, embedder: Embedder) -> None:
    vector = embedder.embed([odd])[0]
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_the_end_of_a_long_text_counts(embedder: Embedder) -> None:
    head = "The patient was seen in clinic. " * 300
    plain, ended = embedder.embed([head, head + "Fracture of the left femur after a fall. " * 100])
    assert plain @ ended < 0.9999


def test_a_long_text_of_one_sentence_is_like_that_sentence(embedder: Embedder) -> None:
    sentence = "Acute appendicitis; appendectomy was performed without complications. "
    short, long, other = embedder.embed([sentence, sentence * 150, "Harbour cranes unload grain in winter. " * 150])
    assert short @ long > short @ other


def test_parts_of_a_name_are_nearer_than_other_names(embedder: Embedder) -> None:
    first, same, other = embedder.embed(["Ruth Hale", "Hale, Ruth", "Emeka Okonkwo"])
    assert first @ same > first @ other


def test_threads_get_what_one_gets(embedder: Embedder) -> None:
    alone = embedder.embed(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(embedder.embed, [TEXTS] * 8))
    assert len(together) == 8
    assert all(np.allclose(vectors, alone, atol=1e-5) for vectors in together)


def test_the_version_stays(embedder: Embedder) -> None:
    before = embedder.version
    embedder.embed(TEXTS)
    assert embedder.version == before
    assert embedder.version.strip()


def test_nothing_of_a_text_is_said(
    embedder: Embedder, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level("DEBUG"):
        embedder.embed([CANARY])
    said = "".join(str(record.__dict__) for record in caplog.records) + "".join(capfd.readouterr()) + repr(embedder)
    assert CANARY not in said


def test_the_metrics_take_it(embedder: Embedder) -> None:
    notes = [f"{text} was seen on ward {n}." for n in range(3) for text in TEXTS]
    masked = [note.replace("Ruth", "[PERSON]") for note in notes]
    assert 0 < clinical_utility(notes, masked, 1.0, embedder, resamples=20).score < 1
    assert semantic_preservation(notes, masked, embedder, resamples=20).cosine.value > 0.5  # type: ignore[operator]  # never None here

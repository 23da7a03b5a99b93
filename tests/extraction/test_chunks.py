"""Chunks cover the whole text, overlap, and never split a word."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.extraction.chunks import LIGHT, MOST, Chunk, chunks, grouped, halves, length, room

WORDS = st.lists(st.sampled_from(["a", "Dr. Abara", "76 mg.", "\n", "\n\n", "é́", "x" * 30]), max_size=120)


@given(WORDS.map(" ".join), st.integers(2, 40), st.data())
def test_chunks_hold_every_character_and_cut_no_word(text: str, words: int, data: st.DataObject) -> None:
    overlap = data.draw(st.none() | st.integers(0, words - 1))
    made = chunks(text, words, overlap)
    assert made == chunks(text, words, overlap)
    assert bool(made) == bool(text.split())
    if not made:
        return
    assert made[0].start == 0
    assert made[-1].end == len(text)
    for chunk in made:
        assert chunk.start == 0 or text[chunk.start - 1].isspace()
        assert chunk.end == len(text) or text[chunk.end].isspace()
    for one, other in pairwise(made):
        assert one.start < other.start
        assert one.end < other.end
        assert not text[one.end : other.start].strip()


@given(WORDS.map(" ".join), st.integers(2, 60), st.data())
def test_chunks_are_about_equally_long_and_never_longer_than_the_size(
    text: str, words: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.none() | st.integers(0, words - 1))
    sizes = [length(text[c.start : c.end]) for c in chunks(text, words, overlap)]
    if len(sizes) > 1:
        assert max(sizes) <= words
        assert max(sizes) <= 1.6 * min(sizes) + 1
        assert length(text) > 1.15 * words


@given(st.integers(20, 1500), st.integers(16, 120), st.data())
def test_neighbors_share_the_words_asked_for(count: int, words: int, data: st.DataObject) -> None:
    overlap = data.draw(st.none() | st.integers(1, words // 3))
    text = " ".join(f"w{i}" + "." * (i % 7 == 0) for i in range(count))
    parts = chunks(text, words, overlap)
    assert len(parts) > (count > 1.15 * words)
    for one, other in pairwise(parts):
        assert len(text[other.start : one.end].split()) >= (min(8, words // 4) if overlap is None else overlap)


@pytest.mark.parametrize(("count", "parts"), [(256, 1), (294, 1), (295, 2), (440, 2), (507, 3), (1000, 5)])
def test_a_text_just_over_the_size_stays_whole_and_no_tail_is_short(count: int, parts: int) -> None:
    text = " ".join(f"w{i}" for i in range(count))
    made = [length(text[c.start : c.end]) for c in chunks(text, 256)]
    assert len(made) == parts
    assert min(made) > 0.6 * max(made)


def cut(*, after: str) -> list[str]:
    """The words before the cut in a text of two chunks, and the first words of the second chunk."""
    text = f"{'word ' * 95}{after}{' word' * 95}"
    first, second = chunks(text, 128, 0)
    return [text[first.start : first.end].split()[-1], text[second.start : second.end].split()[0]]


def test_a_cut_falls_on_a_blank_line_before_a_line_before_a_sentence_before_a_word() -> None:
    assert cut(after="a b c. d\n\ne f\ng h. i") == ["d", "e"]
    assert cut(after="a b c. d e f\ng h. i") == ["f", "g"]
    assert cut(after='a (b c.") d e f g h i') == ['c.")', "d"]
    assert cut(after="a b: c d e f g h i") == ["d", "e"]


@pytest.mark.parametrize("word", ["Mr.", "Dr.", "St.", "No.", "(Mrs.", "J."])
def test_a_cut_never_falls_after_an_abbreviation(word: str) -> None:
    assert cut(after=f"a b c d {word}\nSmith f g h i")[0] not in (word, word.lstrip("("))
    assert cut(after=f"{word} a {word} b {word} c {word} d {word}")[0] != word


def test_a_run_without_a_space_is_cut_like_words() -> None:
    made = chunks("x" * 10_000, 16)
    assert len(made) > 1
    assert made[-1].end == 10_000


@pytest.mark.parametrize("text", ["", " ", "\n\t "])
def test_a_text_without_a_word_has_no_chunk(text: str) -> None:
    assert chunks(text) == []


@pytest.mark.parametrize(("words", "overlap"), [(1, None), (8, 8), (8, -1)])
def test_impossible_sizes_are_refused(words: int, overlap: int | None) -> None:
    with pytest.raises(ValueError, match=r"words|overlap"):
        chunks("some text", words, overlap)


@given(st.integers(0, 300))
def test_halves_cover_the_chunk_and_are_smaller(count: int) -> None:
    text = "before " + " ".join(f"w{i}" for i in range(count)) + " after"
    whole = Chunk(7, len(text) - 6)
    parts = halves(text, whole)
    if not parts:
        assert count < 32
        return
    first, second = parts
    assert (first.start, second.end) == (whole.start, whole.end)
    assert second.start < first.end
    sizes = [length(text[part.start : part.end]) for part in parts]
    assert max(sizes) < count
    assert max(sizes) <= 1.6 * min(sizes)


@pytest.mark.parametrize("run", ["QUJD" * 25_000, "患者自述胸闷" * 2_000])
def test_a_run_without_a_space_is_cut_into_chunks_that_a_model_can_read(run: str) -> None:
    made = chunks(run, 256)
    assert max(c.end - c.start for c in made) <= 256 * 64
    assert (made[0].start, made[-1].end) == (0, len(run))
    assert all(one.start < other.start < one.end for one, other in pairwise(made))


SIZES = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 9)), max_size=60)


@given(SIZES, st.integers(0, 256))
def test_every_chunk_is_asked_about_once_and_no_group_overflows(sizes: list[tuple[int, int]], words: int) -> None:
    groups = grouped(sizes, words)
    assert sorted(i for group in groups for i in group) == list(range(len(sizes)))
    for group in groups:
        if len(group) > 1:
            assert sum(sizes[i][0] for i in group) <= words
            assert all(sizes[i][0] <= LIGHT for i in group)
            assert len(group) <= MOST


def test_heavy_texts_go_alone_and_texts_of_a_kind_together() -> None:
    sizes = [(200, 3), (10, 0), (12, 5), (11, 0), (12, 6)]
    assert grouped(sizes, 24) == [[0], [1, 3], [2, 4]]


def test_room_is_bounded_by_the_chunk_and_by_what_the_context_leaves() -> None:
    assert room(256, 8192, 1200, 2048) == 256
    assert room(256, 4096, 1200, 2600) == 98
    assert room(256, 2048, 1500, 1000) == 0


def test_a_german_text_is_not_cut_after_a_german_abbreviation() -> None:
    words = ["wort"] * 300
    words[151] = "geb."
    text = " ".join(words)
    assert text[: chunks(text, 200, 0)[0].end].endswith(" geb.")
    assert text[: chunks(text, 200, 0, frozenset({"de"}))[0].end].endswith(" wort")

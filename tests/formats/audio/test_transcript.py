"""The text of a recording: what was said, with the time of each stretch, and speech without words in its place."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from incognote.formats.audio.transcript import transcript
from incognote.speech.nouns import Heard, HeardWord, Interval
from incognote.text.gaps import TOKEN

from . import made

GAP = "<human_timestamp_(00:02.40 - 00:02.50)>"


def test_speech_without_words_is_a_token_between_the_words_around_it() -> None:
    text = transcript(made.heard(gaps=[(2.4, 2.5)]), "en").text
    before, after = text.split(GAP)
    assert before.split()[-1].casefold() == "thompson"
    assert after.split()[0].casefold() == "your"


def test_a_recording_with_gaps_only_is_their_tokens() -> None:
    assert transcript(made.heard("", gaps=[(1.0, 2.0), (3.0, 3.5)]), "en").text == (
        "<human_timestamp_(00:01.00 - 00:02.00)> <human_timestamp_(00:03.00 - 00:03.50)>"
    )


def test_nothing_heard_is_no_text() -> None:
    assert transcript(made.heard(""), "en").text == ""


def test_a_number_has_the_time_of_all_its_words() -> None:
    said = transcript(made.heard("born march third nineteen sixty two"), "en")
    at = said.text.index("1962")
    time = said.time(at, at + 4)
    assert time is not None
    assert time.start <= 2.0
    assert time.end == 3.4


words = st.lists(
    st.tuples(st.sampled_from("i my name is harper five two h a r p e r march third the".split()),
              st.integers(1, 60), st.integers(0, 150), st.booleans()),
    max_size=30,
)  # fmt: skip


@given(words)
def test_each_word_and_gap_is_in_one_piece_in_order(drawn: list[tuple[str, int, int, bool]]) -> None:
    said: list[HeardWord] = []
    gaps: list[Interval] = []
    at = 0.0
    for word, length, pause, is_gap in drawn:
        end = at + length / 100
        if is_gap:
            gaps.append(Interval(at, end))
        else:
            said.append(HeardWord(word, at, end))
        at = end + pause / 100
    made_of = transcript(Heard(tuple(said), (), tuple(gaps), at), "en")
    numbers = [number for piece in made_of.pieces for number in piece.words]
    assert numbers == list(range(len(said)))
    assert [piece.time for piece in made_of.pieces if not piece.words] == gaps
    assert len(TOKEN.findall(made_of.text)) == len(gaps)
    ends = [0, *(place for piece in made_of.pieces for place in (piece.start, piece.end)), len(made_of.text)]
    assert ends == sorted(ends)
    for piece in made_of.pieces:
        assert made_of.time(piece.start, piece.end) == piece.time

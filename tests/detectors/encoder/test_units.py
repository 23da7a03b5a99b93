"""Units: what receives a tag, and which features accompany its word pieces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.detectors.encoder import units as u
from incognote.detectors.encoder.units import LONGEST, MEDICAL_BIT, Pieces, matrix, plain, units


def words(text: str) -> list[str]:
    found = units(text)
    return [text[a:b] for a, b in zip(found.starts, found.ends, strict=True)]


def bits(text: str, word: str) -> set[int]:
    (place,) = [i for i, each in enumerate(words(text)) if each == word]
    return set(np.flatnonzero(matrix(units(text).masks)[place]).tolist())


@given(st.text(max_size=80))
def test_units_cover_everything_but_white_space_once(text: str) -> None:
    found = units(text)
    covered = [False] * len(text)
    for a, b in zip(found.starts.tolist(), found.ends.tolist(), strict=True):
        assert a < b
        for i in range(a, b):
            assert not covered[i]
            covered[i] = True
    assert all(covered[i] or c.isspace() for i, c in enumerate(text))


@given(st.text(max_size=60))
def test_units_are_in_order(text: str) -> None:
    found = units(text)
    assert (found.starts[1:] >= found.ends[:-1]).all()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("34F, Rm512B", ["34", "F", ",", "Rm", "512", "B"]),
        ("O'Dowd_7", ["O", "'", "Dowd", "_", "7"]),
        ("Jose\u0301 A", ["Jose\u0301", "A"]),
        ("王小明 Wang", ["王", "小", "明", "Wang"]),
        (" \n\t ", []),
    ],
)
def test_letters_digits_and_signs_stand_apart(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_case_is_told_apart() -> None:
    seen = [frozenset(bits(f"x {word} x", word)) for word in ("Qvxz", "qvxz", "QVXZ", "qVxz")]
    assert len(set(seen)) == 4


def test_lines_columns_and_glued_signs_are_told_apart() -> None:
    text = "a b  c\nd\n\ne-f"
    seen = [frozenset(bits(text, word)) for word in "bcdef"]
    assert len(set(seen)) == 5


def test_digit_runs_tell_their_length() -> None:
    seen = [frozenset(bits(f"x {word} x", word)) for word in ("7", "47", "447", "4447", "44447", "444444447")]
    assert len(set(seen)) == 6


def test_a_drug_is_medical_and_a_name_is_not() -> None:
    assert MEDICAL_BIT in bits("on metoprolol", "metoprolol")
    assert MEDICAL_BIT not in bits("Mrs Kovacs", "Kovacs")


def test_matrix_gives_one_number_per_bit() -> None:
    assert matrix(np.array([1, 1 << 63, 5], np.uint64)).sum(axis=1).tolist() == [1, 1, 2]


def test_blanking_the_lexicon_makes_a_word_unknown() -> None:
    features = matrix(units("Anna Qvxz").masks)
    u.no_lexicon(features, np.array([True, False]))
    assert (features[0, u.LEXICON_BITS] == features[1, u.LEXICON_BITS]).all()


def test_capitals_leave_digits_and_signs_alone() -> None:
    features = matrix(units("Anna 47 !").masks)
    before = features.copy()
    u.capitals(features, upper=True)
    assert (features[1:] == before[1:]).all()
    assert (features[0, :6] == matrix(units("ANNA").masks)[0, :6]).all()


def test_truncation_and_padding_are_off(tokenizer_file: Path) -> None:
    encoded = Pieces(tokenizer_file)("patient seen by dr hale in oslo . . .")
    assert len(encoded.ids) == len(encoded.units) == 10
    assert '"truncation":null,"padding":null' in plain(tokenizer_file)


def test_each_unit_knows_its_first_piece(tokenizer_file: Path) -> None:
    encoded = Pieces(tokenizer_file)("seen 12 abc")
    assert encoded.first.tolist() == [0, 1, 2, 5]
    assert encoded.of.tolist() == [0, 1, 2, 2, 2]


def test_a_long_number_is_split_into_its_digits(tokenizer_file: Path) -> None:
    assert len(Pieces(tokenizer_file)("4471902").ids) == 7
    assert len(Pieces(tokenizer_file, medical=False)("4471902").ids) == 1


def test_a_medical_word_is_one_piece(tokenizer_file: Path) -> None:
    assert len(Pieces(tokenizer_file)("metoprolol").ids) == 1
    assert len(Pieces(tokenizer_file, medical=False)("metoprolol").ids) == len("metoprolol") - 2


def test_a_name_keeps_all_its_pieces(tokenizer_file: Path) -> None:
    assert len(Pieces(tokenizer_file)("Kovacs").ids) == 6


@pytest.mark.parametrize("text", ["", " \n", "\x00\x01\x02"])
def test_a_text_without_pieces_has_no_units(tokenizer_file: Path, text: str) -> None:
    encoded = Pieces(tokenizer_file)(text)
    assert (len(encoded.units), len(encoded.ids), encoded.first.tolist()) == (0, 0, [0])


def test_control_characters_are_left_out_and_the_rest_stays_in_place(tokenizer_file: Path) -> None:
    text = "hale \x00 oslo"
    encoded = Pieces(tokenizer_file)(text)
    stretches = zip(encoded.units.starts, encoded.units.ends, strict=True)
    assert [text[a:b] for a, b in stretches] == ["hale", "oslo"]


def test_a_word_without_end_has_a_bounded_number_of_pieces(tokenizer_file: Path) -> None:
    assert len(Pieces(tokenizer_file)("z" * 90 + " 7").ids) == LONGEST + 1


def test_offsets_are_into_the_original_whatever_normalisation_does(tokenizer_file: Path) -> None:
    text = "İstanbul ﬁne Zoë"
    encoded = Pieces(tokenizer_file)(text)
    assert encoded.units.ends[-1] == len(text)
    assert np.all(np.diff(encoded.first) > 0)

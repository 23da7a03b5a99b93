"""Pieces: no truncation, numbers in digits, medical words whole, every unit with its first piece."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from incognote.detectors.encoder.pieces import LONGEST, Pieces, plain


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

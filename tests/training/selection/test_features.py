"""CIPHER's features compared with values calculated by hand."""

from __future__ import annotations

import gzip
import math

import numpy as np

from incognote_training.selection import FEATURES, features


def feature(text: str, name: str) -> float:
    return float(features([text])[0, FEATURES.index(name)])


def test_there_are_the_fourteen_of_table_1() -> None:
    assert len(FEATURES) == 14
    assert features(["a", "b"]).shape == (2, 14)


def test_lengths_and_diversity() -> None:
    text = "The knee, the hip. 12 mg"
    assert feature(text, "text_length") == 24
    assert feature(text, "unique_tokens") == 8  # The knee , the hip . 12 mg
    assert feature(text, "type_token_ratio") == 5 / 6  # the knee the hip 12 mg
    assert feature(text, "compression_ratio") == len(gzip.compress(text.encode(), mtime=0)) / 24


def test_shares_and_runs_of_digits() -> None:
    assert feature("ab 12 3456", "digit_share") == 0.6
    assert feature("ab 12 3456", "longest_numeric_run") == 4
    assert feature("ab 12 3456", "non_letter_symbol_pct") == 80.0
    assert feature("none", "longest_numeric_run") == 0


def test_counted_patterns() -> None:
    text = (
        "On 3/14/2024, 2024-03-15, 14.3.2024, Mar 3, 2024 and 5 May 2024. Call (330) 555-0142 or 330-555-0119. "
        "SSN 900-55-0147. a.b@c.example MRN: 00718823 at 4410 Old Quarry Rd, Apt 2."
    )
    counts = {name.removeprefix("regex_counts__"): feature(text, name) for name in FEATURES if "regex" in name}
    assert counts == {"date": 5, "phone": 2, "ssn": 1, "email": 1, "mrn": 1, "address": 1}


def test_the_mean_likeness_to_the_others() -> None:
    idf = math.log(4 / 2) + 1  # in one of three notes
    both = math.log(4 / 3) + 1  # in two
    cosine = both * both / (both * both + idf * idf)  # "a b" and "a c"
    column = features(["a b", "a c", "d"])[:, FEATURES.index("mean_corpus_similarity")]
    np.testing.assert_allclose(column, [cosine / 2, cosine / 2, 0.0], atol=1e-12)


def test_an_empty_note_and_a_lone_one_have_values() -> None:
    row = features([""])[0]
    assert np.isfinite(row).all()
    assert features([]).shape == (0, 14)

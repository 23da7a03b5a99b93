"""The weights of the embedded judge are fitted to words whose identifiers are known."""

from __future__ import annotations

import json

import numpy as np
import pytest

from incognote.evaluation.recordings.measures import GoldRecording, SpokenIdentifier
from incognote.formats.audio.doubt import Weights
from incognote.speech.nouns import Heard, HeardWord, Interval
from incognote_benchmarks.speech.learn import FACT, FOUND, LEAST, Example, example, fitted, text_of


def test_words_of_identifiers_facts_and_found_parts_have_their_shares_and_weights() -> None:
    words = tuple(HeardWord(word, at, at + 0.5) for at, word in enumerate(["doctor", "harbor", "chest", "pain"]))
    gold = GoldRecording(
        "r", (SpokenIdentifier("PERSON", (Interval(1.0, 1.25),)),),
        tuple(word.interval for word in words), (Interval(2.0, 2.5),),
    )  # fmt: skip
    made = example(Heard(words, (), (), 4.0), gold, [Interval(0.0, 0.5)])
    assert made.shares.tolist() == pytest.approx([0, 0.5, 0, 0])
    assert (made.weights / 0.5).tolist() == pytest.approx([FOUND, 1, FACT, 1])
    assert len(made.facts) == 4


def test_a_fact_of_identifiers_gets_a_higher_weight_than_one_of_others_and_a_rare_one_none() -> None:
    count = 40 * LEAST
    facts = [{"name": 1.0} if at % 2 else {"usual": 1.0} for at in range(count)]
    facts[0]["once"] = 1.0
    bias, weights = fitted([Example(facts, np.arange(count) % 2 * 1.0, np.ones(count))])
    assert weights["name"] > 0 > weights["usual"]
    assert "once" not in weights
    kept = json.loads(text_of(bias, weights))
    own = Weights(kept["bias"], kept["facts"])
    assert own.likelihood({"name": 1.0}) > 0.5 > own.likelihood({"usual": 1.0})

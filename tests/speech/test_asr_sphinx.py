"""PocketSphinx: posteriors and alternatives of its lattice, phones, and fillers."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest

from incognote.speech.asr.sphinx import Sphinx
from incognote.speech.phones import SoundingNames

from .spoken import VISIT, noise, say, silence


@pytest.fixture(scope="module")
def sphinx() -> Sphinx:
    return Sphinx()


def test_a_doubted_name_has_its_own_phones(sphinx: Sphinx) -> None:
    *_, name = sphinx.hear(say("my name is john harper"), "en")

    assert name.confidence < 0.5
    assert name.phones[-4:] == ("AA", "R", "P", "ER")
    nearest = SoundingNames(["harper", "wilson", "nguyen", "oyelowo"]).nearest(name.phones)
    assert nearest is not None
    assert nearest[0] == "harper"
    assert nearest[1] < 0.25


def test_posteriors_of_a_word_and_its_alternatives_are_a_share_of_one_and_fall(sphinx: Sphinx) -> None:
    words = sphinx.hear(say("the follow up visit is at creekwood hospital", "slt"), "en")

    assert any(word.alternatives for word in words)
    for word in words:
        posteriors = [posterior for _, posterior in word.alternatives]
        assert posteriors == sorted(posteriors, reverse=True)
        assert all(0 < posterior <= 1 for posterior in posteriors)
        assert word.confidence + sum(posteriors) <= 1.001
        assert word.text not in dict(word.alternatives)


def test_a_word_outside_the_dictionary_is_less_sure_than_common_words(sphinx: Sphinx) -> None:
    known = sphinx.hear(say(VISIT), "en")
    unknown = sphinx.hear(say("my name is oyelowo and i live in szczecin"), "en")

    assert min(word.confidence for word in known) > min(word.confidence for word in unknown)


def test_fillers_are_no_words(sphinx: Sphinx) -> None:
    sound = np.concatenate([silence(1), say("good morning"), noise(1, 300), say("thank you"), silence(1)])

    words = sphinx.hear(sound, "en")

    assert words
    assert all(word.text[0].isalpha() and "(" not in word.text for word in words)
    assert all(phone.isalpha() and phone.isupper() for word in words for phone in word.phones)
    assert "SIL" not in {phone for word in words for phone in word.phones}


def test_without_phones_words_are_the_same(sphinx: Sphinx) -> None:
    sound = say(VISIT)
    plain = Sphinx(phones=False).hear(sound, "en")

    assert all(word.phones == () for word in plain)
    assert [(w.text, w.start, w.confidence) for w in plain] == [
        (w.text, w.start, w.confidence) for w in sphinx.hear(sound, "en")
    ]


def test_no_file_is_written_and_none_stays_open(
    sphinx: Sphinx, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    sphinx.hear(say(VISIT), "en")
    before = len(os.listdir("/proc/self/fd"))

    sphinx.hear(say(VISIT), "en")

    assert list(tmp_path.iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) == before


def test_on_a_system_without_files_in_memory_words_keep_a_confidence(
    sphinx: Sphinx, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sphinx.hear(say(VISIT), "en")
    monkeypatch.delattr(os, "memfd_create", raising=False)

    words = sphinx.hear(say(VISIT), "en")

    assert [word.text for word in words] == [word.text for word in whole]
    assert all(0 < word.confidence <= 1 and word.alternatives == () for word in words)

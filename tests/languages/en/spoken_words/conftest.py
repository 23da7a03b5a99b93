"""Shared test helpers of this folder: spoken utterances and their written form."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote.languages import Written, written

Write = Callable[..., Written]


@pytest.fixture
def write() -> Write:
    """Return the written form of utterances, with a pause of a second after each."""

    def run(*utterances: str) -> Written:
        words = [utterance.split() for utterance in utterances]
        pauses = [pause for each in words for pause in (*[0.0] * (len(each) - 1), 1.0)]
        return written([word for each in words for word in each], pauses)

    return run

"""Items of the machine: how a record is opened before it runs."""

from __future__ import annotations

import pytest

from incognote import Deidentifier
from incognote.agents.item import Item, opened
from incognote.formats.images.reading import page_languages


def test_a_record_is_opened_in_the_languages_of_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[tuple[str, ...]] = []
    monkeypatch.setattr(Item, "open", lambda *_: (None, read.append(page_languages())))
    engine = Deidentifier(detectors=("rules",), languages=("en", "es")).engine
    opened(Item(b"{}", media_type="application/fhir+json"), engine)
    assert read == [("en", "es")]
    assert page_languages() == ("en",)

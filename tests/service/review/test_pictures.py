"""A message with a picture is approved only if its picture is read as it was for the review."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from typing import Any

import pytest
from PIL import Image

from incognote.agents.item import as_item
from incognote.errors import UsageError
from incognote.formats.images.reading import PageReading
from incognote.pages.nouns import Word
from incognote.sdk import Deidentifier
from incognote.service.review import cases

Read = Callable[..., None]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Iterator[Read]:
    """A function that sets the words that every picture shows."""

    def words(*texts: str) -> None:
        found = tuple(Word(text, (20, 20 + 30 * n, 120, 40 + 30 * n), 0.9, n) for n, text in enumerate(texts))
        reading = PageReading(found, found, (), (), 0.9)
        monkeypatch.setattr("incognote.formats.images.reading.reading_of", lambda *_: reading)
        cases._document.cache_clear()

    yield words
    cases._document.cache_clear()


def _message() -> bytes:
    picture, made = io.BytesIO(), EmailMessage()
    Image.new("RGB", (200, 120), "white").save(picture, "PNG")
    made["Subject"] = "Referral"
    made.set_content("\n")
    made.add_attachment(picture.getvalue(), "image", "png", filename="letter.png")
    return bytes(made)


def test_a_message_is_approved_only_if_its_picture_is_read_as_for_the_review(read: Read) -> None:
    deid = Deidentifier("strict", detectors=["rules"], pictures="read")
    item = as_item(_message(), media_type="message/rfc822")
    read("Asthma", "stable")
    case = cases.case_of(item, deid.deidentify(item), deid.engine)
    spans: list[Any] = [span for span in case.spans if span.field.startswith("part[2]")]
    approved = asyncio.run(cases.corrected(deid, case, spans))
    assert approved.verdict.outcome == "release"
    read("Asthma", "severe")
    with pytest.raises(UsageError, match="now read differently"):
        asyncio.run(cases.corrected(deid, case, spans))

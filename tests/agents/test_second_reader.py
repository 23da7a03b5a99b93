"""Output that a second reader sees and the first does not is searched before it is released."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

import pytest

from incognote import Deidentifier, Result
from incognote.agents.item import Item
from incognote.errors import RecordProblem
from incognote.formats import registry
from incognote.formats.base import Document, FieldAction, Format, StretchDocument
from incognote.formats.registry import MOST_DEPTH, nested
from incognote.nouns import Text

NOTE = "Emily Carter was seen on 03/16/2025 for knee pain."


def read(stream: BinaryIO, media_type: str) -> Iterator[Document]:
    """A careless reader: it does not look at what is behind the bar."""
    content = stream.read().decode()
    yield StretchDocument(content, {"body": (0, content.index("|"))})


def everything(data: bytes) -> Iterable[str]:
    return re.split(r"\|", data.decode())


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    def run(hidden: str, second: Callable[[bytes], Iterable[str]] = everything, policy: str = "strict") -> Result:
        form = Format("bar", ("text/x-bar",), (".bar",), read, second=second)
        monkeypatch.setattr(registry, "every", lambda: registry.ours() | {form.name: form})
        with Deidentifier(policy) as deid:
            return deid.deidentify(f"{NOTE}|{hidden}".encode(), media_type="text/x-bar")

    return run


def _codes(result: Result) -> list[tuple[str, str]]:
    return [(reason.code, reason.detail) for reason in result.verdict.reasons]


@pytest.mark.parametrize("hidden", ["", "knee pain", "style: plain; color: red"])
def test_a_document_without_hidden_identifiers_is_released(released: Callable[..., Result], hidden: str) -> None:
    result = released(hidden)
    assert result.data == f"[PERSON] was seen on [DATE] for knee pain.|{hidden}".encode()


def test_an_original_that_the_first_reader_overlooks_is_quarantined(released: Callable[..., Result]) -> None:
    result = released("checked for carter")
    assert result.verdict.outcome == "quarantine"
    assert _codes(result) == [("second-reader", "PATIENT")]


def test_an_identifier_that_stands_only_where_the_first_reader_does_not_look_is_quarantined(
    released: Callable[..., Result],
) -> None:
    result = released("Call his wife at 617-555-0143")
    assert result.verdict.outcome == "quarantine"
    assert ("second-reader", "TELEPHONE_NUMBER") in _codes(result)


def test_a_second_reader_that_fails_or_is_missing_sends_the_record_to_review(released: Callable[..., Result]) -> None:
    def broken(data: bytes) -> Iterable[str]:
        raise ValueError(data.decode())

    def missing(data: bytes) -> Iterable[str]:
        raise ImportError("no such library")

    for second, words in ((broken, "failed: ValueError"), (missing, "pip install")):
        result = released("", second)
        assert result.verdict.outcome == "review"
        [(code, detail)] = _codes(result)
        assert code == "not-verified"
        assert words in detail
        assert "Carter" not in detail


def test_a_format_without_a_second_reader_goes_to_review_unless_it_says_that_it_needs_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcomes = []
    for needs in (True, False):
        form = Format("bar", ("text/x-bar",), (".bar",), read, needs_second=needs)
        monkeypatch.setattr(registry, "every", lambda form=form: registry.ours() | {form.name: form})
        with Deidentifier("strict", detectors=("rules",)) as deid:
            result = deid.deidentify(f"{NOTE}|".encode(), media_type="text/x-bar")
        outcomes.append((result.verdict.outcome, [code for code, _ in _codes(result)]))
        if needs:
            with pytest.raises(LookupError):
                registry.second_reading(b"x|", "text/x-bar")
    assert outcomes == [("review", ["not-verified"]), ("release", [])]


def test_what_a_reviewer_cannot_see_is_checked_after_an_approval(monkeypatch: pytest.MonkeyPatch) -> None:
    form = Format("bar", ("text/x-bar",), (".bar",), read, second=everything)
    monkeypatch.setattr(registry, "every", lambda: registry.ours() | {form.name: form})
    spans = {"body": ((0, 12, "PATIENT"), (25, 35, "DATE"))}
    with Deidentifier("strict") as deid:
        clean, hidden = (
            deid.deidentify(Item(f"{NOTE}|{more}".encode(), media_type="text/x-bar", spans=spans))
            for more in ("", "by emily carter")
        )
    assert NOTE[25:35] == "03/16/2025"
    assert clean.data == b"[PERSON] was seen on [DATE] for knee pain.|"
    assert hidden.verdict.outcome == "quarantine"
    assert ("second-reader", "PATIENT") in _codes(hidden)


def test_the_structured_fields_of_a_child_are_replaced_and_known(monkeypatch: pytest.MonkeyPatch) -> None:
    class Card(StretchDocument):
        def __init__(self, content: str) -> None:
            super().__init__(content, {})
            self.actions = (FieldAction(Text(content, "name"), 0, len(content), "mask", "PATIENT"),)

        def rewritten(self, changes: object, values: object) -> str:
            [value] = dict(values).values()  # type: ignore[call-overload]  # a mapping
            return str(value)

    class Folder(StretchDocument):
        def __init__(self, content: str) -> None:
            text, _, name = content.partition("|")
            super().__init__(content, {"body": (0, len(text))})
            self.children = {"card": Card(name)}

        def rewritten(self, changes, values):  # type: ignore[no-untyped-def]  # the signature of the base class
            [(action, value)] = values.items()
            assert action.text.field == "card/name"
            return super().rewritten(changes, values).partition("|")[0] + f"|{value}"

    def open_folder(stream: BinaryIO, media_type: str) -> Iterator[Document]:
        yield Folder(stream.read().decode())

    form = Format("folder", ("text/x-folder",), (".folder",), open_folder, needs_second=False)
    monkeypatch.setattr(registry, "every", lambda: registry.ours() | {form.name: form})
    with Deidentifier("strict") as deid:
        result = deid.deidentify(b"Knee pain in Ms. Qarterova|Olga Qarterova", media_type="text/x-folder")
    assert result.data == b"Knee pain in Ms. [PERSON]|[PATIENT]"


def test_a_name_found_in_one_text_of_a_document_is_replaced_in_its_other_texts() -> None:
    mail = b"Subject: Zofia in the clinic\r\n\r\nMrs. Zofia Lindqvist-Marr was seen on 03/16/2025.\r\n"
    with Deidentifier(detectors=["rules"]) as deid:
        result = deid.deidentify(mail, media_type="message/rfc822")
    assert result.data == b"Subject: [PERSON] in the clinic\r\n\r\nMrs. [PERSON] was seen on [DATE].\r\n"


def test_documents_inside_each_other_are_opened_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def open_doll(stream: BinaryIO, media_type: str) -> Iterator[Document]:
        content = stream.read().decode()
        document = StretchDocument(content, {})
        if content:
            document.children = {"inner": nested(content[1:].encode(), "text/x-doll", "inner")[1]}
        yield document

    form = Format("doll", ("text/x-doll",), (".doll",), open_doll)
    monkeypatch.setattr(registry, "every", lambda: registry.ours() | {form.name: form})
    registry.open_one(b"o" * MOST_DEPTH, "text/x-doll")
    with pytest.raises(RecordProblem, match="inside each other") as problem:
        registry.open_one(b"o" * (MOST_DEPTH + 1), "text/x-doll")
    assert problem.value.field == "/".join(["inner"] * (MOST_DEPTH + 1))


def test_a_part_without_a_reader_is_refused_by_its_content_whatever_its_declared_type() -> None:
    with pytest.raises(RecordProblem) as problem:
        nested(b"%!PS-Adobe-3.0\n%\xe2\xe3\n1 0 obj", "text/plain", "attachment 2")
    assert (problem.value.code, problem.value.field) == ("unsupported-format", "attachment 2")
    form, document = nested(b"Seen by Dr. Carter.", "text/plain; charset=utf-8", "attachment 1")
    assert (form.name, document.texts[0].content) == ("text", "Seen by Dr. Carter.")

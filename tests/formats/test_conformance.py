"""Requirements for every format: untouched bytes, edits only as requested, positions, refusals, and bounded memory."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, BinaryIO, cast

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from incognote.errors import AccountingError, RecordProblem
from incognote.formats.audio import SOUNDS
from incognote.formats.base import ByteRange, Document, FieldEdit, TextEdit, Unreadable
from incognote.formats.registry import PROVEN, every, open_documents
from incognote.schemas.registry import Registry

from .samples import Sample

SAMPLES: dict[str, Sample] = {
    sample.form.name: sample
    for module in iter_modules([str(Path(__file__).parent / "samples")])
    for sample in import_module(f".samples.{module.name}", __package__).SAMPLES
}
REGISTRY = Registry()
WORDS = st.lists(
    st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs"), include_characters='"\\\n\t😀'), min_size=3),
    min_size=1,
    max_size=4,
).map(lambda texts: [f"x{text.strip()}x" for text in texts])
each_format = pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)


class CountingStream(io.BufferedReader):
    """A stream that counts the bytes read from it."""

    taken = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.taken += len(data)
        return data

    def read1(self, size: int = -1, /) -> bytes:
        data = super().read1(size)
        self.taken += len(data)
        return data

    def readline(self, size: int | None = -1, /) -> bytes:
        data = super().readline(size)
        self.taken += len(data)
        return data


def _stream(data: bytes) -> CountingStream:
    return CountingStream(cast(Any, io.BytesIO(data)))


def _documents(sample: Sample, data: bytes) -> list[Document]:
    return list(_opened(sample, cast(BinaryIO, _stream(data))))


def _opened(sample: Sample, stream: BinaryIO) -> Iterator[Document]:
    for each in open_documents(sample.form, stream):
        assert isinstance(each, Document)
        yield each.under(REGISTRY, "note")


def _written(document: Document, edits: Sequence[TextEdit] = ()) -> bytes:
    same = [FieldEdit(action, action.text.content[action.start : action.end]) for action in document.actions]
    out = io.BytesIO()
    document.rebuild([*same, *edits], out)
    return out.getvalue()


def test_every_format_has_a_sample() -> None:
    # rows of Parquet are no stretches of bytes (test_parquet.py); files in archives are sources (test_archive.py);
    # the texts of images are read from their pixels (images/test_document.py), and recordings are heard (audio)
    images = {"png", "jpeg", "tiff", "bmp", "gif", "webp"}
    assert SAMPLES.keys() | {"parquet", "zip", "tar"} | images | SOUNDS == every().keys()


@each_format
@given(texts=WORDS)
def test_what_nobody_edits_is_written_back_byte_for_byte(sample: Sample, texts: list[str]) -> None:
    assume(sample.suits(texts))
    data = sample.make(texts)
    documents = _documents(sample, data)
    assert len(documents) == (len(texts) if sample.many else 1)
    assert all(_written(document) == document.data for document in documents)
    written = documents[0].head + b"".join(_written(document) + document.after for document in documents)
    assert written == data.replace(b"\n\n", b"\n") if sample.form.name == "lines" else written == data  # drops blanks


@each_format
@given(texts=WORDS)
def test_the_texts_are_those_of_the_source(sample: Sample, texts: list[str]) -> None:
    assume(sample.suits(texts))
    found = [text.content for document in _documents(sample, sample.make(texts)) for text in document.texts]
    assert found == texts if sample.many else "".join(found).split() == " ".join(texts).split()


@each_format
@given(texts=WORDS, drawn=st.data())
def test_a_stretch_that_is_deleted_leaves_all_other_bytes_as_they_are(
    sample: Sample, texts: list[str], drawn: st.DataObject
) -> None:
    if sample.form.packed:
        return  # a stretch of a text is no range of its bytes
    document = drawn.draw(st.sampled_from(_documents(sample, sample.make(texts))))
    text = drawn.draw(st.sampled_from(document.texts))
    start, end = sorted(drawn.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    places = document.places(text.field, start, end)
    left, at = b"", 0
    for place in places:
        assert isinstance(place, ByteRange)
        left, at = left + document.data[at : place.start], place.end
    assert _written(document, [TextEdit(text.field, start, end, "")]) == left + document.data[at:]


@each_format
@given(texts=WORDS, drawn=st.data())
def test_an_edited_source_reads_as_its_texts_with_the_edit(
    sample: Sample, texts: list[str], drawn: st.DataObject
) -> None:
    assume(sample.suits(texts))
    new = drawn.draw(st.text(sample.letters, min_size=1))
    data = sample.make(texts)
    document = drawn.draw(st.sampled_from(_documents(sample, data)))
    text = drawn.draw(st.sampled_from(document.texts))
    start, end = sorted(drawn.draw(st.tuples(*[st.integers(1, len(text) - 1)] * 2)))
    source = document.head + _written(document, [TextEdit(text.field, start, end, new)]) + document.after
    [again] = _documents(sample, source)
    plain = sample.form.name in PROVEN  # in a document, layout is no difference
    assert [one.content if plain else "".join(one.content.split()) for one in again.texts] == [
        edited if plain else "".join(edited.split())
        for one in document.texts
        for edited in [text.content[:start] + new + text.content[end:] if one == text else one.content]
    ]


@each_format
def test_edits_that_do_not_fit_are_refused(sample: Sample) -> None:
    [document] = _documents(sample, sample.make(["Seen by Dr. Carter."]))
    field = document.texts[0].field
    for edits in (
        [TextEdit("no such text", 0, 1, "x")],
        [TextEdit(field, 0, 3, "x"), TextEdit(field, 2, 4, "x")],
    ):
        with pytest.raises(AccountingError):
            _written(document, edits)


@each_format
def test_a_damaged_source_is_refused_with_its_reason(sample: Sample) -> None:
    assert sample.damaged
    for data, code in sample.damaged:
        [each] = open_documents(sample.form, cast(BinaryIO, _stream(data)))
        if isinstance(each, Unreadable):
            assert each.reason.code == code
            continue
        with pytest.raises(RecordProblem) as problem:
            each.under(REGISTRY, "note")
        assert problem.value.code == code


@each_format
def test_a_source_of_many_documents_is_not_read_ahead(sample: Sample) -> None:
    if not sample.many:
        return
    data = sample.make(["a note of some length"] * 50_000)
    stream = _stream(data)
    documents = _opened(sample, cast(BinaryIO, stream))
    next(documents)
    assert 0 < stream.taken < len(data) / 10
    assert sum(1 for _ in documents) == 49_999

"""Write the output of a document, open it again, and let second readers see it."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

from incognote.errors import AccountingError, RecordProblem
from incognote.formats.base import (
    Change,
    Document,
    Edit,
    FieldAction,
    Format,
    SeenLine,
    actions_of,
    always_of,
    joined_edits,
    of_child,
    splice,
    split_edits,
    texts_of,
    written_of,
)
from incognote.formats.pictures import PagedDocument, pictures_are_read
from incognote.formats.registry import PROVEN, FormatMismatch, UnreadableSource, knowing_outputs, open_one
from incognote.nouns import Reason

UNENCODABLE = Reason("encoding", "", "the new text has a character that the encoding of its file cannot represent")


def rebuilt(
    form: Format, document: Document, changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]
) -> bytes:
    """Return the new bytes of a document, with the bytes before and after it in its source.

    Args:
        changes: the changes by field of a text.
        values: the new value of every structured field.

    Raises:
        AccountingError: as in `Document.rebuild`.
        UnreadableSource: the encoding of the source cannot represent the new words.
        FormatMismatch: the output, read again, does not equal the texts and structured fields with their edits.
    """
    edits = joined_edits(changes, values)
    paged = document if isinstance(document, PagedDocument) else None
    while True:
        data = _written(document, edits)
        if form.name in PROVEN:
            return data
        try:
            again = _opened_again(form, document, data, edits)
        except RecordProblem:
            again = None
        if again is not None and _solid(_readable(again)) == _solid(_expected(document, changes, values)):
            return data
        if paged is None or again is None or not paged.draw_more(again, changes):
            raise FormatMismatch(f"the {form.name} reader does not write the content that it read")


def _opened_again(form: Format, document: Document, data: bytes, edits: Sequence[Edit]) -> Document:
    """Return an output opened with what its original, and the documents in that, know of it.

    A picture in an output is always read, since one that was not read must not be in it.
    """
    with pictures_are_read():
        again = document.reopened(data, split_edits(edits)[0]) or open_one(data, form.media_types[0])[1]
        if document.registry is not None:
            again = again.under(document.registry, None)
        _reopen_children(document, again, edits)
    return again


def _reopen_children(document: Document, again: Document, edits: Sequence[Edit]) -> None:
    """Open the documents in an output with what their originals know of them."""
    found = dict(again.children)
    for name in document.children.keys() & found.keys():
        child, made, own = document.children[name], found[name], of_child(edits, name)
        known = child.reopened(made.head + made.data + made.after, split_edits(own)[0])
        if known is not None:
            made = known if child.registry is None else known.under(child.registry, None)
        _reopen_children(child, made, own)
        found[name] = made
    if found:
        vars(again)["children"] = found  # a record is frozen


def _written(document: Document, edits: Sequence[Edit]) -> bytes:
    out = io.BytesIO()
    try:
        document.rebuild(edits, out)
    except UnicodeEncodeError:
        raise UnreadableSource(UNENCODABLE) from None
    return document.head + out.getvalue() + document.after


def _solid(read: tuple[list[tuple[str, str]], dict[str, str]]) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Return texts and fields without white space: an edit over two paragraphs or cells leaves their layout as it is.

    A text without any other character is left out, since its paragraphs may be gone.
    """
    texts, fields = read
    solid = [(field, "".join(content.split())) for field, content in texts]
    return [each for each in solid if each[1]], {path: "".join(value.split()) for path, value in fields.items()}


def _readable(document: Document) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Return the texts with their fields, in order, and the structured fields by path."""
    fields = {action.text.field: action.text.content for action in actions_of(document)}
    return [(text.field, text.content) for text in texts_of(document)], fields


def _expected(
    document: Document, changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]
) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Return the expected texts and structured fields of a document after its edits.

    Raises:
        AccountingError: an edit is not for this document, or a structured field has no edit.
    """
    texts, fields = _readable(document)
    if changes.keys() - {field for field, _ in texts} or set(values) != set(actions_of(document)):
        raise AccountingError("edits do not belong to this document, or a structured field has no edit")
    stretches: dict[str, list[Change]] = {}
    for action, value in values.items():
        new = written_of(document, action, value)
        if new is None:
            fields.pop(action.text.field, None)
        else:
            field = action.text.field
            stretches.setdefault(field, list(always_of(document, field))).append((action.start, action.end, new))
    return (
        [(field, splice(content, changes.get(field, ()))) for field, content in texts],
        {path: splice(content, stretches.get(path, ())) for path, content in fields.items()},
    )


def second_of(
    form: Format, document: Document | None, output: bytes, changes: Mapping[str, Sequence[Change]],
    values: Mapping[FieldAction, str],
) -> list[str]:  # fmt: skip
    """Return what the second readers see in an output and in the documents within it.

    A document of pages within it reads its own output. The second reader of the whole must find that output there.

    Args:
        form: a format with a second reader.
        document: the original of the output, or None for a plain text.
        changes, values: as in `rebuilt`.

    Raises:
        Exception: it cannot be read.
        LookupError: the output of a document within it is not there.
    """
    assert form.second is not None
    if document is None:
        return list(form.second(output))
    own = document.second(output, changes)
    outputs: dict[bytes, bool] = {}
    lines = [*_second_within(document, joined_edits(changes, values), outputs), *(own or ())]
    if own is None:
        with knowing_outputs(outputs):
            lines += form.second(output)
        if not all(outputs.values()):
            raise LookupError("the output of an inner document is not there")
    return lines


def _second_within(document: Document, edits: Sequence[Edit], outputs: dict[bytes, bool]) -> Iterator[str]:
    """Yield what inner documents see in their own outputs, for those that read them themselves. Note these outputs."""
    for name, child in document.children.items():
        own = of_child(edits, name)
        lines: Iterable[str] | None = None
        if type(child).second is not Document.second:
            data = _written(child, own)
            lines = child.second(data, split_edits(own)[0])
        if lines is None:
            lines = _second_within(child, own, outputs)
        else:
            outputs[data] = False
        for line in lines:
            yield line.within(name) if isinstance(line, SeenLine) else line

"""Readers and writers for the formats of annotated texts and of systems' findings, in one registry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from incognote.errors import MalformedRecord, UnknownName, UsageError
from incognote.evaluation.formats.base import CorpusFormat
from incognote.evaluation.formats.document import CorpusDocument, CorpusProblem, Gold, LabeledSpan
from incognote.evaluation.formats.names import ours, theirs
from incognote.evaluation.formats.source import HEAD, Look, opened, suffix
from incognote.plugins import installed, load

__all__ = [
    "CorpusDocument",
    "CorpusFormat",
    "annotated",
    "detect_format",
    "documents",
    "format_named",
    "format_of_output",
    "formats",
    "ours",
    "renamed",
]

_IN_A_FOLDER = (".ann", ".xml", ".json", ".jsonl", ".ndjson", ".spacy", ".conll", ".bio", ".iob", ".bilou", ".out")


_OF_BENCHMARKS = ("aws", "johnsnow", "katherlab", "obi", "presidio", "presidio-research")
_ELSEWHERE = "to read results of other systems, install incognote-benchmarks"


@cache
def formats() -> Mapping[str, CorpusFormat]:
    """The formats by name, in the order in which they are tried on a file. Those of installed packages come first."""
    from incognote.evaluation.formats import brat, conll, docbin, i2b2, inception, jsonrows

    listed = (
        brat.BRAT, i2b2.I2B2_2014, i2b2.MEDDOCAN, i2b2.I2B2_2006, docbin.DOCBIN, inception.INCEPTION,
        jsonrows.TAB, jsonrows.OWN, conll.CONLL,
    )  # fmt: skip
    others = (load("incognote.corpus_formats", name) for name in installed("incognote.corpus_formats"))
    return {one.name: one for one in (*others, *listed)}


def format_named(name: str) -> CorpusFormat:
    """Return the format with a name.

    Raises:
        UnknownName: there is none.
    """
    if name in _OF_BENCHMARKS and name not in formats():
        raise UsageError(f"The format {name!r} needs the package incognote-benchmarks, which is not installed.")
    if name not in formats():
        raise UnknownName("format", name, dict(formats()))
    return formats()[name]


def detect_format(path: str | Path) -> CorpusFormat:
    """Detect the format of a file or folder from its first bytes, otherwise from its suffix.

    Raises:
        UsageError: it cannot be read, or no format fits.
    """
    path = Path(path)
    looked = path
    if path.is_dir():
        found = {suffix(one): one for one in sorted(path.rglob("*"), reverse=True) if one.is_file()}
        looked = next((found[ending] for ending in _IN_A_FOLDER if ending in found), path)
        if looked is path:
            raise UsageError(f"The format of the folder {path.name} is unknown: no file in it is of a known kind.")
    with opened(looked) as stream:
        look = Look(looked, path.is_dir(), stream.read(HEAD))
    for one in formats().values():
        if one.fits(look):
            return one
    for one in formats().values():
        if look.suffix in one.suffixes and look.suffix != ".xml":
            return one
    more = "" if all(name in formats() for name in _OF_BENCHMARKS) else f"; {_ELSEWHERE}"
    raise UsageError(
        f"The format of {path.name} is unknown. Name it with --from: {', '.join(sorted(formats()))}{more}."
    )


def format_of_output(path: str | Path) -> CorpusFormat:
    """The format for an output's suffix.

    Raises:
        UsageError: no format has this suffix.
    """
    for one in formats().values():
        if one.write is not None and suffix(Path(path)) in one.suffixes:
            return one
    writable = sorted(name for name, one in formats().items() if one.write is not None)
    raise UsageError(f"The format of the output is unknown. Name it with --to: {', '.join(writable)}.")


def documents(
    path: str | Path, form: str | None = None
) -> tuple[CorpusFormat, Iterator[CorpusDocument | CorpusProblem]]:
    """The format of a file or folder, and its documents in their original form.

    Args:
        form: the format's name; detected from the content if None.

    Raises:
        UsageError: it cannot be read, no format fits, or `form` is unknown.
    """
    one = format_named(form) if form else detect_format(path)
    if not Path(path).exists():
        raise UsageError(f"{Path(path).name} does not exist. Check the path.")
    return one, one.read(Path(path))


def annotated(path: str | Path, form: str | None = None, types: str = "ours") -> Iterator[Gold | CorpusProblem]:
    """The annotated texts of a file or folder in order, with each mark checked against the text.

    A document becomes a CorpusProblem if any of its marks does not fit, or if its id occurred before.

    Args:
        types: as for `renamed`.

    Raises:
        UsageError: as for `documents`.
    """
    one, read = documents(path, form)
    seen: set[str] = set()
    for document in read:
        if isinstance(document, CorpusProblem):
            yield document
            continue
        try:
            if document.id in seen:
                raise MalformedRecord("the id occurs twice")
            seen.add(document.id)
            text, labels = document.gold()
            yield Gold(document.id, text, renamed(labels, one, types))
        except MalformedRecord as error:
            yield CorpusProblem(document.id, str(error))


def renamed(labels: tuple[LabeledSpan, ...], form: CorpusFormat, types: str = "ours") -> tuple[LabeledSpan, ...]:
    """Rename the types of a format's labels.

    Args:
        types: "source" for the file's own names; "ours" for those of our catalogue if it has the kind; or i2b2,
            presidio, aws or azure.
    """
    if types == "source":
        return labels
    names = {name: ours(name, form.scheme) for name in {label.type for label in labels}}
    if types != "ours":
        names = {name: theirs(ours_, types) for name, ours_ in names.items()}
    if all(name == new for name, new in names.items()):
        return labels
    return tuple(LabeledSpan(start, end, names[type_]) for start, end, type_ in labels)

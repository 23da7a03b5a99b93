"""Convert annotated texts from one format to another."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incognote.errors import MalformedRecord, UnknownName, UsageError
from incognote.evaluation.experiments.seal import log_opening
from incognote.evaluation.formats import annotated, documents, format_named, format_of_output, ours
from incognote.evaluation.formats.document import CorpusProblem
from incognote.evaluation.formats.names import IN_CATALOGUE
from incognote.files.atomic import require_writable

TYPES = ("source", "ours", *IN_CATALOGUE)


@dataclass
class Conversion:
    """What was converted, and what was left out.

    Attributes:
        source, target: the formats' names.
        documents, spans: how many were written.
        types: the number of spans per type, under the names that were written.
        problems: documents that were left out, each with its reason.
    """

    source: str
    target: str
    documents: int = 0
    spans: int = 0
    types: Counter[str] = field(default_factory=Counter)
    problems: list[CorpusProblem] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON-serializable dict."""
        return {
            "source": self.source,
            "target": self.target,
            "documents": self.documents,
            "spans": self.spans,
            "types": dict(self.types.most_common()),
            "problems": [{"id": problem.id, "what": problem.what} for problem in self.problems],
        }

    def lines(self) -> Iterator[str]:
        """The lines to print in a terminal: each type with the one of ours that it maps to, and every problem."""
        yield f"{self.documents:,} documents with {self.spans:,} spans, from {self.source} to {self.target}"
        for type_, count in self.types.most_common():
            meant = ours(type_, format_named(self.source).scheme)
            yield f"  {count:>8,}  {type_}" + (f" (our {meant})" if meant != type_ else "")
        for problem in self.problems:
            yield f"left out: {problem.id}: {problem.what}"


def convert(
    source: str | Path, out: str | Path, form: str | None = None, to: str | None = None, *, types: str = "source",
    overwrite: bool = False,
) -> Conversion:
    """Write annotated texts in another format. The output is written completely or not at all.

    A document is left out and reported if its spans do not fit its text, or if the format cannot represent it.

    Args:
        form, to: the formats' names; if None, detected from the content and from the output's suffix.
        types: the naming of the types in the output, one of `TYPES`.
        overwrite: whether to replace an existing file; a folder is never replaced.

    Raises:
        UsageError: the input cannot be read, a format cannot be detected or written, or the output would overwrite the
            input.
    """
    if types not in TYPES:
        raise UnknownName("naming of types", types, TYPES)
    target = format_of_output(out) if to is None else format_named(to)
    if target.write is None:
        raise UsageError(f"{target.name} is a read-only format: the output of another system. Choose another --to.")
    if os.path.realpath(source) == os.path.realpath(out):
        raise UsageError("OUT is the input. Choose another path.")
    if not Path(out).is_dir():
        require_writable(Path(out), overwrite=overwrite)
    log_opening(source, "convert")
    form_found = documents(source, form)[0]
    done = Conversion(form_found.name, target.name)
    with target.write(Path(out)) as sink:
        for document in annotated(source, form_found.name, types):
            if isinstance(document, CorpusProblem):
                done.problems.append(document)
                continue
            try:
                sink.add(document)
            except MalformedRecord as error:
                done.problems.append(CorpusProblem(document.id, str(error)))
                continue
            done.documents += 1
            done.spans += len(document.labels)
            done.types.update(label.type for label in document.labels)
        if not done.documents:
            reasons = "; ".join(sorted({problem.what for problem in done.problems})[:3]) or "the input is empty"
            raise UsageError(f"No document of {Path(source).name} can be converted ({reasons}).")
    return done

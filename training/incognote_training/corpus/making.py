"""Write the corpus to a file, and compute the figures for its data sheet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import quantiles
from typing import Any

from incognote.files.atomic import AtomicFile
from incognote_training.config import Synth
from incognote_training.corpus import annotated, marked
from incognote_training.corpus.document import Document
from incognote_training.corpus.injection import Source
from incognote_training.corpus.material import families
from incognote_training.corpus.overlap import Measured
from incognote_training.corpus.synthesis import synthesize

Watch = Callable[[int], None]


def documents(settings: Synth, apart: Sequence[str | Path] = ()) -> Iterator[Document]:
    """The training documents: handwritten ones, real prose annotated by a language model, and synthetic ones.

    Args:
        apart: annotated files. A document that shares a run of eight words with them is left out.

    Raises:
        SettingError, UsageError: the prose folder has no prose, or other texts than the annotated ones.
        MissingExtra: Faker is not installed.
        MalformedRecord: a handwritten note is malformed.
    """
    measured = Measured(apart)
    prose = Source(settings.prose) if settings.prose else None
    if settings.handwritten:
        yield from (one for one in marked.read() if not measured.shares(one.text))
    if settings.prose and settings.annotated:
        yield from (one for one in annotated.read(settings.prose) if not measured.shares(one.text))
    made = synthesize(settings.seed, settings.n, clean=settings.clean, corrupt=settings.corrupt, prose=prose)
    yield from (one for one in made if not measured.shares(one.text))


def make(
    settings: Synth, out: str | Path, apart: Sequence[str | Path] = (), watch: Watch | None = None
) -> dict[str, Any]:
    """Write the corpus, completely or not at all, and return its figures.

    Raises:
        as `documents`; IncognoteError: the file cannot be written.
    """
    sheet = Sheet()
    with AtomicFile(Path(out)) as file:
        for number, document in enumerate(documents(settings, apart), 1):
            file.write(document.line().encode())
            sheet.add(document)
            if watch is not None:
                watch(number)
    return sheet.figures()


class Sheet:
    """The figures of a corpus, counted while it is made."""

    def __init__(self) -> None:
        self._types: Counter[str] = Counter()
        self._styles: Counter[str] = Counter()
        self._sources: Counter[str] = Counter()
        self._lengths: list[int] = []
        self._clean = 0

    def add(self, document: Document) -> None:
        """Count one document."""
        self._types.update(span.type for span in document.spans)
        self._styles[document.style] += 1
        self._sources[document.source.partition("+")[0]] += 1
        self._lengths.append(len(document.text.split()))
        self._clean += not document.spans

    def figures(self) -> dict[str, Any]:
        """Documents, spans, and words, the share without PHI, lengths in words at five percentiles, counts by type."""
        n = len(self._lengths)
        cuts = quantiles(self._lengths, n=20) if n > 1 else [0.0] * 19
        return {
            "documents": n, "spans": self._types.total(), "words": sum(self._lengths), "families": len(families()),
            "styles": len(self._styles), "clean": round(self._clean / n, 4) if n else 0.0,
            "lengths": {"p5": cuts[0], "p25": cuts[4], "p50": cuts[9], "p75": cuts[14], "p95": cuts[18]},
            "sources": dict(self._sources.most_common()), "types": dict(self._types.most_common()),
        }  # fmt: skip


def page(figures: dict[str, Any], shared: float, settings: Synth) -> str:
    """Format the figures as Markdown, for the data sheet."""
    lengths = ", ".join(f"{name} {value:,.0f}" for name, value in figures["lengths"].items())
    rows = [
        ("documents", f"{figures['documents']:,}"),
        ("of which", ", ".join(f"{name} {count:,}" for name, count in figures["sources"].items())),
        ("families", f"{figures['families']:,}"),
        ("words", f"{figures['words']:,}"),
        ("spans", f"{figures['spans']:,}"),
        ("without PHI", f"{100 * figures['clean']:.1f}%"),
        ("with errors of OCR, typing or encoding", f"about {100 * settings.corrupt:.0f}%"),
        ("words per document, percentiles", lengths),
        ("share a run of eight words with another", f"{100 * shared:.1f}%"),
    ]
    types = ", ".join(f"{name} {count:,}" for name, count in figures["types"].items())
    table = "\n".join(f"| {name} | {value} |" for name, value in rows)
    return f"| seed {settings.seed} | |\n|---|---|\n{table}\n\nSpans by type: {types}.\n"

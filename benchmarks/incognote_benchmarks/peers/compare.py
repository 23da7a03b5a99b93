"""Compare peers on one corpus with one scorer."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incognote.errors import UsageError
from incognote.evaluation.corpus import Gold, read_gold
from incognote.evaluation.experiments.seal import log_opening
from incognote.evaluation.formats.document import LabeledSpan
from incognote.evaluation.intervals import Figure
from incognote.evaluation.report import ScoreReport
from incognote.evaluation.scores import RESAMPLES, evaluate
from incognote.schemas.catalogue import catalogue
from incognote_benchmarks.peers.base import Absent, Detected, Peer, PeerFailed


@dataclass(frozen=True, slots=True)
class Scored:
    """A peer's scores and its cost; `detected` is None for predictions in a file."""

    name: str
    version: str
    about: str
    report: ScoreReport
    detected: Detected | None = None
    failed: int = 0

    @property
    def figures(self) -> Mapping[str, Figure]:
        """The headline scores. A system that names no types has no precision within annotated groups."""
        row = self.report.groups.get("UNTYPED")
        if row is None or not row.precision.of:
            return self.report.figures
        return {**self.report.figures, "precision_in_annotated_groups": Figure(None, None, None, 0)}


@dataclass(frozen=True, slots=True)
class Comparison:
    """The results on one corpus.

    Attributes:
        corpus: its name.
        scored: the systems that ran.
        absent: the others, with the reason.
        unscored: spans by type, for types that our catalogue does not have. No system is scored on them.
    """

    corpus: str
    scored: tuple[Scored, ...]
    absent: Mapping[str, str]
    unscored: Mapping[str, int]

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as a JSON-serializable dict, without words or ids of texts."""
        return {
            "corpus": self.corpus,
            "provenance": self.scored[0].report.provenance if self.scored else None,
            "unscored": dict(self.unscored),
            "absent": dict(self.absent),
            "peers": [_row(one) for one in self.scored],
        }


def _row(one: Scored) -> dict[str, Any]:
    took = one.detected
    return {
        "name": one.name,
        "version": one.version,
        "about": one.about,
        "failed": one.failed,
        "characters_per_cpu_second": took and took.characters_per_second,
        "peak_mb": took and took.peak_mb,
        "ready_seconds": took and took.ready_seconds,
        "figures": {name: figure.as_dict() for name, figure in one.figures.items()},
        "groups": {
            name: {"recall": row.recall.as_dict(), "precision": row.precision.as_dict()}
            for name, row in one.report.groups.items()
            if row.recall.of
        },
    }


def compare(
    gold: str | Path,
    peers: Sequence[Peer],
    predictions: Mapping[str, Path] | None = None,
    *,
    synthetic: bool | None = None,
    resamples: int = RESAMPLES,
    said: Callable[[str], None] = lambda line: None,
) -> Comparison:
    """Run all peers that are installed, and score them and the prediction files.

    Args:
        gold: a corpus in any format of `formats/`.
        predictions: files by the name of the system that made them.
        synthetic: whether the corpus is made up; None if that is not stated.
        said: called with a line for each peer that runs, or is absent and why.

    Raises:
        UsageError: the corpus cannot be read, or nothing can be scored.
    """
    log_opening(gold, "peers")
    documents = [one for one in read_gold(gold) if isinstance(one, Gold)]
    if not documents:
        raise UsageError(f"no gold, no score: {Path(gold).name} has no document that can be scored")
    corpus = Path(gold).name.removesuffix(".gz").removesuffix(".jsonl")
    unscored = Counter(label.type for one in documents for label in one.labels if label.type not in catalogue())
    scored: list[Scored] = []
    absent: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:  # readable by its owner only
        truth = Path(folder) / "gold.jsonl"
        known = [[label for label in one.labels if label.type in catalogue()] for one in documents]
        pairs = zip(documents, known, strict=True)
        _write(truth, [{**_line(one.id, labels), "text": one.text} for one, labels in pairs])

        def score(file: Path) -> ScoreReport:
            return evaluate(truth, file, corpus=corpus, synthetic=synthetic, resamples=resamples)

        for peer in peers:
            said(f"{peer.name} reads {corpus}")
            try:
                detected = peer.detect([one.text for one in documents])
            except (Absent, PeerFailed) as error:
                said(str(error))
                absent[peer.name] = str(error)
                continue
            found = Path(folder) / "found.jsonl"
            _write(found, [_line(one.id, labels) for one, labels in zip(documents, detected.labels, strict=True)])
            failed = sum(labels is None for labels in detected.labels)
            scored.append(Scored(peer.name, peer.version, peer.about, score(found), detected, failed))
        for name, file in (predictions or {}).items():
            report = score(file)
            scored.append(Scored(name, "", "predictions in a file", report, failed=len(report.problems)))
    return Comparison(corpus, tuple(scored), absent, dict(unscored))


def _line(id_: str, labels: Sequence[LabeledSpan] | None) -> dict[str, Any]:
    if labels is None:
        return {"id": id_, "error": "the peer failed"}
    return {"id": id_, "spans": [{"start": start, "end": end, "type": type_} for start, end, type_ in labels]}


def _write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

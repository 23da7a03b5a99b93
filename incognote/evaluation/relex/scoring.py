"""All metrics of relexicalization over one run: RedactOR §A.7, each with its interval."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incognote.evaluation.experiments.seal import log_opening
from incognote.evaluation.intervals import Figure
from incognote.evaluation.relex.coherence import Reader, coherent, judged, rules_reader
from incognote.evaluation.relex.consistency import Consistency, consistency
from incognote.evaluation.relex.downstream import Grouped, model_consistency
from incognote.evaluation.relex.hiding import SHARE, Hidden, hiding
from incognote.evaluation.relex.pairs import RESAMPLES, MentionPair, NotePair, read_pairs, share_of

Verdicts = Mapping[str, bool]
Judged = Sequence[tuple[NotePair, MentionPair, Verdicts]]


@dataclass(frozen=True, slots=True)
class RelexReport:
    """What a run is worth. No words of a note.

    Attributes:
        notes, patients, mentions: of the gold.
        replaced: share of gold mentions that the run replaced exactly.
        extra: places it replaced that no annotator marked.
        preservation: the entity preservation rate (`role`), by group of types, and each attribute.
        coherence: the share of replaced mentions nothing speaks against (`score`), and each respect.
        consistency, model, hiding: as their modules say; `model` is empty for one patient alone.
    """

    notes: int
    patients: int
    mentions: int
    replaced: Figure
    extra: int
    preservation: Mapping[str, Figure]
    coherence: Mapping[str, Figure]
    consistency: Consistency
    model: Grouped
    hiding: Mapping[str, Hidden]

    def as_dict(self) -> dict[str, Any]:
        """JSON-able."""
        return {
            "notes": self.notes,
            "patients": self.patients,
            "mentions": self.mentions,
            "replaced": self.replaced.as_dict(),
            "extra": self.extra,
            "preservation": {name: figure.as_dict() for name, figure in self.preservation.items()},
            "coherence": {name: figure.as_dict() for name, figure in self.coherence.items()},
            "consistency": self.consistency.as_dict(),
            "model": {by: {name: shift.as_dict() for name, shift in own.items()} for by, own in self.model.items()},
            "hiding": {name: hidden.as_dict() for name, hidden in self.hiding.items()},
        }

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """What, figure with its interval, of how many; for a terminal."""
        yield _row("replaced exactly", self.replaced)
        for head, figures in (("entity preservation", self.preservation), ("contextual coherence", self.coherence)):
            for name, figure in figures.items():
                yield _row(f"{head}: {name}", figure)
        told = self.consistency
        for name, scored in (("names", told.names), ("all types", told.all)):
            yield _row(f"replacement consistency: B-cubed precision (merges), {name}", scored.precision)
            yield _row(f"replacement consistency: B-cubed recall (splits), {name}", scored.recall)
            yield _row(f"replacement consistency: B-cubed F1, {name}", scored.f1)
        for name in ("agreement", "collisions", "merged", "originals", "intervals"):
            yield _row(f"replacement consistency: {name}", getattr(told, name))
        for by, groups in self.model.items():
            for group, shift in groups.items():
                score = f", {shift.before:.3f} before" if shift.before is not None else ""
                whose = group if by == group else f"{by} {group}"
                yield f"model consistency: shift, {whose}{score}", str(shift.shift), f"{shift.notes} notes"
        for name, hidden in self.hiding.items():
            found = f", {hidden.found:.3f} found ({hidden.chance:.3f} by chance)" if hidden.found is not None else ""
            yield f"hiding in plain sight: factor, {name}{found}", str(hidden.factor), str(hidden.planted)


def evaluate_relex(
    gold: str | Path,
    out: str | Path,
    *,
    planted: float = SHARE,
    reader: Reader = rules_reader,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> RelexReport:
    """Score what `incognote relex` made of annotated notes.

    Args:
        gold, out: as `read_pairs` takes them.
        planted: the share of mentions put back for the attackers.
        reader: who judges what surrogates look like in their notes.

    Raises:
        UsageError: the files are of other notes or not of one run.
    """
    log_opening(gold, "evaluate-relex")
    notes = read_pairs(gold, out)
    shares = [(note.patient, mention.surrogate is not None, 1) for note in notes for mention in note.mentions]
    kept = [one for one in judged(notes) if one[1].surrogate is not None]
    fitting = coherent(notes, reader)
    patients = len({note.patient for note in notes})
    return RelexReport(
        notes=len(notes),
        patients=patients,
        mentions=len(shares),
        replaced=share_of(shares, resamples, seed),
        extra=sum(note.extra for note in notes),
        preservation=_figures(kept, "role", resamples, seed) | _by_group(kept, resamples, seed),
        coherence=_coherence(fitting, resamples, seed),
        consistency=consistency(notes, resamples, seed),
        model=model_consistency(notes, resamples, seed) if patients > 1 else {},
        hiding=hiding(notes, planted, resamples=resamples, seed=seed),
    )


def _row(name: str, figure: Figure) -> tuple[str, str, str]:
    return name, str(figure), str(figure.of)


def _figures(verdicts: Judged, first: str, resamples: int, seed: int) -> dict[str, Figure]:
    """Each respect's share, the named one first."""
    names = Counter(name for _, _, told in verdicts for name in told)
    ordered = sorted(names, key=lambda name: (name != first, name))
    return {
        name: share_of(((n.patient, told[name], 1) for n, _, told in verdicts if name in told), resamples, seed)
        for name in ordered
    }


def _by_group(verdicts: Judged, resamples: int, seed: int) -> dict[str, Figure]:
    groups: dict[str, list[tuple[str, float, float]]] = defaultdict(list)
    for note, mention, told in verdicts:
        groups[f"role of {mention.group}"].append((note.patient, told["role"], 1))
    return {name: share_of(rows, resamples, seed) for name, rows in sorted(groups.items())}


def _coherence(verdicts: Judged, resamples: int, seed: int) -> dict[str, Figure]:
    whole = ((note.patient, all(told.values()), 1) for note, _, told in verdicts)
    return {"score": share_of(whole, resamples, seed)} | _figures(verdicts, "whole", resamples, seed)

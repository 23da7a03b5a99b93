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
    """The scores of a run. It holds no words of a note.

    Attributes:
        notes, patients, mentions: their numbers in the gold.
        replaced: share of gold mentions that the run replaced exactly.
        extra: places it replaced that no annotator marked.
        preservation: the entity preservation rate (`role`), by group of types, and each attribute.
        coherence: the share of replaced mentions that pass every check (`score`), and the share for each check.
        consistency, model, hiding: see their modules; `model` is empty if there is only one patient.
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
        """Return the report as a JSON-serializable dict."""
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
        """Rows for a terminal: name, figure with its interval, and the number it is a share of."""
        yield _row("replaced exactly", self.replaced)
        for head, figures in (("entity preservation", self.preservation), ("contextual coherence", self.coherence)):
            for name, figure in figures.items():
                yield _row(f"{head}: {name}", figure)
        scores = self.consistency
        for name, scored in (("names", scores.names), ("all types", scores.all)):
            yield _row(f"replacement consistency: B-cubed precision (merges), {name}", scored.precision)
            yield _row(f"replacement consistency: B-cubed recall (splits), {name}", scored.recall)
            yield _row(f"replacement consistency: B-cubed F1, {name}", scored.f1)
        for name in ("agreement", "collisions", "merged", "originals", "intervals"):
            yield _row(f"replacement consistency: {name}", getattr(scores, name))
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
    """Score the output of `incognote relex` for annotated notes.

    Args:
        gold, out: as for `read_pairs`.
        planted: the share of mentions restored for the attackers.
        reader: judges what surrogates look like in their notes.

    Raises:
        UsageError: the files hold different notes or are not from one run.
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
    """The share for each check, with `first` at the top."""
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

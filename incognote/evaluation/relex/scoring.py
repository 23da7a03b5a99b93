"""All metrics of relexicalization over one run: RedactOR §A.7, each with its interval."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incognote.evaluation.experiments.seal import log_opening
from incognote.evaluation.intervals import Figure
from incognote.evaluation.relex.chronology import chronology
from incognote.evaluation.relex.coherence import Reader, coherent, judged, rules_reader
from incognote.evaluation.relex.consistency import Consistency, consistency
from incognote.evaluation.relex.downstream import Grouped, conditions_kept, model_consistency
from incognote.evaluation.relex.geography import geography
from incognote.evaluation.relex.hiding import SHARE, Hidden, hiding
from incognote.evaluation.relex.pairs import RESAMPLES, MentionPair, NotePair, read_pairs, share_of
from incognote.evaluation.relex.reading import read_replies, score_replies

Verdicts = Mapping[str, bool]
Judged = Sequence[tuple[NotePair, MentionPair, Verdicts]]


@dataclass(frozen=True, slots=True)
class RelexReport:
    """The scores of a run. It holds no words of a note.

    Attributes:
        notes, patients, mentions: their numbers in the gold.
        held: notes of the gold that are not in the output.
        found: share of gold mentions that the run replaced ("exact" or "partial" borders), kept, or missed.
        extra: places it replaced that no annotator marked.
        labeled: share of replaced places that became a label, over all types (`all`) and by type.
        time, places: see `chronology` and `geography`.
        preservation: the entity preservation rate (`role`), by group of types, and each attribute.
        coherence: the share of replaced mentions that pass every check (`score`), and the share for each check.
        conditions: share of notes in which rules read the same conditions before and after.
        consistency, model, hiding: see their modules; `model` is empty if there is only one patient.
        readers: the figures of language models as readers (see `reading`); empty without replies.
    """

    notes: int
    patients: int
    mentions: int
    held: int
    found: Mapping[str, Figure]
    extra: int
    labeled: Mapping[str, Figure]
    preservation: Mapping[str, Figure]
    coherence: Mapping[str, Figure]
    consistency: Consistency
    time: Mapping[str, Figure]
    places: Mapping[str, Figure]
    conditions: Figure
    model: Grouped
    hiding: Mapping[str, Hidden]
    readers: Mapping[str, Figure]

    def as_dict(self) -> dict[str, Any]:
        """Return the report as a JSON-serializable dict."""
        return {
            "notes": self.notes,
            "patients": self.patients,
            "mentions": self.mentions,
            "held": self.held,
            "extra": self.extra,
            **{
                name: {key: figure.as_dict() for key, figure in getattr(self, name).items()}
                for name in ("found", "labeled", "preservation", "coherence", "time", "places", "readers")
            },
            "consistency": self.consistency.as_dict(),
            "conditions": self.conditions.as_dict(),
            "model": {by: {name: shift.as_dict() for name, shift in own.items()} for by, own in self.model.items()},
            "hiding": {name: hidden.as_dict() for name, hidden in self.hiding.items()},
        }

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Rows for a terminal: name, figure with its interval, and the number it is a share of."""
        for head, figures in (
            ("mentions", self.found), ("labeled instead of replaced", self.labeled),
            ("entity preservation", self.preservation), ("contextual coherence", self.coherence),
            ("time", self.time), ("places", self.places),
        ):  # fmt: skip
            for name, figure in figures.items():
                yield _row(f"{head}: {name}", figure)
        scores = self.consistency
        for name, scored in (("names", scores.names), ("all types", scores.all)):
            yield _row(f"replacement consistency: B-cubed precision (merges), {name}", scored.precision)
            yield _row(f"replacement consistency: B-cubed recall (splits), {name}", scored.recall)
            yield _row(f"replacement consistency: B-cubed F1, {name}", scored.f1)
        for name in ("joined", "patients_joined", "agreement", "collisions", "merged", "originals"):
            yield _row(f"replacement consistency: {name.replace('_', ' ')}", getattr(scores, name))
        yield _row("model consistency: conditions read as before", self.conditions)
        for by, groups in self.model.items():
            for group, shift in groups.items():
                score = f" (accuracy before: {shift.before:.3f})" if shift.before is not None else ""
                whose = group if by == group else f"{by} {group}"
                yield f"model consistency: shift, {whose}", f"{shift.shift}{score}", f"{shift.notes} notes"
        for name, hidden in self.hiding.items():
            found = f" (found {hidden.found:.3f}, chance {hidden.chance:.3f})" if hidden.found is not None else ""
            yield f"hiding in plain sight: factor, {name}", f"{hidden.factor}{found}", str(hidden.planted)
        for name, figure in self.readers.items():
            yield _row(f"language models: {name}", figure)


def evaluate_relex(
    gold: str | Path,
    out: str | Path,
    *,
    planted: float = SHARE,
    replies: str | Path | None = None,
    reader: Reader = rules_reader,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> RelexReport:
    """Score the output of `incognote relex` for annotated notes.

    Args:
        gold, out: as for `read_pairs`.
        planted: the share of mentions restored for the attackers.
        replies: a folder of `write_requests` with the replies of language models.
        reader: judges what surrogates look like in their notes.

    Raises:
        UsageError: the files hold different notes or are not from one run.
    """
    log_opening(gold, "evaluate-relex")
    notes, held = read_pairs(gold, out)
    mentions = [(note.patient, mention) for note in notes for mention in note.mentions]
    kept = [one for one in judged(notes) if one[1].how == "exact"]
    fitting = coherent(notes, reader)
    patients = len({note.patient for note in notes})
    return RelexReport(
        notes=len(notes),
        patients=patients,
        mentions=len(mentions),
        held=held,
        found={
            how: share_of(((patient, m.how == how, 1) for patient, m in mentions), resamples, seed)
            for how in ("exact", "partial", "kept", "missed")
        },
        extra=sum(note.extra for note in notes),
        labeled=_labeled(notes, resamples, seed),
        preservation=_figures(kept, "role", resamples, seed) | _by_group(kept, resamples, seed),
        coherence=_coherence(fitting, resamples, seed),
        consistency=consistency(notes, resamples, seed),
        time=chronology(notes, resamples, seed),
        places=geography(notes, resamples, seed),
        conditions=conditions_kept(notes, resamples, seed),
        model=model_consistency(notes, resamples, seed) if patients > 1 else {},
        hiding=hiding(notes, planted, resamples=resamples, seed=seed),
        readers=score_replies(read_replies(notes, Path(replies), seed=seed), resamples, seed) if replies else {},
    )


def side_by_side(reports: Sequence[RelexReport]) -> Iterator[tuple[str, ...]]:
    """Rows with the figures of several runs: name, then figure and number for each run, "–" if a run lacks it."""
    tables = [{name: rest for name, *rest in report.rows()} for report in reports]
    for name in dict.fromkeys(name for table in tables for name in table):
        yield name, *(cell for table in tables for cell in table.get(name, ("–", "0")))


def _labeled(notes: Sequence[NotePair], resamples: int, seed: int) -> dict[str, Figure]:
    every = [(note.patient, type_, label) for note in notes for type_, label in note.findings]
    types = Counter(type_ for _, type_, label in every if label)
    shares = {"all": share_of(((patient, label, 1) for patient, _, label in every), resamples, seed)}
    for type_, _ in types.most_common():
        own = ((patient, label, 1) for patient, named, label in every if named == type_)
        shares[type_] = share_of(own, resamples, seed)
    return shares


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

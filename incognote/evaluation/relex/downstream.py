"""Clinical model consistency (RedactOR §A.7): does a model predict the same from new notes as from the old ones?

The model is regularized least squares over the words of a note (Rifkin, Yeo and Poggio, 2003). It sees names and places
too and can be influenced by them, which is what this metric is meant to detect. It is trained on the original notes of
other patients and predicts from a patient's notes before and after. The metric is the shift of its score for each group
of patients. A shift of zero is best.

The conditions are read from the text by rules. A condition after "no", "denies" or "without" in its clause is not one
of the patient, and neither is one of a relative.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incognote.errors import UsageError
from incognote.evaluation.intervals import Figure, interval, resampled
from incognote.evaluation.relex.kinds import locale_of
from incognote.evaluation.relex.pairs import RESAMPLES, NotePair, share_of
from incognote.relex.cluster.values import age_of
from incognote.text.lexicon import fold

_WORD = re.compile(r"[^\W_]+")
_CLAUSE = re.compile(r"[.;:!?]+(?=\s|\Z)|\n+|\b(?:but|however|although|except)\b", re.IGNORECASE)
_ABSENT = re.compile(
    r"\b(?:no|not|denie[sd]|deny|denying|without|never|negative for|ruled out|free of|w/o)\b", re.IGNORECASE
)
_ABSENT_AFTER = re.compile(r"\b(?:none|negative|denied|absent|ruled out|unlikely)\W*\Z", re.IGNORECASE)
_FAMILY = re.compile(
    r"\b(?:family(?: medical)? (?:history|hx)|f(?:am)?hx?|mother|father|mom|dad|parents?|brothers?|sisters?|siblings?|"
    r"sons?|daughters?|aunt|uncle|cousin|grand(?:mother|father|parents?)|(?:ma|pa)ternal)\b",
    re.IGNORECASE,
)
_FAMILY_SECTION = re.compile(r"\b(?:family(?: medical)? (?:history|hx)|f(?:am)?hx?)\W*\Z", re.IGNORECASE)
FAMILY = "a condition of a relative"
_FOLDS = 5
_RIDGE = 1.0
_FEWEST = 5  # notes of a group; with fewer, its figures mean little
EVERYBODY = "everybody"
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PredictionShift:
    """A score of the model on a group's notes.

    Attributes:
        notes: the number of notes that were classified.
        before, after: balanced accuracy, the mean over the answers of how often each is found.
        shift: after − before; its interval is a bootstrap over patients, paired.
    """

    notes: int
    before: float | None
    after: float | None
    shift: Figure

    def as_dict(self) -> dict[str, Any]:
        return {"notes": self.notes, "before": self.before, "after": self.after, "shift": self.shift.as_dict()}


Grouped = Mapping[str, Mapping[str, PredictionShift]]
"""By attribute (such as race or region), then by group."""


def model_consistency(notes: Sequence[NotePair], resamples: int = RESAMPLES, seed: int = 0) -> Grouped:
    """The shift of a downstream model, for everybody and by group.

    The task is to predict the gold's `label` if notes have one. Otherwise it is whether a note mentions each of the
    listed conditions for the patient, and whether it mentions one for a relative. The model does not see their words.
    Groups are those the gold names (race, ethnicity, region, age group, …). If the gold lacks one, a guess from the
    words is used and named as a guess: the locale of the patient's name for ethnicity, the first age of the note for
    the age group, the first state or country for the region.

    Raises:
        UsageError: fewer than two patients.
    """
    patients = sorted({note.patient for note in notes})
    if len(patients) < 2:
        raise UsageError("The downstream model is trained on other patients. Give notes of at least two patients.")
    fold_of = {patient: at % _FOLDS for at, patient in enumerate(patients)}
    asked = [ask for task in _tasks(notes) for ask in _asked(notes, task, fold_of)]
    if not asked:
        return {}
    found: dict[str, dict[str, PredictionShift]] = {EVERYBODY: {EVERYBODY: _shift(asked, resamples, seed)}}
    members = [_groups(note) for note in notes]
    for by in sorted({name for own in members for name in own}):
        for group in sorted({own[by] for own in members if by in own}):
            theirs = [ask for ask in asked if members[ask.note].get(by) == group]
            if len({ask.note for ask in theirs}) >= _FEWEST:
                found.setdefault(by, {})[group] = _shift(theirs, resamples, seed)
    return found


@dataclass(frozen=True, slots=True)
class _Asked:
    """One answer of the model: the note, its patient, the task and right answer, and whether each version got it."""

    note: int
    patient: str
    answer: tuple[str, str]
    before: bool
    after: bool


_Task = tuple[str, Callable[[NotePair], str], frozenset[str]]
"""Its name, the right answer for a note ("" for none), and the word beginnings that the model does not see."""


def _tasks(notes: Sequence[NotePair]) -> list[_Task]:
    if any(note.label for note in notes):
        return [("label", lambda note: note.label, frozenset())]
    tasks = [(name, _answered(name), signs) for name, signs in _conditions().items()]
    return [*tasks, (FAMILY, _answered(FAMILY), frozenset().union(*_conditions().values()))]


def _answered(name: str) -> Callable[[NotePair], str]:
    return lambda note: "yes" if name in {read for read, _ in conditions(note.before)} else "no"


def conditions(text: str) -> frozenset[tuple[str, str]]:
    """The listed conditions that a text mentions, each with its words.

    Negated ones are left out, and all those of relatives are one condition, `FAMILY`.
    """
    found: set[tuple[str, str]] = set()
    section = False
    for clause in _clauses(text):
        family = _FAMILY.search(clause)
        for word, absent, at in _read(clause):
            if not absent:
                names = [name for name, signs in _conditions().items() if _is_sign(word, signs)]
                relative = section or (family is not None and family.start() < at)
                found |= {(FAMILY if relative else name, word) for name in names}
        section = bool(_FAMILY_SECTION.search(clause))
    return frozenset(found)


def _clauses(text: str) -> list[str]:
    return [clause for clause in _CLAUSE.split(text) if clause.strip()]


def _read(clause: str) -> list[tuple[str, bool, int]]:
    """Each word, whether it is negated, and where it begins. A number becomes as many zeros as it has digits."""
    start, every = _ABSENT.search(clause), bool(_ABSENT_AFTER.search(clause))
    negated = 0 if every else start.end() if start else len(clause)
    return [
        ("0" * len(m[0]) if m[0].isdecimal() else fold(m[0]), m.start() >= negated, m.start())
        for m in _WORD.finditer(clause)
    ]


def conditions_kept(notes: Sequence[NotePair], resamples: int = RESAMPLES, seed: int = 0) -> Figure:
    """The share of notes in which the conditions read after are those read before."""
    kept = ((note.patient, conditions(note.before) == conditions(note.after), 1) for note in notes)
    return share_of(kept, resamples, seed)


@cache
def _conditions() -> dict[str, frozenset[str]]:
    source = files("incognote.evaluation.relex").joinpath("tasks.toml").read_text(encoding="utf-8")
    return {name: frozenset(line.split()) for name, line in tomllib.loads(source)["conditions"].items()}


def _is_sign(word: str, signs: frozenset[str]) -> bool:
    return any(word == sign if len(sign) < 4 else word.startswith(sign) for sign in signs)


def _features(text: str, hidden: frozenset[str]) -> set[str]:
    """The words of a text without the hidden ones, with negated ones marked."""
    read = ((word, absent) for clause in _clauses(text) for word, absent, _ in _read(clause))
    return {f"not {word}" if absent else word for word, absent in read if not _is_sign(word, hidden)}


def _asked(notes: Sequence[NotePair], task: _Task, fold_of: Mapping[str, int]) -> list[_Asked]:
    """The model's answers on every note, from models trained without any note of its patient."""
    name, answer, hidden = task
    answers = [answer(note) for note in notes]
    kinds = sorted(set(answers) - {""})
    if len(kinds) < 2:
        return []
    before, after = _vectors(notes, hidden)
    one_hot = np.array([[a == kind for kind in kinds] for a in answers], dtype=np.float64)
    parts = np.array([fold_of[note.patient] for note in notes])
    known = np.array([bool(a) for a in answers])
    found: list[_Asked] = []
    for part in range(_FOLDS):
        rest, own = np.flatnonzero((parts != part) & known), np.flatnonzero((parts == part) & known)
        if not len(own) or one_hot[rest].any(axis=0).sum() < len(kinds):
            continue  # an answer that is not in other patients' notes cannot be learned
        predicted = [_says(before[rest], one_hot[rest], asked[own]) for asked in (before, after)]
        for place, at in enumerate(own.tolist()):
            right = [kinds[one[place]] == answers[at] for one in predicted]
            found.append(_Asked(at, notes[at].patient, (name, answers[at]), *right))
    return found


def _vectors(notes: Sequence[NotePair], hidden: frozenset[str]) -> tuple[Matrix, Matrix]:
    """Notes × words, before and after: idf of the words present, at length 1. Words of a single note are left out."""
    bags = [[_features(text, hidden) for text in (n.before, n.after)] for n in notes]
    spread = Counter(word for bag, _ in bags for word in bag)
    place = {word: at for at, word in enumerate(sorted(w for w, n in spread.items() if n > 1))}
    idf = np.array([log(len(notes) / spread[word]) for word in place])
    made: list[Matrix] = []
    for side in (0, 1):
        rows = np.zeros((len(notes), len(place)))
        for at, bag in enumerate(bags):
            rows[at, [place[word] for word in bag[side] if word in place]] = 1
        rows *= idf
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        made.append(rows / np.where(length > 0, length, 1))
    return made[0], made[1]


def _says(learnt: Matrix, told: Matrix, asked: Matrix) -> NDArray[np.int64]:
    """The answer for each row of `asked`.

    Each answer's threshold is halfway between the mean scores of rows with and without it, each row left out of the
    fit. The answer whose score exceeds its threshold most is chosen, so that rare answers are given as readily as
    common ones.
    """
    inverse = np.linalg.inv(learnt @ learnt.T + _RIDGE * np.eye(len(learnt)))
    weights = inverse @ (told - told.mean(axis=0))
    left_out = told - weights / np.diag(inverse)[:, None]
    n = told.sum(axis=0)
    with_it, without = (told * left_out).sum(axis=0) / n, ((1 - told) * left_out).sum(axis=0) / (len(told) - n)
    spread = np.where(with_it > without, with_it - without, 1.0)
    scores = asked @ learnt.T @ weights + told.mean(axis=0)
    answers: NDArray[np.int64] = np.argmax((scores - (with_it + without) / 2) / spread, axis=1)
    return answers


def _shift(asked: Sequence[_Asked], resamples: int, seed: int) -> PredictionShift:
    kinds = sorted({ask.answer for ask in asked})
    patients = sorted({ask.patient for ask in asked})
    counts = np.zeros((len(patients), 3 * len(kinds)))
    for ask in asked:
        row, column = counts[patients.index(ask.patient)], 3 * kinds.index(ask.answer)
        row[column : column + 3] += (1, ask.before, ask.after)
    before, after = _balanced(counts.sum(axis=0)[None, :])
    drawn = _balanced(resampled(counts, resamples, seed)) if len(patients) > 1 else np.full((2, 1), np.nan)
    shift = Figure(float(after[0] - before[0]), *interval(drawn[1] - drawn[0]), len(patients))
    return PredictionShift(len({ask.note for ask in asked}), float(before[0]), float(after[0]), shift)


def _balanced(sums: Matrix) -> Matrix:
    """Rows of (n, right before, right after) per answer → balanced accuracy before and after, over the answers seen."""
    n = sums[:, 0::3]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = [np.where(n > 0, sums[:, at::3] / n, np.nan) for at in (1, 2)]
    return np.stack([np.nanmean(share, axis=1) for share in shares])


def _groups(note: NotePair) -> dict[str, str]:
    """The patient's groups according to the gold, with guesses for those that it does not give."""
    found = dict(note.groups)
    if "ethnicity" not in found and "race" not in found:
        homes = Counter(home for m in note.mentions if m.type == "PATIENT" and (home := locale_of(m.words)))
        if homes:
            found["home of the name (guess)"] = homes.most_common(1)[0][0]
    if "age group" not in found:
        ages = [age_of(m.words) for m in note.mentions if m.type == "AGE"]
        if ages and ages[0][0].isdecimal():
            found["age group (guess)"] = _age_group(int(ages[0][0]), ages[0][1])
    if "region" not in found:
        named = [m.words for m in note.mentions if m.type in ("STATE", "COUNTRY")]
        if named:
            found["region (guess)"] = fold(named[0])
    return found


def _age_group(number: int, unit: str) -> str:
    if unit not in ("year", "decade") or number < 18:
        return "under 18"
    return "18 to 64" if number < 65 else "65 and over"

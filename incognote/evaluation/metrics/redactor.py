"""The strict protocol of the RedactOR paper (§4.3) and its three all-or-nothing recalls (§4.6).

A finding counts for a gold span if they share a character of the text (position) and their words are similar: one minus
the Levenshtein distance over the length of the longer is at least 0.6 (§4.3). For typed scores, the types must also
agree. Spans are paired one to one, the most similar first, then from left to right. The paper leaves one point open,
and we decide it: a finding paired with gold of a type outside the requested ones counts neither way. An unpaired
finding of such a type does not count either.

All-or-nothing recall (Scaiano et al. 2016) is 1 if every instance was found, otherwise 0:

    per document          any type, over PERSON, AGE, CONTACT, ID and LOCATION                   Table 1
    per document and type the type must agree; over the documents that have the type            Table 3
    pooled                the same, over all pairs of a document and a type that it has          Table 3, "All"

Documents (or pairs) without such gold are not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from incognote.evaluation.corpus import LabeledSpan, Pair
from incognote.evaluation.counts import UNTYPED, Scheme
from incognote.evaluation.intervals import Figure, share
from incognote.evaluation.metrics.spans import overlapping
from incognote.evaluation.metrics.tally import Column, PrecisionRecall, Sums

DIRECT = ("PERSON", "AGE", "CONTACT", "ID", "LOCATION")
"""The groups of §4.3 and Table 1."""
ALIKE = 0.6


@dataclass(frozen=True, slots=True)
class RedactorScores:
    """The figures of the paper's tables.

    Attributes:
        documents: the number scored.
        untyped: entities of every scored type, found as any type.
        direct: the same over the five types of Table 1; None if the gold has none of them.
        document_recall: all-or-nothing recall per document, untyped, over the five; None as for `direct`.
        types, typed: per type and over all types, where the types must agree (Table 2).
        type_recall, pooled_recall: all-or-nothing recall per document and type, and pooled (Table 3).
        leaking: of the documents with scored gold, the share with a letter or digit of it outside every finding.
    """

    documents: int
    untyped: PrecisionRecall
    direct: PrecisionRecall | None
    document_recall: Figure | None
    types: Mapping[str, PrecisionRecall]
    typed: PrecisionRecall
    type_recall: Mapping[str, Figure]
    pooled_recall: Figure
    leaking: Figure

    @property
    def typeless(self) -> bool:
        """Whether the system names no types."""
        return self.untyped.precision.of > 0 and not any(score.precision.of for score in self.types.values())


def redactor_scores(sums: Sums, scheme: Scheme, documents: int) -> RedactorScores:
    """Compute the scores from the sums of the columns that `count_redactor` counts."""
    names = sorted(scheme.scored)
    five = not scheme.scored.isdisjoint(DIRECT)
    whole: list[Column] = [("whole", name) for name in names]
    having: list[Column] = [("having", name) for name in names]
    return RedactorScores(
        documents=documents,
        untyped=_score(sums, "untyped"),
        direct=_score(sums, "direct") if five else None,
        document_recall=_share(sums, ("whole", ""), ("having", "")) if five else None,
        types={name: _score(sums, f"type {name}") for name in names},
        typed=_score(sums, "typed"),
        type_recall={name: _share(sums, ("whole", name), ("having", name)) for name in names},
        pooled_recall=sums.share(whole, having),
        leaking=_share(sums, ("leaking",), ("phi",)),
    )


def count_redactor(
    text: str, gold: Sequence[LabeledSpan], found: Sequence[LabeledSpan], *, alike: float = ALIKE
) -> Counter[Column]:
    """Count one document. The labels are in the order of the text.

    Returns:
        Per slice ("untyped", "direct", "typed", "type T"): right, found, gold. For the five types together ("") and
        per type: having and whole, 1 each. phi and leaking, 1 each.
    """
    counts: Counter[Column] = Counter()
    candidates = _candidates(text, gold, found, alike)
    blind = _paired(candidates)
    counts["untyped", "right"] = len(blind)
    counts["untyped", "found"] = len(found)
    counts["untyped", "gold"] = len(gold)
    of = {j: i for i, j in blind.items()}
    for j, label in enumerate(found):
        counts["direct", "found"] += (gold[of[j]].type if j in of else label.type) in (*DIRECT, UNTYPED)
    five = [i for i, label in enumerate(gold) if label.type in DIRECT]
    counts["direct", "gold"] = len(five)
    counts["direct", "right"] = sum(i in blind for i in five)
    counts["having", ""] = int(bool(five))
    counts["whole", ""] = int(bool(five) and all(i in blind for i in five))
    typed = _paired([each for each in candidates if gold[each[1]].type == found[each[2]].type])
    counts["typed", "right"] = len(typed)
    counts["typed", "found"] = len(found)
    counts["typed", "gold"] = len(gold)
    missing = {label.type for i, label in enumerate(gold) if i not in typed}
    for name, n in Counter(label.type for label in gold).items():
        counts[f"type {name}", "gold"] = n
        counts["having", name] = 1
        counts["whole", name] = int(name not in missing)
    for name, n in Counter(label.type for label in found).items():
        counts[f"type {name}", "found"] = n
    for i in typed:
        counts[f"type {gold[i].type}", "right"] += 1
    counts["phi",] = int(bool(gold))
    counts["leaking",] = int(leaks(text, gold, found))
    return counts


def pairing(
    text: str, gold: Sequence[LabeledSpan], found: Sequence[LabeledSpan], *, alike: float = ALIKE, typed: bool = False
) -> dict[int, int]:
    """Which gold labels were found, and by which finding: indexes into the two lists, both in the order of the text."""
    candidates = _candidates(text, gold, found, alike)
    return _paired([each for each in candidates if not typed or gold[each[1]].type == found[each[2]].type])


def _candidates(
    text: str, gold: Sequence[LabeledSpan], found: Sequence[LabeledSpan], alike: float
) -> list[tuple[float, int, int]]:
    """Possible pairs, most similar first: negative similarity, index of the gold label, index of the finding."""
    return sorted(
        (-likeness, i, j)
        for j, places in enumerate(overlapping(gold, found))
        for i in places
        if (likeness := similarity(text, gold[i], found[j])) >= alike
    )


def _paired(candidates: Iterable[tuple[float, int, int]]) -> dict[int, int]:
    """Pair one to one, in the order of the candidates."""
    pairs: dict[int, int] = {}
    used: set[int] = set()
    for _, i, j in candidates:
        if i not in pairs and j not in used:
            pairs[i] = j
            used.add(j)
    return pairs


def similarity(text: str, one: LabeledSpan, other: LabeledSpan) -> float:
    """1 − Levenshtein distance / length of the longer, of the words of two labels (0..1)."""
    if one[:2] == other[:2]:
        return 1.0
    longer = max(one.end - one.start, other.end - other.start)
    distance = Levenshtein.distance(text[one.start : one.end], text[other.start : other.end])
    return (longer - distance) / longer


def hits(pair: Pair, scheme: Scheme, *, typed: bool = False, alike: float = ALIKE) -> list[bool]:
    """For each scored gold label of a document, whether it was found. McNemar's test compares these between systems."""
    gold = scheme.gold(pair)
    pairs = pairing(pair.text, gold, scheme.found(pair), alike=alike, typed=typed)
    return [i in pairs for i in range(len(gold))]


def leaks(text: str, gold: Sequence[LabeledSpan], found: Sequence[LabeledSpan]) -> bool:
    """Return True if a letter or digit of a gold label is outside every finding. Both are in the order of the text."""
    for label, places in zip(gold, overlapping(found, gold), strict=True):
        at = label.start
        for start, end, _ in (found[j] for j in places):
            if any(map(str.isalnum, text[at:start])):
                return True
            at = max(at, end)
        if any(map(str.isalnum, text[at : label.end])):
            return True
    return False


def _score(sums: Sums, slice_: str) -> PrecisionRecall:
    return sums.score([(slice_, "right")], [(slice_, "found")], [(slice_, "gold")])


def _share(sums: Sums, part: Column, whole: Column) -> Figure:
    return share(sums.total(part), sums.total(whole))

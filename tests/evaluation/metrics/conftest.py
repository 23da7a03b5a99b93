"""Three invented notes in the layout of i2b2 2014, and a system's findings. The arithmetic is in each test.

    100-01  Mary Smith, 76, seen at Mercy Hospital 03/04/2025.
            gold    PERSON "Mary Smith"   AGE "76"    LOCATION "Mercy Hospital"      DATE "03/04/2025"
            found   PERSON "Mary Smith"   DATE "76"   LOCATION "at Mercy Hospital"
    100-02  Dr. Lund saw her; call 555-0142, MRN 88412.
            gold    PERSON "Lund"                       CONTACT "555-0142"   ID "88412"
            found   PERSON "Dr. Lund"   PERSON "call"   CONTACT "555-0142"   PROFESSION "MRN"
    100-03  Foley out, no fever.
            found   PERSON "Foley"

There are 7 gold spans. The gold has no PROFESSION, so "MRN" is not scored. That leaves 7 findings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from incognote.errors import UsageError
from incognote.evaluation.corpus import LabeledSpan, Pair
from incognote.evaluation.counts import Scheme
from incognote.evaluation.metrics.redactor import ALIKE, RedactorScores, count_redactor, redactor_scores
from incognote.evaluation.metrics.spans import (
    Confusion,
    SpanScores,
    confusion_of,
    count_confusion,
    count_spans,
    span_scores,
)
from incognote.evaluation.metrics.tally import RESAMPLES, DocumentTally
from incognote.evaluation.metrics.tokens import TokenScores, count_tokens, token_scores

FOUND = {
    "100-01": [(0, 10, "PATIENT"), (12, 14, "DATE"), (21, 38, "LOCATION")],
    "100-02": [
        (0, 8, "PERSON"),
        (18, 22, "PERSON"),
        (23, 31, "TELEPHONE_NUMBER"),
        (33, 36, "OCCUPATION"),
    ],
    "100-03": [(0, 5, "PERSON")],
}


def _read(path: Path) -> Pair:
    root = ElementTree.parse(path).getroot()
    text = root.findtext("TEXT") or ""
    gold = []
    for tag in root.iterfind("TAGS/*"):
        label = LabeledSpan(int(tag.attrib["start"]), int(tag.attrib["end"]), tag.attrib["TYPE"])
        assert text[label.start : label.end] == tag.attrib["text"]
        gold.append(label)
    return Pair(path.stem, text, tuple(gold), tuple(LabeledSpan(*row) for row in FOUND[path.stem]))


@pytest.fixture(scope="session")
def notes() -> list[Pair]:
    return [_read(path) for path in sorted((Path(__file__).parent / "i2b2").glob("*.xml"))]


@pytest.fixture(scope="session")
def scheme(notes: list[Pair]) -> Scheme:
    return Scheme.of(notes)


def score_spans(pairs: Iterable[Pair], scheme: Scheme, *, resamples: int = RESAMPLES, seed: int = 0) -> SpanScores:
    """Score the spans of a corpus, with 95% bootstrap intervals over documents.

    Raises:
        UsageError: there is no document.
        ImpossibleSpan: a label does not fit its text.
    """
    tally = DocumentTally()
    for pair in pairs:
        tally.add(count_spans(scheme.gold(pair), scheme.found(pair)))
    return span_scores(tally.sums(resamples, seed), scheme, len(tally))


def score_tokens(pairs: Iterable[Pair], scheme: Scheme, *, resamples: int = RESAMPLES, seed: int = 0) -> TokenScores:
    """Score the tokens of a corpus, with 95% bootstrap intervals over documents.

    Raises:
        UsageError: there is no document.
        ImpossibleSpan: a label does not fit its text, or a gold label contains only white space.
    """
    tally = DocumentTally()
    for pair in pairs:
        tally.add(count_tokens(pair.text, scheme.gold(pair), scheme.found(pair)))
    return token_scores(tally.sums(resamples, seed), scheme, len(tally))


def score_redactor(
    pairs: Iterable[Pair], scheme: Scheme, *, alike: float = ALIKE, resamples: int = RESAMPLES, seed: int = 0
) -> RedactorScores:
    """Score a corpus as the RedactOR paper does.

    The intervals are bootstrap intervals over documents, or Wilson intervals if a document counts once.

    Raises:
        UsageError: there is no document.
        ImpossibleSpan: a label does not fit its text.
    """
    tally = DocumentTally()
    for pair in pairs:
        tally.add(count_redactor(pair.text, scheme.gold(pair), scheme.found(pair), alike=alike))
    return redactor_scores(tally.sums(resamples, seed), scheme, len(tally))


def confusion(pairs: Iterable[Pair], scheme: Scheme) -> Confusion:
    """Return the confusion matrix of a corpus.

    Raises:
        UsageError: there is no document.
        ImpossibleSpan: a label does not fit its text.
    """
    counts: Counter[tuple[str, str]] = Counter()
    documents = 0
    for pair in pairs:
        documents += 1
        counts += count_confusion(scheme.gold(pair), scheme.found(pair))
    if not documents:
        raise UsageError("No gold, no score: there is no document to score")
    return confusion_of(counts, scheme)

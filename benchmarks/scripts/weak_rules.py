"""Measure which rules are weak, and print languages/en/incognote_en/rules/weak.toml.

    python benchmarks/scripts/weak_rules.py > weak.toml
    python benchmarks/scripts/weak_rules.py --texts 'hand_*.txt'
    python benchmarks/scripts/weak_rules.py --check
    python benchmarks/scripts/weak_rules.py --language de

A rule is measured on its findings in the handwritten training texts that no other finding overlaps. Findings of a type
that these texts never mark (marital status, parenthood) are not counted.

The rules of other languages were written beside the first texts of their language. They are measured on the later ones.

The encoder was measured with a given set of weak rules. So the set does not change whenever a text is added: weak.toml
holds the counts on the texts that existed when it was made. `--texts` shows the counts on other texts.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path

from incognote.detectors.rules import RulesDetector
from incognote.detectors.rules.patterns.rule import source_of
from incognote.nouns import Text
from incognote_training.corpus.document import Document
from incognote_training.corpus.marked import read

ROOT = Path(__file__).parents[2]
WRITTEN = ROOT / "training/incognote_training/corpus/handwritten"
OTHERS = ROOT / "training/incognote_training/corpus/languages"
SHIPPED = ROOT / "languages/en/incognote_en/rules/weak.toml"
TEXTS = "hand_[a-e]?.txt"
LATER = "late_*.txt"
RIGHT = Fraction(5, 6)
FEWEST = 8
HEAD = """\
# Weak rules: fewer than five in six of their findings are right if nothing else finds the same words. Such a finding
# becomes doubtful if the encoder denies it. Measured on handwritten training texts
# (training/incognote_training/corpus/{folder}/{texts}, {notes}
# texts) on which no rule was tuned. `found`: such findings ({fewest} or more). `right`: the identifiers among them.
# Printed by benchmarks/scripts/weak_rules.py.
"""


def texts(pattern: str = TEXTS, code: str = "en") -> list[Document]:
    """The handwritten texts of a language in the files that match a pattern."""
    folder = WRITTEN if code == "en" else OTHERS / code
    return [document for path in sorted(folder.glob(pattern)) for document in read(path)]


def counts(documents: Iterable[Document], code: str = "en") -> dict[str, tuple[int, int]]:
    """For each rule, without the detector's name: its findings that nothing overlaps, and those that touch a mark."""
    documents = list(documents)
    marked = {span.type for document in documents for span in document.spans}
    found: Counter[str] = Counter()
    right: Counter[str] = Counter()
    detector = RulesDetector() if code == "en" else RulesDetector((), ("en", code), (code,))
    for document in documents:
        for rule, type_, hit in _alone(document, detector, source_of("", code)):
            if type_ in marked:
                found[rule] += 1
                right[rule] += hit
    return {rule: (found[rule], right[rule]) for rule in sorted(found)}


def written(pattern: str = TEXTS, code: str = "en") -> str:
    """The TOML: each weak rule with its two counts."""
    documents = texts(pattern, code)
    weak = [
        f'"{rule}" = {{ found = {found}, right = {right} }}\n'
        for rule, (found, right) in counts(documents, code).items()
        if found >= FEWEST and Fraction(right, found) < RIGHT
    ]
    folder = "handwritten" if code == "en" else f"languages/{code}"
    head = HEAD.format(folder=folder, texts=pattern, notes=len(documents), fewest=FEWEST)
    return head + "\n[rules]\n" + "".join(weak)


def _alone(document: Document, detector: RulesDetector, prefix: str) -> Iterator[tuple[str, str, bool]]:
    """Each finding of a language's rules that no other overlaps: its rule, its type, and whether it touches a mark."""
    spans = detector.detect([Text(document.text)])[0]
    # Neighboring dates see the same words as the rules of single dates, so they are no second opinion on them.
    spans = [span for span in spans if "neighbors." not in span.sources[0]]
    for span in spans:
        if not any(one is not span and one.start < span.end and span.start < one.end for one in spans):
            hit = any(start < span.end and span.start < end for start, end, _ in document.spans)
            source = span.sources[0]
            if source.startswith(prefix) and "/" not in source.removeprefix(prefix):
                yield source.removeprefix(prefix), span.type, hit


def main() -> int:
    """Print, or compare. Returns 1 if weak.toml differs."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    asked.add_argument(
        "--texts", help=f"which of the handwritten files (default: {TEXTS}, or {LATER} for another language)"
    )
    asked.add_argument("--language", default="en", help="whose rules (default: %(default)s)")
    asked.add_argument("--check", action="store_true", help="compare with weak.toml instead of printing")
    given = asked.parse_args()
    now = written(given.texts or (TEXTS if given.language == "en" else LATER), given.language)
    if not given.check:
        sys.stdout.write(now)
        return 0
    if now == SHIPPED.read_text(encoding="utf-8"):
        return 0
    sys.stderr.write("weak.toml differs from what the rules give now. Look at the difference, then print it again\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())

"""Typed F1 by word on the notes in other languages, in the layout of the Arabic paper's Tables 2 and 3.

    python benchmarks/scripts/label_tables.py tests/data/languages/*.jsonl --baseline BUNDLE --out labels.json

The systems are the rules and our encoder together, our encoder alone, and with --baseline the encoder of another bundle
alone, such as the paper's BiLSTM-CNN-Char without our features. A word counts as right if it has the label of the gold.
Words without a label in gold and output do not count. The macro mean is over the labels that occur in the gold.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from incognote.agents.detection import Detection
from incognote.detectors.encoder import EncoderDetector
from incognote.evaluation.corpus import Gold, read_gold
from incognote.nouns import Text
from incognote.schemas.policy import load_policy
from incognote_training.corpus.label_sets import LabelSet, label, types

SETS: tuple[LabelSet, ...] = ("generic", "granular")
CODES = ("ar", "de", "es", "fr")
WORD = re.compile(r"[^\W\d_]+|\d+")
PAPER = {
    "generic": {"Bi-LSTM (GloVe)": (0.9378, 0.9572), "BFTC (CamelBERT)": (0.9700, 0.9800)},
    "granular": {"Bi-LSTM (GloVe)": (0.9386, 0.9434), "BFTC (CamelBERT)": (0.9100, 0.9800)},
}
"""The macro and micro F1 of the paper, as printed, on translated i2b2 notes: another corpus."""
Spans = Sequence[tuple[int, int, str]]
Find = Callable[[str], Spans]


def words(text: str, spans: Spans, labels: LabelSet) -> list[str | None]:
    """The label of each word of a text."""
    found: list[str | None] = []
    named = [(start, end, label(kind, labels)) for start, end, kind in spans]
    for word in WORD.finditer(text):
        found.append(next((name for start, end, name in named if start < word.end() and word.start() < end), None))
    return found


def scored(texts: Sequence[Gold], find: Find, labels: LabelSet) -> dict[str, Any]:
    """F1 by label, with its number of words in the gold, and the macro and micro means."""
    right: Counter[str] = Counter()
    gold: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for text in texts:
        truth = words(text.text, [(s.start, s.end, s.type) for s in text.labels], labels)
        said = words(text.text, find(text.text), labels)
        gold.update(filter(None, truth))
        found.update(filter(None, said))
        right.update(a for a, b in zip(truth, said, strict=True) if a and a == b)
    scores = {name: _f1(right[name], gold[name], found[name]) for name in types(labels) if gold[name]}
    rows = {name: {"f1": f1, "words": gold[name]} for name, f1 in scores.items()}
    macro = round(sum(row["f1"] for row in rows.values()) / len(rows), 4)
    micro = _f1(sum(right.values()), sum(gold.values()), sum(found.values()))
    return {"labels": rows, "macro": macro, "micro": micro}


def _f1(right: int, gold: int, found: int) -> float:
    return round(2 * right / (gold + found), 4) if gold + found else 0.0


def systems(baseline: Path | None) -> dict[str, Find]:
    """Each system by name: a text to its spans."""
    policy = load_policy("strict")

    def both(names: Sequence[str]) -> Find:
        detection = Detection(names, languages=CODES)
        return lambda text: [(s.start, s.end, s.type) for s in detection.find([Text(text)], policy)[0].spans]

    found: dict[str, Find] = {"rules and encoder": both(("rules", "encoder")), "encoder": both(("encoder",))}
    if baseline is not None:
        detector = EncoderDetector(baseline)
        found["BiLSTM-CNN-Char, baseline"] = lambda text: [
            (s.start, s.end, s.type) for s in detector.detect([Text(text)])[0]
        ]
    return found


def page(made: Mapping[str, Any]) -> str:
    """The tables as Markdown."""
    lines = [
        "# Typed F1 in other languages",
        "",
        "`benchmarks/scripts/label_tables.py` writes this page. Synthetic notes,",
    ]
    lines += ["blind development texts (tests/data/README.md). F1 by word. In brackets: words in the gold.", ""]
    for name, by_corpus in made.items():
        lines += [f"## {name}", ""]
        for corpus, by_system in by_corpus.items():
            first = next(iter(by_system.values()))["labels"]
            heads = [f"{key} ({row['words']})" for key, row in first.items()]
            lines += ["| " + " | ".join([corpus, *heads, "macro", "micro"]) + " |", "|---" * (len(heads) + 3) + "|"]
            for system, row in by_system.items():
                cells = [f"{row['labels'][key]['f1']:.3f}" for key in first]
                lines.append("| " + " | ".join([system, *cells, f"{row['macro']:.3f}", f"{row['micro']:.3f}"]) + " |")
            lines.append("")
        told = "; ".join(f"{who}: macro {macro:.3f}, micro {micro:.3f}" for who, (macro, micro) in PAPER[name].items())
        lines += [f"The paper, on another corpus (translated i2b2 notes in Arabic), as printed: {told}.", ""]
    return "\n".join(lines)


def main() -> None:
    """Measure and write."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    asked.add_argument("gold", nargs="+", type=Path)
    asked.add_argument("--baseline", type=Path, help="the bundle of another encoder")
    asked.add_argument("--out", type=Path, required=True, help="the JSON file; the page is written next to it")
    given = asked.parse_args()
    made: dict[str, dict[str, dict[str, Any]]] = {name: defaultdict(dict) for name in SETS}
    for path in given.gold:
        texts = [each for each in read_gold(path) if isinstance(each, Gold)]
        for system, find in systems(given.baseline).items():
            spans = {text.text: find(text.text) for text in texts}
            for name in SETS:
                made[name][path.stem][system] = scored(texts, spans.__getitem__, name)
    given.out.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    given.out.with_suffix(".md").write_text(page(made), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Findings of rules, encoder, and both on each of our corpora: docs/measured/detection.md and .json.

python benchmarks/scripts/detection.py tests/data/notes.jsonl … --out docs/measured/detection.json
python benchmarks/scripts/detection.py tests/data/languages/*.jsonl --ways 'both, accepted' --out JSON
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from incognote import Deidentifier
from incognote.evaluation.intervals import share
from incognote.evaluation.metrics.spans import MISSED, SPURIOUS
from incognote.evaluation.scores import evaluate

WAYS: dict[str, dict[str, Any]] = {
    "rules": {"detectors": ["rules"]},
    "rules, accepted": {"detectors": ["rules"], "languages": ["ar", "de", "es", "fr"]},
    "encoder, accepted": {"detectors": ["encoder"], "languages": ["ar", "de", "es", "fr"]},
    "both, accepted": {"detectors": ["rules", "encoder"], "languages": ["ar", "de", "es", "fr"]},
    "encoder": {"detectors": ["encoder"]},
    "both": {"detectors": ["rules", "encoder"]},
    "both, `fast`": {"detectors": ["rules", "encoder"], "encoder_fast": True},
    "both, point `recall`": {"detectors": ["rules", "encoder"], "encoder_point": "recall"},
}
HEAD = """# Detection results

`python benchmarks/scripts/detection.py` generates this page. The policy is `strict`. All intervals are 95%
intervals. We used a bootstrap over documents, and the Wilson method for proportions.

All texts are **synthetic**. `tests/data/README.md` says who wrote them and which of them were used for tuning.
Characters are letters and digits. Entity types are ignored.

| Term | Meaning |
|---|---|
| correct span | Its boundaries match the gold exactly. Span recall and span precision count correct spans. |
| found span | At least one of its characters was found. |
| document that leaks | At least one character of an identifier remains (one minus all-or-nothing recall). |
| document that leaks a whole span | At least one span was not found at all. |
"""
COLUMNS = (
    "character recall", "character precision", "span recall", "span precision", "spans found",
    "documents that leak", "documents that leak a whole span", "texts without identifiers changed",
    "characters changed in those texts", "matched spans with the correct evaluation group",
)  # fmt: skip


def measured(paths: list[Path], names: list[str], console: Console) -> dict[str, dict[str, Any]]:
    """The whole report per corpus and configuration."""
    found: dict[str, dict[str, Any]] = {}
    for path in paths:
        for way, settings in ((name, WAYS[name]) for name in names):
            console.print(f"{way} read {path.stem}", markup=False)
            with Deidentifier(policy="strict", **settings) as deidentifier:
                report = evaluate(path, detect=deidentifier.detect, synthetic=True)
            found.setdefault(path.stem, {})[way] = json.loads(report.to_json())
    return found


def page(found: dict[str, dict[str, Any]]) -> str:
    """Format the figures as Markdown."""
    lines = [HEAD]
    for corpus, ways in found.items():
        first = next(iter(ways.values()))
        lines += [f"## {corpus}", "", f"{first['documents']} texts, {first['with_phi']} with identifiers.", ""]
        lines += ["| | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
        lines += [f"| {way} | " + " | ".join(map(_written, _headline(told))) + " |" for way, told in ways.items()]
        types = [name for name, row in first["types"].items() if row["spans"]["of"] >= 10]
        lines += ["", "Share of spans found, by type (types with at least 10 spans):", ""]
        lines += ["| | n | " + " | ".join(ways) + " |", "|---" * (len(ways) + 2) + "|"]
        for name in types:
            rows = [told["types"][name]["spans"] for told in ways.values()]
            lines.append(f"| {name} | {rows[0]['of']} | " + " | ".join(_written(row) for row in rows) + " |")
        lines.append("")
    return "\n".join(lines)


def _headline(told: dict[str, Any]) -> list[dict[str, Any]]:
    figures, redactor = told["figures"], told["measures"]["redactor"]
    return [
        figures["recall"], figures["precision"], redactor["untyped"]["recall"], redactor["untyped"]["precision"],
        figures["spans_touched"], figures["documents_leaking"], figures["documents_missing_a_span"],
        figures["clean_texts_touched"], figures["clean_characters_touched"],
        _group_right(told["measures"]["confusion"]),
    ]  # fmt: skip


def _group_right(confusion: dict[str, Any]) -> dict[str, Any]:
    paired = {
        (row, column): n
        for row, cells in zip(confusion["rows"], confusion["cells"], strict=True)
        for column, n in zip(confusion["columns"], cells, strict=True)
        if row != SPURIOUS and column != MISSED
    }
    right, of = sum(n for (row, column), n in paired.items() if row == column), sum(paired.values())
    return share(right, of).as_dict()


def _written(figure: dict[str, Any]) -> str:
    if figure["value"] is None:
        return "–"
    return f"{figure['value']:.3f} [{figure['low']:.3f}, {figure['high']:.3f}]"


def main() -> int:
    """Measure and write."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    asked.add_argument("gold", nargs="+", type=Path)
    asked.add_argument("--out", type=Path, required=True, help="the JSON file; the page is written next to it")
    asked.add_argument("--ways", nargs="+", choices=WAYS, default=[way for way in WAYS if "accepted" not in way])
    given = asked.parse_args()
    found = measured(given.gold, given.ways, Console(stderr=True))
    kept = {corpus: {way: told["figures"] for way, told in ways.items()} for corpus, ways in found.items()}
    given.out.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    given.out.with_suffix(".md").write_text(page(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

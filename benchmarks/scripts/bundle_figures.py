"""What rules, encoder, and a model find in the blind notes in other languages: docs/measured/bundles.{json,md}.

    python benchmarks/scripts/bundle_figures.py tests/data/languages/*.jsonl --out docs/measured/bundles.json

The replies of the model are recorded (tests/data/replies). A system with the model is scored on the notes that have
replies to all requests.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from incognote.evaluation.intervals import Figure, interval, resampled, share
from incognote.evaluation.report import ScoreReport
from incognote.nouns import Span
from incognote.schemas.catalogue import catalogue
from incognote_benchmarks.recorded import BOTH, REPLIES, TOGETHER, System, answered, read_notes, scored

EMBEDDED = (
    System("rules", None),
    System("encoder", None, detectors=("encoder",)),
    System("both", None, detectors=BOTH),
)
MODEL = tuple(system for system in TOGETHER if system.prompt)
DIRECT = frozenset({"PERSON", "ID", "CONTACT"})
"""The evaluation groups of direct identifiers: names, numbers, and contact data."""
WEIGHT = 5
"""How much more a missed character of a direct identifier counts in the weighted recall (papers/001 §7.4)."""
NAMES = {"ar": "Arabic", "de": "German", "es": "Spanish", "fr": "French"}
STRATA: Mapping[str, Mapping[str, str]] = {
    "ar": {
        "Gulf": "saudi kuwait qatar bahrain emirates uae oman gulf yemen",
        "Egypt and Sudan": "egypt sudan",
        "Iraq and Levant": "iraq syria lebanon jordan palestine levant",
        "Maghreb": "morocco algeria tunisia libya mauritania",
        "no country": "",
    },
    "de": {"Germany": "germany", "Austria": "austria", "Switzerland and Luxembourg": "switzerland luxembourg"},
    "es": {"Spain": "spain", "Latin America and United States": ""},
    "fr": {"France": "france", "Belgium and Switzerland": "belgium switzerland", "Québec": "québec", "Africa": ""},
}
"""The regions of each language (§7.2) by a word of the note's country. The last one without words takes the rest."""
COLUMNS = (
    "character recall", "character precision", "notes that leak", "notes that leak a direct identifier",
    "weighted recall", "notes without identifiers changed",
)  # fmt: skip
HEAD = f"""# Detection in Arabic, German, Spanish, and French

`python benchmarks/scripts/bundle_figures.py` generates this page. The policy is `strict`, and the language is
accepted. All intervals are 95% intervals: a bootstrap over documents, and the Wilson method for shares of documents.

All texts are **synthetic**: blind notes of two authors for each language. `tests/data/README.md` says who wrote them.
Totals were looked at, the single errors never. Characters are letters and digits. Entity types are ignored.

| Term | Meaning |
|---|---|
| note that leaks | At least one character of an identifier remains. |
| direct identifier | A name, a number of a person, or contact data. |
| weighted recall | A character of a direct identifier counts {WEIGHT} times. |
| prompt 3 | A large language model with the prompt `extract/v3` and the additions for the language. |
| all three | Rules, encoder, and model. The veto (`models.veto`) drops what only one of rules and encoder found. |

The replies of the model are recorded, and it is not known which model it was (`tests/data/replies/README.md`).
"""


def region(code: str, country: str) -> str:
    """The region of a note."""
    folded = country.lower()
    return next(name for name, words in STRATA[code].items() if not words or any(w in folded for w in words.split()))


def leaks(notes: Sequence[Mapping[str, Any]], found: Sequence[Sequence[Span]]) -> list[dict[str, int]]:
    """Count, for each note, the characters of direct and other identifiers, and those that remain."""
    rows = []
    for note, spans in zip(notes, found, strict=True):
        covered = {at for span in spans for at in range(span.start, span.end)}
        row = {"direct": 0, "other": 0, "direct left": 0, "other left": 0}
        for gold in note["spans"]:
            kind = "direct" if catalogue()[gold["type"]].group in DIRECT else "other"
            places = [at for at in range(gold["start"], gold["end"]) if note["text"][at].isalnum()]
            row[kind] += len(places)
            row[f"{kind} left"] += sum(at not in covered for at in places)
        rows.append(row)
    return rows


def weighted(rows: Sequence[Mapping[str, int]]) -> Figure:
    """Return the recall in which a character of a direct identifier counts WEIGHT times."""
    counts = np.array([
        [WEIGHT * r["direct"] + r["other"], WEIGHT * r["direct left"] + r["other left"]] for r in rows
    ], dtype=np.float64)  # fmt: skip
    whole, left = counts.sum(axis=0)
    drawn = resampled(counts, 1000, 1)
    low, high = interval(1 - drawn[:, 1] / drawn[:, 0])
    return Figure(1 - left / whole, low, high, int(whole))


def figures(report: ScoreReport, rows: Sequence[Mapping[str, int]]) -> dict[str, Any]:
    """The figures of a system."""
    phi = [row for row in rows if row["direct"] + row["other"]]
    direct = share(sum(row["direct left"] > 0 for row in phi), len(phi))
    return {
        **{name: figure.as_dict() for name, figure in report.figures.items()},
        "documents_leaking_direct": direct.as_dict(),
        "weighted_recall": weighted(phi).as_dict(),
        "types": {name: row.spans.as_dict() for name, row in report.types.items()},
        "documents": report.documents,
        "with_phi": report.with_phi,
    }


def regions(code: str, notes: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, int]]) -> dict[str, Any]:
    """Recall and leaking notes by region."""
    made: dict[str, Any] = {}
    for name in STRATA[code]:
        own = [row for note, row in zip(notes, rows, strict=True) if region(code, note["country"]) == name]
        own = [row for row in own if row["direct"] + row["other"]]
        if not own:
            continue
        left = [row["direct left"] + row["other left"] for row in own]
        pairs = [[row["direct"] + row["other"], n] for row, n in zip(own, left, strict=True)]
        counts = np.array(pairs, dtype=np.float64)
        drawn = resampled(counts, 1000, 1)
        low, high = interval(1 - drawn[:, 1] / drawn[:, 0])
        whole, lost = counts.sum(axis=0)
        made[name] = {
            "notes": len(own),
            "recall": Figure(1 - lost / whole, low, high, int(whole)).as_dict(),
            "documents_leaking": share(sum(n > 0 for n in left), len(own)).as_dict(),
        }
    return made


def measured(path: Path) -> dict[str, Any]:
    """All figures of one language."""
    lines, code = read_notes([path]), path.stem
    systems: dict[str, Any] = {}
    strata: dict[str, Any] = {}
    for group in (EMBEDDED, MODEL):
        texts = [str(json.loads(line)["text"]) for line in lines]
        found, left = answered([replace(system, language=code) for system in group], texts, REPLIES)
        kept = [lines[i] for i in left]
        notes = [json.loads(line) for line in kept]
        for name, report in scored(kept, found, code).items():
            rows = leaks(notes, found[name])
            systems[name] = figures(report, rows)
            strata[name] = regions(code, notes, rows)
    return {"systems": systems, "regions": {name: strata[name] for name in ("both", "all three")}}


def page(found: Mapping[str, Any]) -> str:
    """Format the figures as Markdown."""
    lines = [HEAD]
    for code, told in found.items():
        systems = told["systems"]
        lines += [f"## {NAMES[code]}", "", *_table(("", "notes", *COLUMNS), _rows(systems)), ""]
        lines += ["Recall and notes that leak, by region:", ""]
        head = ("", "notes", "both: recall", "both: leak", "all three: recall", "all three: leak")
        lines += [*_table(head, _by_region(told["regions"])), ""]
        kinds = [name for name, row in systems["both"]["types"].items() if row["of"] >= 10]
        lines += ["Share of spans found, by type (types with at least 10 spans):", ""]
        counts = [str(systems["both"]["types"][kind]["of"]) for kind in kinds]
        rows = ([k, n, *(_found(s, k) for s in systems.values())] for k, n in zip(kinds, counts, strict=True))
        lines += [*_table(("", "n", *systems), rows), ""]
    return "\n".join(lines)


def _rows(systems: Mapping[str, Any]) -> Iterable[list[str]]:
    keys = (
        "recall", "precision", "documents_leaking", "documents_leaking_direct", "weighted_recall",
        "clean_texts_touched",
    )  # fmt: skip
    for name, told in systems.items():
        yield [name, str(told["documents"]), *(_written(told[key]) for key in keys)]


def _by_region(told: Mapping[str, Any]) -> Iterable[list[str]]:
    for name, row in told["both"].items():
        others = [each[name][key] for each in told.values() for key in ("recall", "documents_leaking") if name in each]
        yield [name, str(row["notes"]), *map(_written, others)]


def _found(system: Mapping[str, Any], kind: str) -> str:
    return _written(system["types"][kind]) if kind in system["types"] else "–"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(head) + " |", "|---" * len(head) + "|", *("| " + " | ".join(row) + " |" for row in rows)]


def _written(figure: Mapping[str, Any]) -> str:
    return str(Figure(figure["value"], figure["low"], figure["high"], figure["of"]))


def main() -> None:
    """Measure, and write the JSON and the page beside it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("gold", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    found = {path.stem: measured(path) for path in given.gold}
    given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    given.out.with_suffix(".md").write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()

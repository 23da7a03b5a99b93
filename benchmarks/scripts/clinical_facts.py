"""Relexicalize texts and count the clinical facts that a surrogate replaced, with and without the checks of `facts`.

    python benchmarks/scripts/clinical_facts.py [--texts 300] [--shared FOLDER] [--out docs/measured/facts.json]

The texts are the development notes and, if FOLDER holds them, MTSamples and ACI-Bench. Each text is its own patient.
Characters outside the replaced spans must stay as they are. A replaced span counts as a clinical fact if a pattern of
this program, which `incognote.relex.facts` does not use, sees one there, or if all its words are in the list of drugs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
from collections import Counter
from pathlib import Path
from unittest.mock import patch

from incognote import Deidentifier
from incognote.keys import Keyring
from incognote.nouns import Result
from incognote.relex.index.opening import open_index
from incognote.text.lexicon import MEDICAL, fold, lexicon

ROOT = Path(__file__).parents[2]
KEY = "6b" * 32
_FACTS = {
    "number and unit": r"\d[\d.,/-]*\s?(?:mg|mcg|g|kg|ml|mmol|mmhg|units?|cm|mm|%)(?!\w)",
    "laboratory value": r"(?:\b(?:Na|K|Cl|Cr|Hgb|WBC|INR|TSH|PSA|EF|HR|BP|SpO2)|creatinine|glucose)[ :=]+\d[\d./]*",
    "score": r"\b(?:APGARs?|GCS|NIHSS|MMSE|MoCA|PHQ-?9|GAD-?7|Gleason|Bishop|YMRS|Alvarado)[ :]+\d+(?:/\d+)?",
    "gestational age": r"\b[2-4]\d ?(?:w ?\d ?d|\+ ?[0-6]|[0-6]/7)(?!\d)",
    "gravida and para": r"\bG\d+ ?P\d+",
    "code": r"\b(?:CPT|LOINC|SNOMED|NDC|ICD-?10)[ :#]+[\w.-]*\d[\w.-]*",
    "gene": r"\b(?:BRCA[12]|TP53|KRAS|EGFR|MLH1|MSH[26]|PMS2|CFTR)\b",
}


def texts(shared: Path) -> list[str]:
    """The texts, the corpora in turn."""
    files = [ROOT / "tests" / "data" / f"{name}.jsonl" for name in ("notes", "dev_e", "dev_f", "dev_g", "dev_h")]
    files += [shared / "mtsamples_subset.jsonl", shared / "acibench_notes_dialogues.jsonl"]
    corpora = [[json.loads(line) for line in f.read_text("utf-8").splitlines()] for f in files if f.exists()]
    longest = max(map(len, corpora))
    return [row.get("text") or row["note"] for at in range(longest) for rows in corpora for row in rows[at : at + 1]]


def measure(chosen: list[str]) -> dict[str, object]:
    """Counts over the outputs of all texts."""
    findings, facts, labels, reasons, outcomes = (Counter[str]() for _ in range(5))
    outside = 0
    with tempfile.TemporaryDirectory() as folder:
        index = f"sqlite:///{folder}/index"
        asyncio.run(_create(index))
        with Deidentifier("surrogate", key=KEY, index=index) as deid:
            for number, text in enumerate(chosen):
                result = deid.deidentify(text, patient=str(number))
                outcomes[result.verdict.outcome] += 1
                outside += result._output is not None and not _same_outside(text, result)
                for r in result.replacements:
                    findings[r.span.type] += 1
                    if r.text.startswith("["):
                        labels[r.span.type] += 1
                        reasons[r.reason or "other"] += 1
                    else:
                        facts.update(_facts(text, r.span.start, r.span.end))
    return {
        "texts": len(chosen), "outcomes": dict(outcomes), "findings": findings.total(), "labeled": labels.total(),
        "labeled_share": round(labels.total() / findings.total(), 4), "labeled_by_type": dict(labels.most_common()),
        "reasons": dict(reasons.most_common()), "clinical_facts_replaced": dict(facts),
        "texts_changed_outside": outside,
    }  # fmt: skip


async def _create(index: str) -> None:
    async with await open_index(index, Keyring(bytes.fromhex(KEY)), create=True):
        pass


def _same_outside(text: str, result: Result) -> bool:
    new, at, out = result.output(even_if_unreleased=True), 0, 0
    for r in result.replacements:
        if text[at : r.span.start] != new[out : r.out_start]:
            return False
        at, out = r.span.end, r.out_end
    return text[at:] == new[out:]


def _facts(text: str, start: int, end: int) -> list[str]:
    around, low = text[max(0, start - 40) : end + 20], min(start, 40)
    span = range(low, low + end - start)
    digits = {at for at in span if around[at].isdigit()}
    found = [
        name for name, pattern in _FACTS.items()
        for match in re.finditer(pattern, around)
        if digits and digits <= set(range(*match.span()))
    ]  # fmt: skip
    words = re.findall(r"[^\W\d_]+", text[start:end])
    return found or (["drug"] if words and all(lexicon().get(fold(w), 0) & MEDICAL for w in words) else [])


def main() -> None:
    """Measure with and without the checks, print, and write."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--texts", type=int, default=300)
    asked.add_argument("--shared", type=Path, default=ROOT.parent / "shared" / "data")
    asked.add_argument("--out", type=Path, default=ROOT / "docs" / "measured" / "facts.json")
    args = asked.parse_args()
    chosen = texts(args.shared)[: args.texts]
    measured = {"with": measure(chosen)}
    with patch("incognote.relex.facts.withheld", return_value={}), patch(
        "incognote.agents.steps.misleading", return_value={}
    ):
        measured["without"] = measure(chosen)
    written = json.dumps(measured, indent=2) + "\n"
    args.out.write_text(written, encoding="utf-8")
    print(written)  # noqa: T201 -- the report


if __name__ == "__main__":
    main()

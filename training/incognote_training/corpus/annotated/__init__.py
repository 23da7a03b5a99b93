"""Real clinical prose that a large language model annotated: the spans, without the words.

`real_prose.jsonl` covers texts of two open corpora that do not come with the project. It holds a large language model's
answers to the prompt `extract/v2`, chunk by chunk and verbatim, placed by our alignment (date, version, and sampling
settings of the model unknown; one pass). Placeholders ("Dr. X") and bare weekdays were removed by rule.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from incognote.errors import UsageError
from incognote.evaluation.formats.document import LabeledSpan
from incognote.jsonlines import read_rows, rows
from incognote_training.corpus.document import Document


def read(folder: str | Path) -> Iterator[Document]:
    """Read the annotated texts.

    Args:
        folder: the folder of the corpora (`acibench_notes_dialogues.jsonl`, `mtsamples_subset.jsonl`).

    Raises:
        UsageError: a corpus is missing, or one of its texts is not the one that was annotated.
    """
    corpora: dict[str, Mapping[str, Mapping[str, Any]]] = {}
    ours = files(__package__).joinpath("real_prose.jsonl").read_text(encoding="utf-8")
    for _, row in rows(ours, "real_prose.jsonl"):
        name = row["file"]
        if name not in corpora:
            corpora[name] = _corpus(Path(folder) / name)
        text = str(corpora[name].get(row["id"], {}).get(row["field"], ""))[: row["length"]]
        if hashlib.sha256(text.encode()).hexdigest()[:16] != row["sha256"]:
            raise UsageError(f"{name}: {row['id']} is not the text that was annotated. Use the corpus as published")
        spans = tuple(LabeledSpan(start, end, kind) for start, end, kind in row["spans"])
        style = f"{Path(name).stem.partition('_')[0]} {row['field']}"
        yield Document(f"{row['id']}-{row['field']}", text, spans, "en", style, "annotated")


def _corpus(path: Path) -> dict[str, Mapping[str, Any]]:
    if not path.is_file():
        raise UsageError(f"{path.name} is not in the folder of corpora (INCOGNOTE_SHARED_DATA)")
    return {row["id"]: row for _, row in read_rows(path)}

"""Real clinical prose that a large language model annotated: which stretches, without the words.

`real_prose.jsonl` holds, for texts of two open corpora that do not come with the project, what a large language model
answered to the prompt `extract/v2`, chunk by chunk and word for word, placed by our alignment (date, version and
sampling settings of the model unknown; one pass). Placeholders ("Dr. X") and bare weekdays were taken out by rule.
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
    """The annotated texts.

    Args:
        folder: where the corpora lie (`acibench_notes_dialogues.jsonl`, `mtsamples_subset.jsonl`).

    Raises:
        UsageError: a corpus is not there, or a text of it is another than the one that was annotated.
    """
    corpora: dict[str, Mapping[str, Mapping[str, Any]]] = {}
    ours = files(__package__).joinpath("real_prose.jsonl").read_text(encoding="utf-8")
    for _, told in rows(ours, "real_prose.jsonl"):
        name = told["file"]
        if name not in corpora:
            corpora[name] = _corpus(Path(folder) / name)
        text = str(corpora[name].get(told["id"], {}).get(told["field"], ""))[: told["length"]]
        if hashlib.sha256(text.encode()).hexdigest()[:16] != told["sha256"]:
            raise UsageError(f"{name}: {told['id']} is not the text that was annotated; take the corpus as published")
        spans = tuple(LabeledSpan(start, end, kind) for start, end, kind in told["spans"])
        style = f"{Path(name).stem.partition('_')[0]} {told['field']}"
        yield Document(f"{told['id']}-{told['field']}", text, spans, "en", style, "annotated")


def _corpus(path: Path) -> dict[str, Mapping[str, Any]]:
    if not path.is_file():
        raise UsageError(f"{path.name} is not in the folder of corpora (INCOGNOTE_SHARED_DATA)")
    return {row["id"]: row for _, row in read_rows(path)}

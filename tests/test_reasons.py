"""Each reason for holding a record has a plain-language description."""

from __future__ import annotations

import re
from pathlib import Path

import incognote
from incognote.errors import IncognoteError, IndexProblem, ModelProblem, RecordProblem, StoreProblem
from incognote.reasons import reason_texts

PACKAGE = Path(incognote.__file__).parent
BASES = {"record", "model", "index", "store"}  # codes of classes that are only raised as their subclasses


def test_every_reason_code_has_a_text_in_whole_sentences() -> None:
    written = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    codes = set(re.findall(r'\bReason\(\s*"([a-zA-Z-]+)"', written))
    assert len(codes) > 15
    codes |= {kind.code for base in _KINDS for kind in _below(base) if kind.code} - BASES
    assert codes - reason_texts().keys() == set()
    for text in reason_texts().values():
        assert all(sentence.endswith(".") for sentence in (text.means, text.next, text.review))


def test_a_reviewer_gets_a_text_of_their_own_only_where_it_differs() -> None:
    texts = reason_texts()
    assert texts["doubtful"].review.startswith("Add it")
    assert texts["gzip"].review == texts["gzip"].next


_KINDS: tuple[type[IncognoteError], ...] = (RecordProblem, ModelProblem, IndexProblem, StoreProblem)


def _below(kind: type[IncognoteError]) -> set[type[IncognoteError]]:
    return {one for sub in kind.__subclasses__() for one in (sub, *_below(sub))}

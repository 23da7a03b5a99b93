"""One training document: a text and its gold spans, as in our JSONL lines."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from incognote.errors import ImpossibleSpan, MalformedRecord
from incognote.evaluation.formats.document import LabeledSpan


@dataclass(frozen=True, slots=True)
class Document:
    """A text with spans that are disjoint, not empty, inside the text, and in order.

    Attributes:
        style: the kind of document: the family, or the writer's description.
        source: where it comes from: `template`, `injected`, `handwritten` or a file's name.

    Raises:
        ImpossibleSpan: on construction, if the spans do not fit.
    """

    id: str
    text: str = field(repr=False)
    spans: tuple[LabeledSpan, ...]
    lang: str = "en"
    style: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        before = 0
        for start, end, _ in self.spans:
            if not before <= start < end <= len(self.text):
                raise ImpossibleSpan(
                    f"document {self.id}: spans must be in order, disjoint, not empty, inside the text"
                )
            before = end

    def line(self) -> str:
        """Return the document as a line of a file."""
        spans = [{"start": start, "end": end, "type": kind} for start, end, kind in self.spans]
        row = {"id": self.id, "text": self.text, "lang": self.lang, "style": self.style, "spans": spans,
               "source": self.source}  # fmt: skip
        return json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"


def read_line(line: str) -> Document:
    """Read a document from a line of a file.

    Raises:
        MalformedRecord: the line is not such an object, or its spans do not fit.
    """
    try:
        row = json.loads(line)
        spans = tuple(sorted(LabeledSpan(span["start"], span["end"], span["type"]) for span in row["spans"]))
        more = {key: row.get(key) or "" for key in ("style", "source")}
        return Document(row["id"], row["text"], spans, row.get("lang", "en"), **more)
    except (ValueError, KeyError, TypeError, ImpossibleSpan) as error:
        raise MalformedRecord(f"not a document line ({type(error).__name__}): it needs id, text and spans") from None

"""Adapters for libraries that users already have: Presidio, spaCy, LangChain, LangGraph and MCP.

Each module needs the extra of its name and imports its library only when you import the module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from incognote.errors import UnsupportedFormat
from incognote.text.container import of_text

if TYPE_CHECKING:
    from incognote.nouns import Span
    from incognote.sdk import Deidentifier


def spans_of(deidentifier: Deidentifier, texts: Sequence[str], types: str | None) -> list[list[Span]]:
    """The spans of each text, disjoint and in order.

    Raises:
        UnsupportedFormat: a text is a file format, such as RTF, in which words can be hidden from the detectors.
        ModelProblem: a language model did not read all of a text.
    """
    for text in texts:
        if (what := of_text(text)) is not None:
            raise UnsupportedFormat.of(what, "text")
    return deidentifier.detect(texts, types=types)

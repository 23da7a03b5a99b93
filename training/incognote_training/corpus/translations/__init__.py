"""Translations of our English texts, made with the method of the Arabic paper (`translation`).

The replies are those of a large language model that was given exactly the prompts of `incognote distill translate`
(2026-11-28, 16 or 60 prompts one after the other in one conversation; its name, version, and settings are unknown).
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

from incognote_training.corpus import marked
from incognote_training.corpus.document import Document
from incognote_training.corpus.translation import Translation, read_replies


def translation(code: str, seed: int = 1) -> tuple[Translation, list[Document]]:
    """Return the recorded translations into a language: what became of each text, and the documents."""
    replies = read_replies(Path(str(files(__package__).joinpath(f"{code}.jsonl"))))
    made = Translation((document for document in marked.read() if document.id in replies), code, seed)
    return made, made.filled(replies)


def translated(codes: Iterable[str], seed: int = 1) -> list[Document]:
    """Return the translated documents of several languages."""
    return [document for code in codes for document in translation(code, seed)[1]]

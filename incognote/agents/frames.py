"""A pandas frame, its column of notes de-identified."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from incognote.agents.engine import Engine
from incognote.agents.item import Item
from incognote.detectors.known import known_from
from incognote.errors import UsageError
from incognote.nouns import Result
from incognote.operators.hash import pseudonym


def deidentify_frame(
    batch: Callable[[Iterable[Item]], Iterator[Result]], engine: Engine, df: Any, *,
    text: str, patient: str | None, known: Sequence[str], keep: Sequence[str],
) -> Any:  # fmt: skip
    """As `Deidentifier.deidentify_frame`, whose batch and engine these are."""
    import pandas as pd

    known = [known] if isinstance(known, str) else list(known)
    keep = [keep] if isinstance(keep, str) else list(keep)
    hashed = dict.fromkeys([*([patient] if patient is not None else []), *known])
    for column in (text, *hashed, *keep):
        if column not in df.columns:
            raise UsageError(f"the frame has no column {column!r}")
    if text in hashed:
        raise UsageError(f"the column {text!r} is named for two things: it is the text")
    taken = [c for c in ("verdict", "reasons") if c in df.columns]
    if taken:
        raise UsageError(f"the frame has a column {taken[0]!r} already: rename it")

    def missing(value: Any) -> bool:
        return bool(pd.api.types.is_scalar(value) and pd.isna(value))

    cells = {column: df[column].tolist() for column in (text, *hashed)}

    def item(i: int) -> Item:
        words = {str(name): _plain(cells[name][i]) for name in known if not missing(cells[name][i])}
        subject = None if patient is None or missing(cells[patient][i]) else _subject(cells[patient][i])
        if not isinstance(cells[text][i], str):
            return Item("", fault=f"the column {text!r} holds a value that is not text")
        return Item(cells[text][i], patient=subject, known=known_from(words) if words else ())

    results = batch(item(i) for i, note in enumerate(cells[text]) if not missing(note))
    each = [None if missing(note) else next(results) for note in cells[text]]
    frame = df.copy()
    texts = [
        note if r is None else r.text if r.verdict.released else None
        for note, r in zip(cells[text], each, strict=True)
    ]
    frame[text] = pd.Series(texts, index=df.index, dtype=object)
    for column in hashed.keys() - keep:
        codes = [
            cell if missing(cell) or (name := _subject(cell)) is None
            else pseudonym(name, engine.keyring, engine.domain)
            for cell in cells[column]
        ]
        frame[column] = pd.Series(codes, index=df.index, dtype=object)
    frame["verdict"] = [r.verdict.outcome if r else "release" for r in each]
    frame["reasons"] = ["; ".join(str(x) for x in r.verdict.reasons) if r else "" for r in each]
    return frame


def _subject(value: Any) -> str | None:
    """A subject as text: 7.0, which pandas makes of an integer beside a gap, is 7; blanks are no subject."""
    written = str(_plain(value))
    return written if written.strip() else None


def _plain(value: Any) -> Any:
    """A cell's value; pandas makes a float of an integer beside a gap, and 7.0 is found in no text."""
    return int(value) if isinstance(value, float) and value.is_integer() else value

"""`incognote detect` for files with pages, and for recordings: what the policy would remove, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incognote.files.inputs import Input
    from incognote.files.sources import Source, Sources
    from incognote.sdk import Deidentifier

_TEXTS = ("lines", "text", "json", "other")
_NO_PIXELS = "no-pixels: the file has no page of pixels and no sound. To see its spans, run: incognote deid FILE --show"


def are_pages(sources: Sources) -> bool:
    """Whether the sources are a folder, recordings, or files whose pages may be pictures: images, PDF, DICOM files."""
    alone = len(sources.files) == 1 and sources.files[0].kind in _TEXTS
    return not alone and (bool(sources.folders) or any(source.kind not in _TEXTS for source in sources.files))


def removed_boxes(sources: Sequence[Source], made: Deidentifier) -> Iterator[tuple[Input, dict[str, Any]]]:
    """Yield each file with its line: its name, and the boxes or intervals that the policy would remove.

    They do not depend on the verdict. A file that cannot be read, or has neither, has `error` instead.
    """
    from incognote.files.inputs import read

    for source in sources:
        without_pixels: Source | None = None  # it may have many records
        for one in read(source):
            if one.source != without_pixels and not one.left_out:
                line = _line(one, made)
                without_pixels = one.source if line.get("error") == _NO_PIXELS else None
                yield one, {"id": one.source.name, **line}


def _line(one: Input, made: Deidentifier) -> dict[str, Any]:
    from incognote.agents.item import item_of
    from incognote.formats.audio.document import AudioDocument
    from incognote.formats.pictures import has_boxes

    if one.error is not None:
        return {"error": str(one.error)}
    is_sound = isinstance(one.document, AudioDocument)
    if one.document is None or not (is_sound or has_boxes(one.document)):
        return {"error": _NO_PIXELS}
    result = made.deidentify(item_of(one, made.engine))
    if result.verdict.outcome == "quarantine" and not (result.boxes or result.intervals):
        return {"error": "; ".join(str(reason) for reason in result.verdict.reasons)}
    if is_sound:
        intervals = [each.as_dict() for each in result.intervals]
        return {"intervals": intervals, "verdict": result.verdict.outcome}
    return {"boxes": [each.as_dict() for each in result.boxes], "verdict": result.verdict.outcome}

"""`incognote detect` for files with pages: the boxes that the policy would remove, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incognote.files.inputs import Input
    from incognote.files.sources import Source
    from incognote.sdk import Deidentifier


def are_pages(sources: Sequence[Source]) -> bool:
    """Whether the sources are files whose pages are pictures, or may be: images, PDF, and DICOM files."""
    return bool(sources) and all(source.kind not in ("lines", "text", "json", "other") for source in sources)


def removed_boxes(sources: Sequence[Source], made: Deidentifier) -> Iterator[tuple[Input, dict[str, Any]]]:
    """Yield each file with its line: its name and the boxes that the policy would remove, whatever the verdict.

    A file that cannot be read has `error` instead.
    """
    from incognote.agents.item import item_of
    from incognote.files.inputs import read

    for source in sources:
        for one in read(source):
            name = source.inner_name
            if one.error is not None:
                yield one, {"id": name, "error": str(one.error)}
                continue
            result = made.deidentify(item_of(one, made.engine))
            if result.verdict.outcome == "quarantine" and not result.boxes:
                yield one, {"id": name, "error": "; ".join(str(reason) for reason in result.verdict.reasons)}
                continue
            boxes = [each.as_dict() for each in result.boxes]
            yield one, {"id": name, "boxes": boxes, "verdict": result.verdict.outcome}

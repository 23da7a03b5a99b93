"""The connection between a record's machine and the vault: what is removed from an image is kept before its release."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from incognote.agents.stages import Opened, Replaced
from incognote.errors import KeyMissing, SettingError
from incognote.formats.base import UNWORDED
from incognote.keys import Keyring
from incognote.relex.index.opening import check_address, open_index, password_of
from incognote.relex.vault import RemovedBox, RemovedPart, image_number, keep_removed
from incognote.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from incognote.formats.pictures import PagedDocument
    from incognote.relex.index.base import SurrogateIndex

MOST_BYTES = 128 * 1024
"""The maximum size of the PNG file of a cut-out. A larger one is halved in width and height until it fits."""
MOST_CUT_OUTS = 200
"""The maximum number of cut-outs of a record. Further boxes are kept without pixels."""


class Vault:
    """Keeps what is removed from the images of a Deidentifier.

    Args:
        pixels: keep also the pixels that were removed.

    Raises:
        SettingError: no index is named, or its address is not valid.
        KeyMissing: the key exists only in this process.
    """

    def __init__(self, settings: Settings, keyring: Keyring, *, pixels: bool) -> None:
        if settings.index is None and not settings.replay:
            raise SettingError(
                "index: the policy has a vault, so it needs an index for what it removes from images. Run `incognote "
                "index create`, then set INCOGNOTE_INDEX."
            )
        if not keyring.persistent:
            raise KeyMissing(
                "The vault needs a persistent key. Run `incognote key new`, or set key_file (INCOGNOTE_KEY_FILE)."
            )
        if settings.index is not None:
            check_address(settings.index, password_of(settings))  # a wrong one fails here, not in every record
        self._settings, self._keyring, self._pixels = settings, keyring, pixels
        self._index: SurrogateIndex | None = None
        self._turn = asyncio.Lock()

    async def keep(self, data: bytes, name: str, domain: str, opened: Opened, replaced: Replaced) -> str | None:
        """Keep what is removed from a record. In a replay, the earlier run has kept it.

        Args:
            data: the bytes of the record.
            name: its name (`steps.name_of`).

        Returns:
            The identification number of the image; None if nothing is removed from its pages.

        Raises:
            IndexProblem: nothing may be released, and the record waits.
            Exception: a page cannot be drawn. The message may quote the record.
        """
        parts = removed_parts(opened, replaced)
        if not parts:
            return None
        image = image_number(self._keyring, domain, data)
        if not self._settings.replay:
            if self._pixels:
                parts = await asyncio.to_thread(_with_pixels, _paged(opened), parts)
            await keep_removed(await self._opened(), domain, image, name, opened.patient, parts)
        return image

    async def _opened(self) -> SurrogateIndex:
        async with self._turn:
            if self._index is None:
                settings = self._settings
                assert settings.index is not None  # checked in __init__
                self._index = await open_index(settings.index, self._keyring, password=password_of(settings))
            return self._index

    async def aclose(self) -> None:
        """Close the index."""
        if self._index is not None:
            index, self._index = self._index, None
            await index.aclose()


def removed_parts(opened: Opened, replaced: Replaced) -> tuple[RemovedPart, ...]:
    """Return what the replacements remove from the pages of a record, without pixels."""
    record = _paged(opened)
    if record is None:
        return ()
    parts = []
    for one in replaced.replacements:
        span = one.span
        boxes = record.boxes_of(span.field, span.start, span.end)
        if boxes:
            words = span.text.replace(UNWORDED, "").strip()
            parts.append(RemovedPart(span.type, words, tuple(RemovedBox(page, *box) for page, box in boxes)))
    return tuple(parts)


def _paged(opened: Opened) -> PagedDocument | None:
    from incognote.formats.pictures import PagedDocument

    return opened.record if isinstance(opened.record, PagedDocument) else None


def _with_pixels(record: PagedDocument | None, parts: Sequence[RemovedPart]) -> tuple[RemovedPart, ...]:
    """Return parts with the pixels of their boxes, cut out of one page after the other."""
    import cv2
    import numpy as np

    assert record is not None  # it has parts
    every = dict.fromkeys(box for part in parts for box in part.boxes)
    boxes = sorted(every, key=lambda box: (box.page, box.y0, box.x0))
    cut: dict[RemovedBox, RemovedBox] = {}
    page, drawn = 0, None
    for box in boxes[:MOST_CUT_OUTS]:
        if box.page != page or drawn is None:
            picture = np.frombuffer(record.picture(box.page).png, np.uint8)
            page, drawn = box.page, cv2.imdecode(picture, cv2.IMREAD_UNCHANGED)
        cut[box] = replace(box, png=_png(np.asarray(drawn, np.uint8)[box.y0 : box.y1, box.x0 : box.x1]))
    return tuple(replace(part, boxes=tuple(cut.get(box, box) for box in part.boxes)) for part in parts)


def _png(pixels: NDArray[np.uint8]) -> bytes | None:
    """Return pixels as a PNG file of at most `MOST_BYTES`; None for no pixels."""
    import cv2

    while pixels.size:
        made, data = cv2.imencode(".png", pixels)
        if made and data.size <= MOST_BYTES:
            return data.tobytes()
        high, wide = pixels.shape[:2]
        if min(high, wide) < 2:
            return None
        pixels = cv2.resize(pixels, (wide // 2, high // 2), interpolation=cv2.INTER_AREA).astype("uint8")
    return None

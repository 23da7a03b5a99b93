"""The vault: what was removed from an image, sealed in the index under the identification number of the image.

Algorithm 1 of the image paper (§II.C) keeps the removed details apart under such a number, so that holders of the key
can re-identify the image later (`getPatientDetails`, `savePatientDetailsAsTextFile`). The index stores them like the
mentions of a record: in the scope of the patient, in a block of the image. So they are sealed, rekeyed, exported, and
forgotten with everything else of the patient.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from incognote.errors import SettingError
from incognote.keys import Keyring
from incognote.nouns import patient_scope
from incognote.relex.index.base import SurrogateIndex
from incognote.relex.index.nouns import CUT_OUT, IMAGE, Sighting

_DIGITS = 24
_TOGETHER = 50  # documents of one write


@dataclass(frozen=True, slots=True)
class RemovedBox:
    """A box that was removed from a page.

    Args:
        page: from 1.
        x0, y0, x1, y1: its sides in pixels of the page, from the top left corner; x1 and y1 are exclusive.
        png: the pixels that were there, as a PNG file; None if they are not kept.
    """

    page: int
    x0: int
    y0: int
    x1: int
    y1: int
    png: bytes | None = field(default=None, repr=False)

    @property
    def place(self) -> tuple[int, int, int, int, int]:
        """The page and the sides."""
        return self.page, self.x0, self.y0, self.x1, self.y1


@dataclass(frozen=True, slots=True)
class RemovedPart:
    """An identifier that was removed from an image.

    Args:
        type: its entity type.
        words: what was read there; "" for a part without words, such as a signature.
        boxes: where it was; one for each line of it.
    """

    type: str
    words: str = field(repr=False)
    boxes: tuple[RemovedBox, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-able data, without pixels."""
        boxes = [dict(zip(("page", "x0", "y0", "x1", "y1"), box.place, strict=True)) for box in self.boxes]
        return {"type": self.type, "words": self.words, "boxes": boxes}


def image_number(keyring: Keyring, domain: str, data: bytes) -> str:
    """Return the identification number of an image: 24 hexadecimal digits.

    The same bytes have the same number in a domain, as long as the key is the same. It reveals nothing without the key.
    """
    written = json.dumps(["image", domain, hashlib.sha256(data).hexdigest()])
    return keyring.mac("index", written).hex()[:_DIGITS]


async def keep_removed(
    index: SurrogateIndex, domain: str, image: str, record: str, patient: str | None, parts: Sequence[RemovedPart]
) -> None:
    """Keep what was removed from an image. It replaces what was kept of the same record.

    Args:
        record: the name of the record in the index.
        patient: its patient, with whom it is forgotten.

    Raises:
        SettingError: the index stores no originals.
        IndexProblem: the index is not available, and the record waits.
    """
    if not index.originals_kept:
        raise SettingError(
            "index: it was created with originals=off, so it cannot keep what is removed from images. Create an index "
            "with originals=on, or remove `vault` from the policy"
        )
    place = domain, patient_scope(patient) if patient else f"record:{record}", _block(image)
    boxes = {box.place: box for part in parts for box in part.boxes if box.png is not None}
    cut = [
        Sighting(*place, f"{record} cut-out {number}", (json.dumps([record, *where, _text(box.png)]),), CUT_OUT)
        for number, (where, box) in enumerate(boxes.items())
        if box.png is not None
    ]
    for start in range(0, len(cut), _TOGETHER):
        await index.note(cut[start : start + _TOGETHER])
    said = tuple(json.dumps([part.type, part.words, [box.place for box in part.boxes]]) for part in parts)
    await index.note([Sighting(*place, record, said, IMAGE)])


async def removed_from(index: SurrogateIndex, domain: str, image: str) -> tuple[RemovedPart, ...]:
    """Return what was removed from an image; empty if the index does not know it.

    It is in the order of its pages, from top to bottom. If several records have the same image, it is what was removed
    from any of them.
    """
    found = await index.noted(domain, [_block(image)])
    pixels: dict[tuple[Any, ...], bytes] = {}
    for one in found:
        if one.group == CUT_OUT:
            record, *where, png = json.loads(one.said[0])
            pixels[record, tuple(where)] = base64.b64decode(png)
    parts = [
        _part(json.loads(said), one.record, pixels)
        for one in sorted(found, key=lambda one: one.record) if one.group == IMAGE
        for said in one.said
    ]  # fmt: skip
    return tuple(sorted(dict.fromkeys(parts), key=lambda part: [(box.page, box.y0, box.x0) for box in part.boxes]))


async def forget_image(index: SurrogateIndex, domain: str, image: str) -> int:
    """Delete what was removed from an image -> the number of deleted documents."""
    return await index.drop(domain, _block(image))


def _part(said: Sequence[Any], record: str, pixels: dict[tuple[Any, ...], bytes]) -> RemovedPart:
    kind, words, places = said
    boxes = (RemovedBox(*place) for place in places)
    return RemovedPart(kind, words, tuple(replace(box, png=pixels.get((record, box.place))) for box in boxes))


def _block(image: str) -> str:
    return f"image {image}"


def _text(png: bytes) -> str:
    return base64.b64encode(png).decode()

"""Boxes without words that a person added to the page of an image: the worker delivers it with them covered."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cv2", reason="needs the extra images")

import numpy as np
from PIL import Image

from incognote.formats.images import reading
from incognote.nouns import PageBox
from incognote.pages.nouns import Word
from incognote.service.review import ReviewDecision, ReviewQueue
from incognote.service.worker.hooks import Hooks

SEEN = ("Seen", "by", "Dr.", "Emily", "Carter", "today.")
INK = (300, 60, 500, 90)


def test_an_approved_image_is_delivered_with_the_added_boxes_covered(
    house: Any, queue: ReviewQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = tuple(Word(each, (20 + 70 * n, 20, 80 + 70 * n, 38), 0.95) for n, each in enumerate(SEEN))
    monkeypatch.setattr(reading, "reading_of", lambda *_: reading.PageReading(read, read, (), (), 0.95))
    out = io.BytesIO()
    Image.fromarray(np.full((100, 600), 255, np.uint8)).save(out, "PNG")
    house.put("page.png", out.getvalue())
    doubtful = '[types.CLINICIAN]\noperator = "label"\nthreshold = 1.0\n'
    (tmp_path / "ours.toml").write_text(f'name = "ours"\nextends = "strict"\ndoubt = 0.05\n{doubtful}')
    words = {"policy": str(tmp_path / "ours.toml")}
    assert house.run(house.worker(hooks=Hooks(reviews=queue), **words)).states == {"review": 1}
    (entry,) = queue.list(None)
    case = queue.open(entry.id).case
    regions = (PageBox(1, *INK, "SIGNATURE"),)
    queue.decide(entry.id, ReviewDecision("approve", (*case.spans, *case.doubts), regions), "Ada")
    house.run(house.worker(hooks=Hooks(reviews=queue), **words))
    assert house.counts() == {"released": 1}
    (path,) = house.destination.rglob("*.png")
    pixels = np.array(Image.open(path).convert("L"))
    left, top, _, bottom = INK
    assert (pixels[top:bottom, left : left + 3] == 0).all()
    assert (pixels[bottom + 1 :] == 255).all()

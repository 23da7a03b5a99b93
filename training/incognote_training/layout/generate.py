"""Draw pages into a folder: pictures, and their regions in COCO's format."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from incognote.errors import UsageError
from incognote.evaluation import coco
from incognote.files.atomic import write_atomic
from incognote.pages.layout import KINDS
from incognote_training.layout.browser import Browser
from incognote_training.layout.drawing import pictures
from incognote_training.layout.drawing.kinds import page

REGIONS, WORDS = "regions.json", "words.json"
LONGEST = 960
"""Pixels of the longer side of a picture."""


_CODE = re.compile(r'<img(?=[^>]*\sdata-(code128|qr|datamatrix|pdf417)="([^"]+)")', re.IGNORECASE)


def generate(folder: Path, pages: int, seed: int = 1, watch: Callable[[int], None] = lambda done: None) -> None:
    """Write random pages as pictures (PNG, gray), `regions.json`, and `words.json`. The same seed draws the same pages.

    Raises:
        UsageError: Chromium is not installed.
    """
    names = ((f"{number:06}", page(seed * 1_000_003 + number)) for number in range(pages))
    _write(folder, names, LONGEST, watch)


def draw(
    source: Path, folder: Path, longest: int = LONGEST, watch: Callable[[int], None] = lambda done: None
) -> None:
    """Write the HTML pages of a folder as pictures and `regions.json`.

    A page has one `main#page`, and its regions have `data-region`. `<img data-qr="PAYLOAD">`, `data-code128`,
    `data-datamatrix`, and `data-pdf417` become codes.

    Raises:
        UsageError: the folder has no HTML pages, or Chromium is not installed.
    """
    paths = sorted(source.glob("*.html"))
    if not paths:
        raise UsageError("the folder has no HTML pages")
    _write(folder, ((path.stem, filled(path.read_text(encoding="utf-8"))) for path in paths), longest, watch)


def filled(html: str) -> str:
    """Return an HTML page with the pictures of its codes."""
    return _CODE.sub(lambda found: f'<img src="{pictures.code(Random(0), found[1].lower(), found[2])}"', html)  # noqa: S311 -- only a bar's height


def _write(folder: Path, pages: Iterator[tuple[str, str]], longest: int, watch: Callable[[int], None]) -> None:
    import cv2

    folder.mkdir(parents=True, exist_ok=True)
    made, words = [], {}
    with Browser() as browser:
        for number, (stem, html) in enumerate(pages, 1):
            picture, regions = browser.draw(html, longest)
            name = stem + ".png"
            done, data = cv2.imencode(".png", picture, [cv2.IMWRITE_PNG_COMPRESSION, 3])
            if not done:
                raise ValueError("a picture cannot be encoded")
            (folder / name).write_bytes(data.tobytes())
            words[name] = [(word.text, *word.box, word.by_hand, word.upright) for word in browser.words()]
            kept = tuple(region for region in regions if region.kind in KINDS)
            made.append(coco.RegionPage(name, picture.shape[1], picture.shape[0], kept))
            watch(number)
    write_atomic(folder / REGIONS, coco.write(made, KINDS))
    write_atomic(folder / WORDS, json.dumps(words, ensure_ascii=False).encode())

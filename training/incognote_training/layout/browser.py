"""Pictures of HTML pages and the boxes of their regions, from one headless Chromium over its debugging pipe."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from incognote.errors import UsageError
from incognote.pages.nouns import Box, Region

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
"""Where it is, or None."""
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
)  # fmt: skip
# Drops blocks that would be cut off at the end of their column, and returns the boxes of what is left.
_MEASURE = """(async () => {
  await document.fonts.ready;
  await Promise.all([...document.images].map(image => image.decode().catch(() => 0)));
  const main = document.querySelector('#page');
  for (const flow of document.querySelectorAll('.flow')) {
    const bottom = flow.getBoundingClientRect().bottom + 1;
    for (const block of [...flow.children].reverse())
      if (block.getBoundingClientRect().bottom > bottom) block.remove();
  }
  const page = main.getBoundingClientRect();
  const regions = [];
  for (const block of document.querySelectorAll('[data-region]')) {
    const box = block.getBoundingClientRect();
    const left = Math.max(box.left, page.left), right = Math.min(box.right, page.right);
    const top = Math.max(box.top, page.top), bottom = Math.min(box.bottom, page.bottom);
    if (right - left > 3 && bottom - top > 3 && (right - left) * (bottom - top) > 0.6 * box.width * box.height)
      regions.push([block.dataset.region, left - page.left, top - page.top, right - page.left, bottom - page.top]);
  }
  return {regions, page: [page.left, page.top, page.width, page.height]};
})()"""

# Returns each word of the page, its box, and whether it is written by hand or turned by a quarter.
_WORDS = """(() => {
  const main = document.querySelector('#page'), page = main.getBoundingClientRect(), words = [];
  const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT), range = document.createRange();
  for (let text; (text = texts.nextNode());) {
    const by_hand = !!text.parentElement.closest('[data-region=Handwriting],[data-region=Signature],.hand');
    const upright = getComputedStyle(text.parentElement).writingMode === 'horizontal-tb';
    for (const word of text.data.matchAll(/\\S+/g)) {
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const box = range.getBoundingClientRect();
      const place = [box.left - page.left, box.top - page.top, box.right - page.left, box.bottom - page.top];
      words.push([word[0], ...place, by_hand, upright]);
    }
  }
  return words;
})()"""


@dataclass(frozen=True, slots=True)
class DrawnWord:
    """A word of a drawn page.

    Args:
        text: its letters. box: in pixels.
        by_hand: whether it is handwriting. upright: whether its line is horizontal.
    """

    text: str
    box: Box
    by_hand: bool
    upright: bool


class Browser:
    """One tab of one Chromium, for many pages.

    Raises:
        UsageError: Chromium is not installed.
    """

    def __init__(self) -> None:
        if CHROMIUM is None:
            raise UsageError("Chromium is not installed. Install it to draw pages")
        self._number = 0
        self._session: str | None = None
        self._home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        from_us, self._to = os.pipe()
        answers, to_us = os.pipe()
        bash = ("bash", "-c", 'read_fd=$1 write_fd=$2; shift 2; exec "$@" 3<&$read_fd 4>&$write_fd', "chromium")
        self._process = subprocess.Popen(  # noqa: S603 -- a fixed program, which reads only what we write
            [*bash, str(from_us), str(to_us), CHROMIUM, *_FLAGS, f"--user-data-dir={self._home.name}"],
            pass_fds=(from_us, to_us),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(from_us)
        os.close(to_us)
        self._answers = answers
        self._left = bytearray()
        self._drawn = 1.0, 0, 0
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._frame = self._ask("Page.getFrameTree")["frameTree"]["frame"]["id"]
        size = {"width": 1300, "height": 1300, "deviceScaleFactor": 1, "mobile": False}
        self._ask("Emulation.setDeviceMetricsOverride", **size)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._to)
        os.close(self._answers)
        self._process.terminate()
        self._process.wait(20)
        self._home.cleanup()

    def draw(self, html: str, longest: int = 0) -> tuple[NDArray[np.uint8], list[Region]]:
        """Return `main#page` of an HTML page as 8-bit gray (height, width), and its elements with `data-region`.

        Args:
            longest: pixels of the longer side. 0 for one pixel for each CSS pixel.

        Raises:
            ValueError: the page has no `main#page`, or Chromium cannot draw it.
        """
        import cv2

        self._ask("Page.setDocumentContent", frameId=self._frame, html=html)
        answer = self._ask("Runtime.evaluate", expression=_MEASURE, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise ValueError("the page has no main#page, or its script failed")
        left, top, width, height = answer["result"]["value"]["page"]
        scale = longest / max(width, height) if longest else 1.0
        clip = {"x": left, "y": top, "width": width, "height": height, "scale": scale}
        shot = self._ask(
            "Page.captureScreenshot", format="png", clip=clip, optimizeForSpeed=True, captureBeyondViewport=True
        )
        picture = cv2.imdecode(np.frombuffer(base64.b64decode(shot["data"]), np.uint8), cv2.IMREAD_GRAYSCALE)
        if picture is None:
            raise ValueError("Chromium returned no picture")
        tall, wide = picture.shape
        regions = []
        for kind, *corners in answer["result"]["value"]["regions"]:
            x0, y0, x1, y1 = (round(corner * scale) for corner in corners)
            regions.append(Region(kind, (max(0, x0), max(0, y0), min(wide, x1), min(tall, y1))))
        self._drawn = scale, wide, tall
        return np.asarray(picture, np.uint8), regions

    def words(self) -> list[DrawnWord]:
        """Return the words of the page that was drawn last, in the pixels of its picture."""
        scale, wide, tall = self._drawn
        answer = self._ask("Runtime.evaluate", expression=_WORDS, returnByValue=True)
        found = []
        for text, *corners, by_hand, upright in answer["result"]["value"]:
            left, top, right, bottom = (round(corner * scale) for corner in corners)
            box = max(0, left), max(0, top), min(wide, right), min(tall, bottom)
            if box[0] < box[2] and box[1] < box[3]:
                found.append(DrawnWord(text, box, by_hand, upright))
        return found

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise ValueError(f"Chromium refused {method}")
                return dict(answer["result"])

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            piece = os.read(self._answers, 1 << 20)
            if not piece:
                raise ValueError("Chromium ended")
            self._left += piece
        message, _, self._left = self._left.partition(b"\0")
        return dict(json.loads(message))

"""Boxes on the pages of an image, in a real browser: found, dropped, retyped, and drawn by mouse and by keys."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra service")
pytest.importorskip("uvicorn", reason="needs the extra service")
pytest.importorskip("cv2", reason="needs the extra images")

import numpy as np
from PIL import Image

from incognote.agents.item import Item
from incognote.formats.images import reading
from incognote.nouns import PageBox
from incognote.pages.nouns import Box, Word
from incognote.service.audit.verify import entries
from incognote.service.review import case_of, corrected

from ...evaluation.report.browser import CHROMIUM, Browser  # noqa: TID252 -- tests are not a package, so absolute imports cannot reach them
from .serving import Served, confirm, enter, said, until

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)")

SEEN = ("Seen", "by", "Dr.", "Emily", "Carter", "in", "walnut", "today.")
WIDE, HIGH = 700, 400
INK = (400, 250, 600, 300)
"""What no reader reads."""


def box_of(word: str) -> Box:
    at = SEEN.index(word)
    return 20 + 80 * at, 40, 90 + 80 * at, 60


@pytest.fixture
def item(served: Served, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a page with `SEEN` in one line, and ink below it, in review."""
    words = tuple(Word(word, box_of(word), 0.95) for word in SEEN)
    monkeypatch.setattr(reading, "reading_of", lambda *_: reading.PageReading(words, words, (), (), 0.95))
    pixels = np.full((HIGH, WIDE, 3), 255, np.uint8)
    for left, top, right, bottom in (*map(box_of, SEEN), INK):
        pixels[top:bottom:2, left:right] = 0
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    page = Item(out.getvalue(), media_type="image/png")
    return served.context.queue.put("k" * 32, "r1", case_of(page, served.deid.deidentify(page), served.deid.engine))


def show(browser: Browser, served: Served, item: str, **more: Any) -> None:
    enter(browser, served, served.key("ana", "review", "approve"), f"#record/{item}", **more)
    until(browser, "document.querySelector('.sheet img')?.complete && document.querySelector('.sheet svg')")


def boxes(browser: Browser) -> list[tuple[str, Box]]:
    """Return the class and the place in the picture of each box."""
    found = browser.run("""[...document.querySelectorAll('.sheet rect')].map(rect => [rect.getAttribute('class'),
        ['x', 'y', 'width', 'height'].map(name => Number(rect.getAttribute(name)))])""")
    return [(kind, (x, y, x + wide, y + high)) for kind, (x, y, wide, high) in found]


def drag(browser: Browser, box: Box) -> None:
    """Drag the mouse over a part of the picture."""
    whole = browser.run("document.querySelector('.sheet svg').getBoundingClientRect().toJSON()")
    scale = whole["width"] / WIDE
    one, two = ((whole["x"] + x * scale, whole["y"] + y * scale) for x, y in (box[:2], box[2:]))
    browser.drag(one, two)


def focused(browser: Browser) -> str:
    return str(browser.run("document.activeElement.getAttribute('aria-label')"))


def black(data: bytes, box: Box) -> bool:
    """Whether a part of a released page is covered, but for the label on it."""
    left, top, right, bottom = box
    pixels = np.array(Image.open(io.BytesIO(data)).convert("L"))[top:bottom, left:right]
    return bool((pixels[:2] == 0).all() and (pixels[-2:] == 0).all())


@pytest.fixture
def approved(served: Served, item: str, browser: Browser) -> Callable[[], bytes]:
    """A function that approves the record and returns what is released."""

    def approve() -> bytes:
        browser.press("A")
        confirm(browser)
        said(browser, "Approved.")
        opened = served.context.queue.open(item)
        return asyncio.run(corrected(served.deid, opened.case, opened.spans, regions=opened.regions)).data

    return approve


def test_the_boxes_of_spans_are_reached_dropped_and_retyped_by_keys(
    served: Served, browser: Browser, item: str
) -> None:
    show(browser, served, item)
    [(kind, name)] = boxes(browser)
    assert (kind, name) == ("PERSON on", (box_of("Emily")[0], 40, box_of("Carter")[2], 60))
    browser.run("document.querySelector('.sheet').focus()")
    browser.press("Tab")
    assert focused(browser).startswith("Emily Carter: clinician, found by rules")
    assert browser.run("document.querySelector('mark.lit').textContent") == "Emily Carter"
    browser.press("Delete")
    assert boxes(browser)[0][0] == "PERSON dropped current"
    assert focused(browser).endswith("removed, not replaced")
    browser.press("d")
    browser.press("8")
    assert focused(browser).startswith("Emily Carter: occupation")
    assert boxes(browser)[0][0] == "PROFESSION on current"
    browser.press("Enter")
    assert browser.run("document.activeElement.tagName") == "MARK"
    browser.press("o")
    assert browser.run("document.activeElement.tagName") == "g"
    assert browser.accessibility() == []
    browser.press("H")  # otherwise the browser asks before it leaves the page
    said(browser, "Kept held. Your corrections are saved.")
    assert [(s.text, s.type) for s in served.context.queue.open(item).spans] == [("Emily Carter", "OCCUPATION")]
    assert browser.errors == []


def test_a_box_that_is_drawn_with_the_mouse_takes_the_words_of_which_it_has_half(
    served: Served, browser: Browser, item: str, approved: Callable[[], bytes]
) -> None:
    show(browser, served, item)
    walnut, today = box_of("walnut"), box_of("today.")
    drag(browser, (walnut[0] - 5, 30, today[0] + 30, 70))  # less than half of the last word
    assert focused(browser).startswith("walnut: person, found by a reviewer")
    assert boxes(browser)[-1] == ("PERSON on current", walnut)
    browser.press("u")
    assert len(boxes(browser)) == 1
    browser.press("r")
    data = approved()
    assert black(data, walnut)
    assert not black(data, today)
    [decided] = [each.facts for each in entries(served.context.audit.folder) if each.event == "review.decided"]
    assert (decided["added"], decided["dropped"]) == (1, 0)
    assert browser.errors == []


def test_a_box_over_no_words_is_covered_as_it_is(
    served: Served, browser: Browser, item: str, approved: Callable[[], bytes]
) -> None:
    show(browser, served, item)
    drag(browser, INK)
    assert focused(browser).startswith("Box on page 1: unread, found by a reviewer")
    browser.press("1")
    said(browser, "A box without words is one of: ")
    browser.press("t")
    browser.run("document.querySelector('#type').value = 'SIGNATURE'")
    browser.press("Enter")
    assert focused(browser).startswith("Box on page 1: signature")
    assert browser.run("document.querySelector('pre[data-text]').textContent").endswith("\n▮")
    browser.press("Delete")
    browser.press("Delete")
    browser.press("p")
    until(browser, "document.querySelector('.preview img')?.complete")
    assert browser.run("document.querySelector('pre.output').textContent").endswith("\n[SIGNATURE]")
    assert browser.accessibility() == []
    data = approved()
    [region] = served.context.queue.open(item).regions
    assert region.type == "SIGNATURE"
    drawn = region.x0, region.y0, region.x1, region.y1
    assert all(abs(one - two) <= 2 for one, two in zip(drawn, INK, strict=True))
    assert black(data, drawn)
    assert browser.errors == []


def test_a_box_is_drawn_moved_and_sized_by_keys(served: Served, browser: Browser, item: str) -> None:
    show(browser, served, item)
    browser.press("B")
    said(browser, "Box over ")
    browser.press("Escape")
    said(browser, "No box was drawn.")
    assert len(boxes(browser)) == 1
    browser.press("B")
    for _ in range(80):
        browser.press("ArrowLeft")
    for _ in range(80):
        browser.press("ArrowUp")
    assert boxes(browser)[-1] == ("pen", (0, 0, WIDE // 5, HIGH // 30))
    browser.press("+")
    for _ in range(4):
        browser.press("ArrowDown", shift=True)
    browser.press("-")
    for _ in range(4):
        browser.press("ArrowRight", shift=True)
    said(browser, "Box over “Seen by”.")
    assert boxes(browser)[-1] == ("pen", (0, 0, WIDE // 5 + 28, HIGH // 30 + 56))
    browser.press("Enter", shift=True)
    until(browser, "document.querySelectorAll('.sheet g[role=button]').length === 3")
    assert [kind for kind, _ in boxes(browser)] == ["PERSON on", "PERSON on", "PERSON on current"]
    assert boxes(browser)[-1][1] == (0, 0, WIDE // 5 + 28, HIGH // 30 + 56)
    browser.press("H")
    said(browser, "Kept held. Your corrections are saved.")
    opened = served.context.queue.open(item)
    assert [(region.type, region.y1) for region in opened.regions] == [("UNREAD", HIGH // 30 + 56)]
    assert "Seen by" in [span.text for span in opened.spans]
    assert browser.errors == []


def test_what_was_saved_is_shown_again_and_fits_a_narrow_screen(
    served: Served, browser: Browser, item: str
) -> None:
    served.context.queue.propose(item, (), "ben", (PageBox(1, *INK, "STAMP"),))
    show(browser, served, item, width=400, scheme="dark")
    assert boxes(browser) == [("PERSON on", INK)]
    assert browser.run("document.documentElement.scrollWidth") == 400
    browser.press("B")
    assert browser.accessibility() == []
    assert browser.errors == []

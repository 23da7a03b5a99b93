"""The waveform of a recording, in a real browser: intervals dropped, retyped, extended, shortened, added, played."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra service")
pytest.importorskip("uvicorn", reason="needs the extra service")
pytest.importorskip("soundfile", reason="needs the extra audio")

import numpy as np

from incognote.agents.item import Item
from incognote.nouns import MutedInterval
from incognote.service.review import case_of, corrected
from incognote.speech.files import SoundFile

from ...evaluation.report.browser import CHROMIUM, Browser  # noqa: TID252 -- tests are not a package, so absolute imports cannot reach them
from ...formats.audio import made  # noqa: TID252 -- as above
from .serving import Served, confirm, enter, pictures, said, until

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)")

WORDS = "seen by doctor emily carter in walnut today"
"""The words have 0.4 seconds each, from 0.5 on, and 0.1 seconds between them."""


@pytest.fixture
def item(served: Served, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a recording of 6 seconds in review."""
    monkeypatch.setattr("incognote.formats.audio.document.heard", lambda *_: made.heard(WORDS))
    monkeypatch.setattr("incognote.formats.audio.second.heard", lambda *_: made.heard(WORDS))
    sound = Item(made.file(), media_type="audio/wav")
    return served.context.queue.put("k" * 32, "r1", case_of(sound, served.deid.deidentify(sound), served.deid.engine))


@pytest.fixture
def page(served: Served, browser: Browser, item: str) -> Browser:
    enter(browser, served, served.key("ana", "review", "approve"), f"#record/{item}")
    until(browser, "document.querySelector('.wavy rect')")
    return browser


def intervals(browser: Browser) -> list[tuple[str, float, float]]:
    """Return the class and the time of each interval on the waveform."""
    found = browser.run("""[...document.querySelectorAll('.wavy g[role=button] rect')].map(rect => [
        rect.getAttribute('class'), ...['x', 'width'].map(
            name => Number(rect.getAttribute(name)) / document.querySelector('.wavy svg').clientWidth * 6)])""")
    return [(kind, round(x, 2), round(x + wide, 2)) for kind, x, wide in found]


def marks(browser: Browser) -> list[str]:
    found = browser.run("[...document.querySelectorAll('pre[data-text] mark')].map(each => each.textContent)")
    return list(found)


def drag(browser: Browser, one: float, two: float) -> None:
    """Drag the mouse over the waveform between two times."""
    whole = browser.run("document.querySelector('.wavy svg').getBoundingClientRect().toJSON()")
    first, last = ((whole["x"] + at / 6 * whole["width"], whole["y"] + 60) for at in (one, two))
    browser.drag(first, last)


def test_a_span_has_an_interval_with_its_margins_that_keys_drop_and_retype(page: Browser) -> None:
    assert marks(page) == ["Emily Carter"]
    assert intervals(page) == [("PERSON on", 1.7, 3.2)]
    page.press("j")
    page.press("o")
    label = page.run("document.activeElement.getAttribute('aria-label')")
    assert label.startswith("Emily Carter: clinician, found by ")
    assert label.endswith("0:01.70 to 0:03.20")
    page.press("d")
    assert intervals(page) == [("PERSON dropped current", 1.7, 3.2)]
    page.press("8")
    assert intervals(page) == [("PROFESSION on current", 1.7, 3.2)]
    page.press("Enter")
    assert page.run("document.activeElement.tagName") == "MARK"


def test_keys_extend_and_shorten_an_interval_word_by_word(page: Browser) -> None:
    page.press("j")
    page.press("]")
    assert (marks(page), intervals(page)) == (["Emily Carter in"], [("PERSON on current", 1.7, 3.7)])
    page.press("[")
    page.press("}")
    page.press("}")
    assert (marks(page), intervals(page)) == (["Dr. Emily"], [("PERSON on current", 1.2, 2.7)])
    for _ in range(4):
        page.press("u")
    assert marks(page) == ["Emily Carter"]


def test_the_mouse_drags_an_edge_and_what_is_beyond_the_words_is_muted_exactly(page: Browser) -> None:
    drag(page, 4.6, 5.4)  # no words
    assert [each[1:] for each in intervals(page)] == [(1.7, 3.2), pytest.approx((4.6, 5.4), abs=0.03)]
    drag(page, intervals(page)[1][2], 5.7)
    assert intervals(page)[1][2] == pytest.approx(5.7, abs=0.03)
    drag(page, 0.9, 1.35)  # "by"
    assert marks(page)[:2] == ["by", "Emily Carter"]


def test_an_interval_that_keys_add_is_approved_and_its_time_is_muted(
    page: Browser, served: Served, item: str
) -> None:
    page.press("j")
    page.press("B")
    for _ in range(16):
        page.press("ArrowRight")
    page.press("ArrowRight", shift=True)
    page.press("Enter")
    assert intervals(page)[-1] == ("PERSON on current", 4.8, 5.4)
    page.press("]")
    assert intervals(page)[-1][1:] == (4.8, 5.5)
    page.press("A")
    confirm(page)
    said(page, "Approved.")
    opened = served.context.queue.open(item)
    assert opened.regions == (MutedInterval(4.8, 5.5, "CLINICIAN", 1.0, ("person",)),)
    result: Any = asyncio.run(corrected(served.deid, opened.case, opened.spans, regions=opened.regions))
    after = np.concatenate(list(SoundFile(result.data).samples()))
    for start, end in ((1.7, 3.2), (4.8, 5.5)):
        assert not after[round(start * made.RATE) : round(end * made.RATE)].any()
    assert after[round(3.3 * made.RATE) : round(4.7 * made.RATE)].all()


def test_the_original_is_played_around_a_cut_until_it_is_stopped(page: Browser, served: Served) -> None:
    page.press("j")
    before = pictures(served)
    page.press(" ")
    until(page, "document.querySelector('.head').getAttribute('visibility') === 'visible'")
    assert pictures(served) == before + 1
    page.press(" ")
    assert page.run("document.querySelector('.head').getAttribute('visibility')") == "hidden"
    page.press("x")
    until(page, "document.querySelector('.head').getAttribute('visibility') === 'visible'")
    page.press("x")
    assert page.errors == []

"""The try page in a real browser, with a real server."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import NOTE, TOKEN, House, housed

pytest.importorskip("uvicorn", reason="needs the extra service")

import uvicorn

from incognote.service.api.app import application

from ...evaluation.report.browser import CHROMIUM, Browser  # noqa: TID252  # tests are not a package, so absolute imports cannot reach them

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)")

RESULT = "Seen by Dr. [PERSON] on [DATE]. MRN [MEDICAL_RECORD_NUMBER]. Call [TELEPHONE_NUMBER]."
GERMAN = "Der Patient wurde gestern in die Klinik eingewiesen und klagte über starke Schmerzen."


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[House, str]]:
    with housed(tmp_path_factory.mktemp("served")) as house:
        config = uvicorn.Config(application(house.context, token=TOKEN), "127.0.0.1", 0, log_config=None)
        server, socket = uvicorn.Server(config), config.bind_socket()
        thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield house, f"http://127.0.0.1:{socket.getsockname()[1]}"
        server.should_exit = True
        thread.join(20)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with Browser() as opened:
        opened.allow_clipboard()
        yield opened


@pytest.fixture
def page(chromium: Browser, served: tuple[House, str]) -> Iterator[Browser]:
    """The page, opened at the address that the terminal prints. The browser console must stay empty."""
    chromium.open("about:blank", 1280)
    chromium.errors.clear()
    enter(chromium, served[1])
    yield chromium
    assert chromium.errors == []
    chromium.run("sessionStorage.clear()")


def enter(browser: Browser, url: str, width: int = 1280, *, dark: bool = False) -> None:
    browser.open("about:blank", width)
    browser.open(f"{url}/#token={TOKEN}", width, scheme="dark" if dark else "light")
    until(browser, "document.querySelector('#policy').options.length")


def until(browser: Browser, condition: str) -> None:
    waited = f"""new Promise(done => {{
        const end = Date.now() + 20000;
        const look = () => ({condition}) ? done(true) : Date.now() > end ? done(false) : setTimeout(look, 20);
        look();
    }})"""
    assert browser.run(waited), (condition, browser.run("document.body.innerText"), browser.errors)


def submit(browser: Browser, note: str) -> None:
    browser.run(f"document.querySelector('#note').value = {json.dumps(note)}")
    browser.run("document.querySelector('#go').click()")
    until(browser, "document.querySelector('.verdict')")


def text(browser: Browser, selector: str) -> str:
    found: str = browser.run(f"document.querySelector('{selector}')?.textContent ?? ''")
    return found


def test_a_note_is_pasted_read_explained_and_copied(page: Browser) -> None:
    assert TOKEN not in page.run("location.href + document.documentElement.outerHTML")
    submit(page, NOTE)
    assert text(page, ".verdict h2") == "Released"
    assert text(page, ".original .text") == NOTE
    assert text(page, ".new .text") == RESULT
    assert text(page, ".legend") == "clinician1date1medical record number1telephone number1"
    page.run("document.querySelector('.new .span').scrollIntoView({block: 'center'})")
    x, y = page.run("(({x, y}) => [x + 2, y + 2])(document.querySelector('.new .span').getBoundingClientRect())")
    page.move(x, y)
    until(page, "!document.querySelector('#card').hidden")
    for words in ("clinician", "Found by: Rules (names.title)", "Score: 0.95", "Replaced (label)"):
        assert words in text(page, "#card")
    page.run("document.querySelector('#copy').click()")
    until(page, "document.querySelector('#copy + span').textContent === 'Copied.'")
    assert page.run("navigator.clipboard.readText()") == RESULT


def test_all_of_it_is_done_by_keys(page: Browser) -> None:
    page.run("document.querySelector('#note').focus()")
    page.type(NOTE)
    for _ in range(6):
        page.press("Tab")
    assert page.run("document.activeElement.id") == "go"
    page.press("Enter")
    until(page, "document.querySelector('.verdict')")
    for _ in range(2):
        page.press("Tab")
    name = page.run("document.activeElement.getAttribute('aria-label')")
    assert name == "Emily Carter, clinician, found by Rules (names.title)"
    page.press("ArrowRight")
    assert page.run("document.activeElement.textContent") == "03/16/2025"
    assert text(page, "#" + page.run("document.activeElement.getAttribute('aria-describedby')")).startswith("date")
    page.press("Enter")
    assert page.run("document.activeElement.textContent") == "[DATE]"
    page.press("Escape")
    assert page.run("document.querySelector('#card').hidden")


def test_a_held_note_says_why_and_offers_nothing_to_copy(page: Browser) -> None:
    submit(page, GERMAN)
    assert text(page, ".verdict h2") == "Held for review"
    assert "unsupported-language" in text(page, ".verdict")
    assert page.run("document.querySelector('[role=status] .verdict') !== null")
    assert page.run("document.querySelector('#copy') === null")
    assert text(page, ".new").startswith("ResultNot shown")
    assert page.accessibility() == []


def test_files_are_chosen_or_dropped_and_only_their_suffix_is_sent(page: Browser, tmp_path: Path) -> None:
    page.run("""const real = fetch;
        window.bodies = [];
        window.fetch = (to, options) => { bodies.push(options.body); return real(to, options); }""")
    path = tmp_path / "Carter, Emily.jsonl"
    path.write_text("".join(json.dumps({"text": each}) + "\n" for each in (NOTE, GERMAN)))
    page.choose("#file", path)
    page.run("document.querySelector('#go').click()")
    until(page, "document.querySelector('.verdict')")
    assert text(page, ".verdict h2") == "1 of 2 records released"
    assert text(page, "#copy") == "Copy 1 released record"
    assert "Carter" not in page.run("bodies.join()")
    page.run("document.querySelector('#unchoose').click()")
    page.run("""(() => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File(['{"resourceType": "Patient", "name": [{"family": "Smith"}]}'], "p.json"));
        document.querySelector("#note").dispatchEvent(new DragEvent("drop", {dataTransfer, bubbles: true}));
        document.querySelector("#go").click();
    })()""")
    until(page, "document.querySelector('table')")
    assert text(page, "tbody tr") == "name[0].familySmithpersonmasked"
    assert page.accessibility() == []


def test_long_lines_and_text_from_right_to_left_fit_and_every_view_is_accessible(
    page: Browser, served: tuple[House, str]
) -> None:
    note = f"{'x' * 900} Dr. Emily Carter\nنص טקסט <img src=x onerror='window.hit = 1'> MRN 4471902 {'لا' * 200}"
    for width, dark in ((1280, False), (400, True)):
        enter(page, served[1], width, dark=dark)
        assert page.accessibility() == []
        submit(page, note)
        page.run("document.querySelector('.span').focus()")
        assert page.run("document.documentElement.scrollWidth") == width
        assert page.accessibility() == []
    assert page.run("window.hit === undefined")


def test_the_browser_keeps_the_key_in_its_tab_and_nothing_of_the_note(page: Browser) -> None:
    submit(page, NOTE)
    assert page.run("Object.keys(sessionStorage)") == ["incognote-key"]
    assert page.run("localStorage.length + document.cookie.length") == 0
    page.run("document.querySelector('#clear').click()")
    assert page.run("document.querySelector('#note').value + document.querySelector('#result').textContent") == ""


def test_what_cannot_be_read_is_said_with_the_next_step(page: Browser) -> None:
    page.run("document.querySelector('#go').click()")
    assert text(page, ".verdict p").startswith("There is no text. Paste a note")
    submit(page, "x" * 200_001)
    assert "incognote deid FILE" in text(page, ".verdict p")


def test_without_the_token_the_page_asks_for_a_key_and_says_which_role_it_needs(
    chromium: Browser, served: tuple[House, str]
) -> None:
    house, url = served
    chromium.open("about:blank", 1280)
    chromium.open(f"{url}/", 1280)
    until(chromium, "document.querySelector('#login').open")
    assert chromium.accessibility() == []
    key = house.key("ann", "submit")["Authorization"].split()[1]
    said = {"incognote_wrong": "The server does not know this API key", key: "This key lacks the role try."}
    for given, says in said.items():
        chromium.run(f"document.querySelector('#key').value = '{given}'")
        chromium.run("document.querySelector('#login button').click()")
        until(chromium, f"document.querySelector('#login-said').textContent.startsWith('{says}')")
        assert chromium.run("sessionStorage.length") == 0
    house.context.keys.revoke("ann")

"""The review page in a real browser, on a real server: correct a span, approve, see it in the destination zone."""

from __future__ import annotations

import asyncio
import io
import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra service")
pytest.importorskip("structlog", reason="needs the extra service")
pytest.importorskip("uvicorn", reason="needs the extra service")

import uvicorn

from incognote.agents.item import Item
from incognote.ledger import Ledger
from incognote.nouns import Reason, Span, Text
from incognote.runs.destination import open_destination
from incognote.runs.location import open_location
from incognote.runs.source import WatchedSource
from incognote.sdk import Deidentifier
from incognote.service.api.app import application
from incognote.service.api.context import ApiContext
from incognote.service.review import ReviewCase
from incognote.service.telemetry import Telemetry

from ...evaluation.report.browser import CHROMIUM, Browser  # noqa: TID252 -- tests are no package to name absolutely

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)")

NOTE = (
    "😀 Seen by Dr. Emily Carter on 03/16/2025 with Zofia, who works at the harbour.\n"
    'MRN 4471902. <img src=x onerror="window.hit = 1"> Zofia\'s number is 617-555-0142.\n'
)
POLICY = 'name = "doubting"\nextends = "strict"\ndoubt = 0.0\n[types.PERSON]\noperator = "label"\nthreshold = 0.995\n'


TOKEN = "T" * 43


class Served:
    """A service on a free port, and what it stands on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        schemas = folder / "schemas"
        schemas.mkdir()
        shutil.copy(VISIT, schemas)
        self.given: dict[str, Any] = {
            "home": folder, "key": "ab" * 32, "detectors": ("rules",), "schemas": (schemas,),
            "service": {"rest_seconds": 0.0, "poll_seconds": 0.02},
        }  # fmt: skip
        self.deid = Deidentifier(**self.given)
        self.context = ApiContext(self.deid, Telemetry(io.StringIO()), self.given)
        config = uvicorn.Config(
            application(self.context, token=TOKEN), "127.0.0.1", 0, log_config=None, access_log=False
        )
        self.server = uvicorn.Server(config)
        socket = config.bind_socket()
        self.url = f"http://127.0.0.1:{socket.getsockname()[1]}/review"
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [socket]}, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)

    def key(self, name: str, *roles: str) -> str:
        return self.context.keys.new(name, roles)[1]

    def close(self) -> None:
        self.server.should_exit = True
        self.thread.join(20)
        self.context.close()
        self.deid.close()


VISIT = Path(__file__).parents[1] / "visit.json"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with Browser() as opened:
        yield opened


@pytest.fixture
def browser(chromium: Browser) -> Browser:
    """Each test has another port, so another origin: nothing of the last one's is left."""
    chromium.open("about:blank", 1280)
    chromium.errors.clear()
    return chromium


def until(browser: Browser, condition: str) -> None:
    """Wait for a condition of the page."""
    waited = f"""new Promise((done, failed) => {{
        const end = Date.now() + 20000;
        const look = () => ({condition}) ? done(true) : Date.now() > end ? done(false) : setTimeout(look, 20);
        look();
    }})"""
    assert browser.run(waited), (condition, browser.run("document.body.innerText"), browser.errors)


def enter(browser: Browser, served: Served, key: str, page: str = "", width: int = 1280, **more: Any) -> None:
    browser.open(f"{served.url}{page}", width, **more)
    until(browser, "document.querySelector('#login').open")
    browser.run(f"document.querySelector('#key').value = '{key}'")
    browser.run("document.querySelector('#login button').click()")
    until(browser, "document.querySelector('#main').children.length > 0")


def select(browser: Browser, words: str) -> None:
    """Select words of the first text, as a mouse would."""
    browser.run(f"""(() => {{
        const walk = document.createTreeWalker(document.querySelector('pre[data-text]'), NodeFilter.SHOW_TEXT);
        while (walk.nextNode()) {{
            const at = walk.currentNode.data.indexOf({json.dumps(words)});
            if (at < 0) continue;
            getSelection().setBaseAndExtent(walk.currentNode, at, walk.currentNode, at + {len(words)});
            return true;
        }}
    }})()""")


def put(served: Served, note: str = NOTE) -> str:
    """A record that the machine left in doubt about a name."""
    text = Text(note)
    at = note.index("Emily Carter")
    mrn = note.index("4471902")
    zofia = note.index("Zofia,")
    name = Span(text, at, at + 12, "PERSON", 0.9, ("rules:names",))
    spans = (name, Span(text, mrn, mrn + 7, "DATE", 0.8, ("encoder",)))
    doubts = (Span(text, zofia, zofia + 5, "PERSON", 0.45, ("encoder",)),)
    case = ReviewCase(Item(note), (text,), spans, doubts, (Reason("doubtful", "", "PERSON"),), "strict 1")
    return served.context.queue.put("k" * 32, "r1", case)


def test_the_address_with_the_token_of_the_start_opens_the_page_and_does_not_keep_it(
    served: Served, browser: Browser
) -> None:
    put(served)
    browser.open(f"{served.url}#token={TOKEN}", 1280)
    until(browser, "document.querySelectorAll('.lines a').length === 1")
    assert browser.run("document.querySelector('#who').textContent") == "local: review, submit"
    assert "token" not in browser.run("location.href")
    assert TOKEN not in browser.run("document.documentElement.outerHTML")


def test_a_span_is_corrected_and_the_record_approved_by_mouse(served: Served, browser: Browser) -> None:
    item = put(served)
    enter(browser, served, served.key("ana", "review", "approve"))
    browser.run("document.querySelector('.lines a').click()")
    until(browser, "document.querySelectorAll('mark').length === 3")
    assert browser.run("document.querySelector('pre[data-text]').textContent") == NOTE
    assert browser.run("document.querySelector('mark').textContent") == "Emily Carter"
    browser.run("document.querySelectorAll('mark')[2].click()")
    browser.run("document.querySelector('#type').value = 'MEDICAL_RECORD_NUMBER'")
    browser.run("document.querySelector('#retype').click()")
    browser.run("document.querySelector('#type').value = 'TELEPHONE_NUMBER'")
    select(browser, "617-555-0142")
    browser.run("document.querySelector('#add').click()")
    browser.run("document.querySelector('#type').value = 'PERSON'")
    browser.run("document.querySelector('#words').value = 'Zofia'")
    browser.run("document.querySelector('#add-words').click()")
    select(browser, "03/16/2025")
    browser.run("document.querySelector('#type').value = 'DATE'")
    browser.run("document.querySelector('#add').click()")
    browser.run("document.querySelector('#preview').click()")
    until(browser, "document.querySelector('#output')")
    expected = (
        "😀 Seen by Dr. [PERSON] on [DATE] with [PERSON], who works at the harbour.\n"
        'MRN [MEDICAL_RECORD_NUMBER]. <img src=x onerror="window.hit = 1"> [PERSON]\'s number is [TELEPHONE_NUMBER].\n'
    )
    assert browser.run("document.querySelector('#output').textContent") == expected
    browser.run("document.querySelector('#approve').click()")
    until(browser, "document.querySelector('#sure').open")
    browser.run("document.querySelector('#sure button[value=yes]').click()")
    until(browser, "document.querySelector('#said').textContent === 'Approved.'")
    settled = served.context.queue.open(item)
    assert settled.entry.state == "approved"
    assert settled.entry.by == "ana"
    assert sorted((s.text, s.type) for s in settled.spans) == [
        ("03/16/2025", "DATE"), ("4471902", "MEDICAL_RECORD_NUMBER"), ("617-555-0142", "TELEPHONE_NUMBER"),
        ("Emily Carter", "PERSON"), ("Zofia", "PERSON"), ("Zofia", "PERSON"),
    ]  # fmt: skip
    assert browser.run("window.hit === undefined")
    assert browser.errors == []


def test_all_of_it_by_keys_at_400_pixels(served: Served, browser: Browser) -> None:
    item = put(served)
    enter(browser, served, served.key("ana", "review", "approve"), f"#record/{item}", width=400, scheme="dark")
    until(browser, "document.querySelectorAll('mark').length === 3")
    assert browser.run("document.documentElement.scrollWidth") == 400
    browser.run("document.querySelector('mark').focus()")
    browser.press("d")
    assert browser.run("document.querySelectorAll('mark.dropped').length") == 1
    browser.press("d")
    assert browser.run("document.querySelectorAll('mark.dropped').length") == 0
    browser.press("j")
    browser.press("a")
    assert browser.run("document.querySelectorAll('mark.doubt').length") == 0
    assert browser.run("document.querySelector('output').textContent") == "3 to be replaced"
    browser.press("k")
    assert browser.run("document.activeElement.textContent") == "Emily Carter"
    browser.press("p")
    until(browser, "document.querySelector('#output')")
    assert browser.run("document.documentElement.scrollWidth") == 400
    browser.press("A")
    until(browser, "document.querySelector('#sure').open")
    browser.run("document.querySelector('#sure button[value=yes]').click()")
    until(browser, "document.querySelector('#said').textContent === 'Approved.'")
    assert [s.text for s in served.context.queue.open(item).spans] == ["Emily Carter", "Zofia", "4471902"]
    assert browser.errors == []


def test_a_reviewer_without_the_role_proposes_and_another_approves(served: Served, browser: Browser) -> None:
    item = put(served)
    enter(browser, served, served.key("ben", "review"), f"#record/{item}")
    until(browser, "document.querySelectorAll('mark').length === 3")
    assert browser.run("document.querySelector('#approve').disabled")
    browser.run("document.querySelector('mark').focus()")
    browser.press("d")
    browser.run("document.querySelector('#propose').click()")
    until(browser, "document.querySelector('#said').textContent.startsWith('Your corrections')")
    opened = served.context.queue.open(item)
    assert (opened.entry.state, opened.entry.by, [s.text for s in opened.spans]) == ("waiting", "ben", ["4471902"])


def test_a_schema_is_read_and_approved(served: Served, browser: Browser) -> None:
    enter(browser, served, served.key("ana", "review", "approve"), "#schema/visit")
    until(browser, "document.querySelectorAll('tbody tr').length === 2")
    browser.run("document.querySelector('#approve-schema').click()")
    until(browser, "document.querySelector('#sure').open")
    browser.run("document.querySelector('#sure button[value=yes]').click()")
    until(browser, "document.querySelector('#said').textContent === 'visit is approved.'")
    assert json.loads((served.folder / "schemas" / "approvals.json").read_text())["visit.json"]["by"] == "ana"
    served.deid.engine.registry.get("visit")
    assert browser.errors == []


def test_every_page_fits_and_logs_nothing(served: Served, browser: Browser) -> None:
    put(served)
    for release in ("r1", "r2"):
        served.context.audit.append("records.committed", release=release, released=900, review=12, quarantined=3)
    score = {"release": "r1", "notes": 10, "failed": 0, "count": 80, "found": 79, "leaked": 1}
    served.context.audit.append("sentinels.scored", **score)
    key = served.key("ana", "review", "approve", "reveal")
    enter(browser, served, key)
    for width in (1280, 400):
        for page in ("", "#schemas", "#schema/visit", "#runs"):
            browser.open("about:blank", width)
            browser.open(f"{served.url}{page}", width)
            until(browser, "document.querySelector('#main h2')")
            assert browser.run("document.documentElement.scrollWidth") == width, (page, width)
    assert browser.run("document.querySelector('.cards').innerText").count("98.8 %") == 1
    assert browser.errors == []


def test_a_wrong_key_is_said_and_asked_for_again(served: Served, browser: Browser) -> None:
    browser.open(served.url, 1280)
    until(browser, "document.querySelector('#login').open")
    browser.run("document.querySelector('#key').value = 'incognote_wrong'")
    browser.run("document.querySelector('#login button').click()")
    until(browser, "document.querySelector('#login-said').textContent.includes('key')")
    assert browser.run("sessionStorage.length") == 0


def test_what_was_approved_on_the_page_is_in_the_lab_zone(served: Served, browser: Browser) -> None:
    from incognote.files.inputs import RecordDefaults
    from incognote.files.quarantine import Quarantine
    from incognote.service.worker.freezing import frozen
    from incognote.service.worker.hooks import Hooks
    from incognote.service.worker.worker import Worker

    folder = served.folder
    (folder / "doubting.toml").write_text(POLICY)
    (folder / "source").mkdir()
    line = json.dumps({"id": "n1", "text": "Seen by Dr. Emily Carter on 03/16/2025. K+ 4.10"})
    (folder / "source" / "one.jsonl").write_text(line + "\n")
    os.utime(folder / "source" / "one.jsonl", (1, 1))
    with Deidentifier(**{**served.given, "policy": str(folder / "doubting.toml")}) as made:
        ledger = Ledger(f"sqlite:///{folder}/ledger.db", made.engine.keyring)
        told = frozen(made, layout=None, words=RecordDefaults(), form="lines", packing="none", part_bytes=2**20)

        def run() -> list[str]:
            worker = Worker(
                made, WatchedSource(open_location(str(folder / "source")), rest=0.0),
                open_destination(open_location(str(folder / "destination"))), ledger,
                ledger.freeze("r1", told), Quarantine(folder / "held", made.engine.keyring),
                hooks=Hooks(reviews=served.context.queue), layout=None, form="lines", packing="none",
            )  # fmt: skip
            asyncio.run(worker.run(once=True))
            return [path.read_text() for path in (folder / "destination").rglob("*.jsonl")]

        assert run() == []
        (entry,) = served.context.queue.list()
        enter(browser, served, served.key("ana", "review", "approve"), f"#record/{entry.id}")
        until(browser, "document.querySelector('pre[data-text]')")
        select(browser, "Emily Carter")
        browser.run("document.querySelector('#type').value = 'PERSON'")
        browser.run("document.querySelector('#add').click()")
        browser.press("A")
        until(browser, "document.querySelector('#sure').open")
        browser.run("document.querySelector('#sure button[value=yes]').click()")
        until(browser, "document.querySelector('#said').textContent === 'Approved.'")
        (shard,) = run()
        ledger.close()
    assert json.loads(shard)["text"] == "Seen by Dr. [PERSON] on [DATE]. K+ 4.10"
    assert "Carter" not in shard

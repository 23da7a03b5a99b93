"""The review page in a real browser, with a real server: correct a span, approve, and find it in the destination."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra service")
pytest.importorskip("structlog", reason="needs the extra service")
pytest.importorskip("uvicorn", reason="needs the extra service")

from incognote.agents.item import Item
from incognote.ledger import Ledger
from incognote.nouns import Reason, Span, Text
from incognote.runs.destination import open_destination
from incognote.runs.location import open_location
from incognote.runs.source import WatchedSource
from incognote.sdk import Deidentifier
from incognote.service.review import ReviewCase, case_of, corrected

from ...evaluation.report.browser import CHROMIUM, Browser  # noqa: TID252 -- tests are not a package, so absolute imports cannot reach them
from .serving import TOKEN, Served, confirm, enter, marks, pictures, said, until

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)")

NOTE = (
    "😀 Seen by Dr. Emily Carter on 03/16/2025 with Zofia, who works at the harbour.\n"
    'MRN 4471902. <img src=x onerror="window.hit = 1"> Zofia\'s number is 617-555-0142.\n'
)
POLICY = 'name = "doubting"\nextends = "strict"\ndoubt = 0.0\n[types.PERSON]\noperator = "label"\nthreshold = 0.995\n'


def select(browser: Browser, words: str) -> None:
    """Select words in the first text, as with a mouse."""
    browser.run(f"""(() => {{
        const walk = document.createTreeWalker(document.querySelector('pre[data-text]'), NodeFilter.SHOW_TEXT);
        while (walk.nextNode()) {{
            const at = walk.currentNode.data.indexOf({json.dumps(words)});
            if (at < 0) continue;
            getSelection().setBaseAndExtent(walk.currentNode, at, walk.currentNode, at + {len(words)});
            return true;
        }}
    }})()""")


def put(served: Served, note: str = NOTE, key: str = "k" * 32, *reasons: Reason) -> str:
    """Queue a record with a name that a detector was unsure about."""
    text = Text(note)
    at = note.index("Emily Carter")
    mrn = note.index("4471902")
    zofia = note.index("Zofia,")
    name = Span(text, at, at + 12, "PERSON", 0.9, ("rules:names",))
    spans = (name, Span(text, mrn, mrn + 7, "DATE", 0.8, ("encoder",)))
    doubts = (Span(text, zofia, zofia + 5, "PERSON", 0.45, ("encoder",)),)
    case = ReviewCase(
        Item(note), (text,), spans, doubts, reasons or (Reason("doubtful", "", "PERSON"),), "strict 1"
    )
    return served.context.queue.put(key, "r1", case)


def test_the_address_with_the_token_of_the_start_opens_the_page_and_does_not_keep_it(
    served: Served, browser: Browser
) -> None:
    put(served)
    browser.open(f"{served.url}#token={TOKEN}", 1280)
    until(browser, "document.querySelectorAll('.lines a').length === 1")
    assert browser.run("document.querySelector('#who').textContent") == "local: review, submit, try"
    assert "token" not in browser.run("location.href")
    assert TOKEN not in browser.run("document.documentElement.outerHTML")


def test_a_span_is_corrected_and_the_record_approved_by_mouse(served: Served, browser: Browser) -> None:
    item = put(served)
    enter(browser, served, served.key("ana", "review", "approve"))
    browser.run("document.querySelector('.lines a').click()")
    marks(browser, 3)
    assert browser.run("document.querySelector('pre[data-text]').textContent") == NOTE
    assert browser.run("document.querySelector('pre[data-text] mark').textContent") == "Emily Carter"
    browser.run("document.querySelectorAll('pre[data-text] mark')[2].click()")
    browser.run("document.querySelector('[data-type=MEDICAL_RECORD_NUMBER]').click()")
    select(browser, "617-555-0142")
    browser.run("document.querySelector('[data-type=TELEPHONE_NUMBER]').click()")
    browser.run("document.querySelector('#type').value = 'PERSON'")
    browser.run("document.querySelector('#words').value = 'Zofia'")
    browser.run("document.querySelector('#add-words').click()")
    said(browser, "2 spans added.")
    select(browser, "03/16/2025")
    browser.run("document.querySelector('#type').value = 'DATE'")
    browser.run("document.querySelector('#add').click()")
    browser.run("document.querySelector('#preview').click()")
    until(browser, "document.querySelector('pre.output')")
    expected = (
        "😀 Seen by Dr. [PERSON] on [DATE] with [PERSON], who works at the harbour.\n"
        'MRN [MEDICAL_RECORD_NUMBER]. <img src=x onerror="window.hit = 1"> [PERSON]\'s number is [TELEPHONE_NUMBER].\n'
    )
    assert browser.run("document.querySelector('pre.output').textContent") == expected
    replaced = browser.run("[...document.querySelectorAll('pre.output mark')].map(mark => mark.textContent)")
    assert replaced[:2] == ["[PERSON]", "[DATE]"]
    browser.run("document.querySelector('#approve').click()")
    confirm(browser)
    said(browser, "Approved. No other record matches the filter.")
    settled = served.context.queue.open(item)
    assert settled.entry.state == "approved"
    assert settled.entry.by == "ana"
    assert sorted((s.text, s.type) for s in settled.spans) == [
        ("03/16/2025", "DATE"), ("4471902", "MEDICAL_RECORD_NUMBER"), ("617-555-0142", "TELEPHONE_NUMBER"),
        ("Emily Carter", "PERSON"), ("Zofia", "PERSON"), ("Zofia", "PERSON"),
    ]  # fmt: skip
    assert browser.run("window.hit === undefined")
    assert browser.errors == []


MAIL = (
    b"From: Emily Carter <emily.carter@example.org>\r\nSubject: Zofia in the clinic\r\nMIME-Version: 1.0\r\n"
    b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n"
    b"Zofia was seen on 03/16/2025.\r\n--b\r\nContent-Type: application/rtf\r\n\r\n"
    b"{\\rtf1\\ansi Letter to Dr. {\\b Emily} Carter.\\par}\r\n--b--\r\n"
)


def test_the_texts_of_a_document_are_reviewed_and_its_format_is_released(served: Served, browser: Browser) -> None:
    item = Item(MAIL, media_type="message/rfc822")
    result = served.deid.deidentify(item)
    engine = served.deid.engine
    number = served.context.queue.put("k" * 32, "r1", case_of(item, result, engine))
    enter(browser, served, served.key("ana", "review", "approve"))
    browser.run("document.querySelector('.lines a').click()")
    until(browser, "document.querySelectorAll('pre[data-text]').length >= 3")
    texts = browser.run("[...document.querySelectorAll('pre[data-text]')].map(text => text.textContent)")
    assert texts == ["Zofia in the clinic", "Zofia was seen on 03/16/2025.", "Letter to Dr. Emily Carter.\n"]
    browser.run("document.querySelector('#type').value = 'PERSON'")
    browser.run("document.querySelector('#words').value = 'Zofia'")
    browser.run("document.querySelector('#add-words').click()")
    browser.run("document.querySelector('#approve').click()")
    confirm(browser)
    said(browser, "Approved.")
    case = served.context.queue.open(number)
    released = asyncio.run(corrected(served.deid, case.case, case.spans)).data
    assert b"Zofia" not in released
    assert b"Carter" not in released
    assert b"{\\rtf1\\ansi Letter to Dr. {\\b [PERSON]}.\\par}" in released
    assert browser.errors == []


PAGES = Path(__file__).parents[2] / "data" / "documents" / "pdf" / "pages.pdf"


def put_document(served: Served) -> str:
    """Queue a PDF file with two pages. A name begins on the first and ends on the second."""
    item = Item(PAGES.read_bytes(), media_type="application/pdf")
    case = case_of(item, served.deid.deidentify(item), served.deid.engine)
    [text] = case.texts
    start, end = text.content.index("Rosamund"), text.content.index(", a widow")
    case = replace(case, spans=(Span(text, start, end, "PERSON", 0.9, ("rules:names",)),), doubts=())
    return served.context.queue.put("k" * 32, "r1", case)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_the_picture_of_a_page_is_beside_its_text_with_the_boxes_of_the_spans(
    served: Served, browser: Browser, width: int, scheme: Any
) -> None:
    item = put_document(served)
    enter(browser, served, served.key("ana", "review", "approve"), f"#record/{item}", width=width, scheme=scheme)
    until(browser, "document.querySelector('.sheet img')?.complete && document.querySelector('.sheet rect')")
    alt = "document.querySelector('.sheet img')?.alt"
    assert browser.run(alt) == "Page 1 of the original"
    assert browser.run("document.querySelector('.sheet img').naturalWidth") > 1000
    assert pictures(served) == 1
    assert browser.run("document.querySelector('pre[data-text]').textContent") == (
        "Consult note\nThe patient is Mrs. Rosamund\nFeatherstonhaugh, a widow.\nLungs clear, asthma is stable."
    )
    before, text = (f"document.querySelector('{each}').getBoundingClientRect()" for each in (".sheet", "pre"))
    assert browser.run(f"{before}.right <= {text}.left") == (width == 1280)
    assert browser.run(f"{before}.bottom <= {text}.top") == (width == 400)

    def boxes() -> Any:
        """Return the classes, and the place on the picture in percent, of each box."""
        return browser.run("""[...document.querySelectorAll('.sheet rect')].map(box => {
            const image = document.querySelector('.sheet img');
            const [at, of] = [box, image].map(each => each.getBoundingClientRect());
            return [box.getAttribute('class'), Math.round(100 * (at.left - of.left) / of.width)];
        })""")

    [first] = boxes()
    assert first[0] == "PERSON on"
    assert 10 < first[1] < 40
    browser.press("n")
    until(browser, f"{alt} === 'Page 2 of the original' && document.querySelector('.sheet rect')")
    [second] = boxes()
    assert second[1] < first[1]
    browser.press("j")  # the span begins on the first page
    until(browser, f"{alt} === 'Page 1 of the original' && document.querySelector('.sheet rect')")
    assert boxes()[0][0] == "PERSON on current"
    browser.press("d")
    assert boxes()[0][0] == "PERSON dropped current"
    browser.press("u")
    browser.run("document.querySelector('.sheet rect').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    focused = browser.run("document.activeElement.getAttribute('aria-label')")
    assert focused.startswith("Rosamund\nFeatherstonhaugh: person")
    assert browser.run("document.querySelector('mark.lit').textContent") == "Rosamund\nFeatherstonhaugh"
    browser.press("e")
    assert browser.run("document.querySelector('.sheet').scrollWidth > document.querySelector('.sheet').clientWidth")
    browser.press("p")
    until(browser, "document.querySelector('pre.output')")
    assert "Featherstonhaugh" not in browser.run("document.querySelector('pre.output').textContent")
    assert browser.run("document.querySelector('#whole').hidden")  # a binary file is not shown as text
    released = "document.querySelector('.preview img')"
    until(browser, f"{released}?.alt === 'Page 1, as it would be released' && {released}.complete")
    browser.press("n")
    until(browser, f"{released}?.alt === 'Page 2, as it would be released' && {released}.complete")
    until(browser, f"{alt} === 'Page 2 of the original'")
    assert browser.run("document.documentElement.scrollWidth") == width
    assert browser.accessibility() == []
    assert pictures(served) == 7  # four pages, the preview, and its two pages
    assert browser.errors == []


def test_a_page_that_cannot_be_shown_does_not_stop_the_review(
    served: Served, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("incognote.formats.pdf.picture.SECONDS", 0)
    item = put_document(served)
    enter(browser, served, served.key("ana", "review", "approve"), f"#record/{item}")
    until(browser, "document.querySelector('.sheet .warn')?.textContent.startsWith('This page cannot be shown')")
    assert browser.accessibility() == []
    browser.run("document.querySelector('#approve').click()")
    confirm(browser)
    said(browser, "Approved.")
    assert served.context.queue.entry(item).state == "approved"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_record_is_corrected_and_approved_by_keys_alone_from_the_queue_to_the_next_record(
    served: Served, browser: Browser, scheme: Any
) -> None:
    width = 400 if scheme == "dark" else 1280
    item, _ = put(served), put(served, key="b" * 32)
    enter(browser, served, served.key("ana", "review", "approve"), width=width, scheme=scheme)
    until(browser, "document.querySelectorAll('.lines a').length === 2")
    browser.press("j")
    browser.press("Enter")
    marks(browser, 3)

    def states() -> Any:
        return browser.run("[...document.querySelectorAll('pre[data-text] mark')].map(mark => mark.classList[1])")

    browser.press("j")  # works at once, without focus
    assert browser.run("document.activeElement.textContent") == "Emily Carter"
    browser.press("d")
    assert states() == ["dropped", "doubt", "on"]
    browser.press("u")
    assert states() == ["on", "doubt", "on"]
    browser.press("r")
    assert states() == ["dropped", "doubt", "on"]
    browser.press("u")
    browser.press("f")
    browser.press("a")
    assert states() == ["on", "on", "on"]
    browser.press("j")
    browser.press("5")
    assert "medical record number" in browser.run("document.activeElement.ariaLabel")
    browser.press("k")
    browser.press("ArrowRight")  # the word after Zofia
    browser.press("ArrowRight", shift=True)
    assert browser.run("getSelection().toString()") == "who works"
    browser.press("8")
    marks(browser, 4)
    browser.press("u")
    marks(browser, 3)
    browser.press("w")
    browser.type("617-555-0142")
    browser.press("Enter")
    marks(browser, 4)
    browser.press("4")
    browser.press("?")
    until(browser, "document.querySelector('#keys[open]')?.textContent.includes('Undo and redo')")
    assert browser.accessibility() == []
    browser.press("Escape")
    until(browser, "!document.querySelector('#keys').open")
    browser.press("p")
    until(browser, "document.querySelector('pre.output')")
    assert browser.run("document.documentElement.scrollWidth") == width
    assert browser.accessibility() == []
    browser.press("p")
    assert browser.run("document.querySelector('pre.output').offsetHeight") == 0  # hidden again
    browser.press("A")
    until(browser, "document.querySelector('#sure').open")
    assert "4 spans will be replaced" in browser.run("document.querySelector('#sure').textContent")
    browser.press("Enter")
    said(browser, "Approved.")
    until(browser, "document.querySelector('#record-title').textContent.startsWith('Record 2')")
    assert [(s.text, s.type) for s in served.context.queue.open(item).spans] == [
        ("Emily Carter", "PERSON"), ("Zofia", "PERSON"), ("4471902", "MEDICAL_RECORD_NUMBER"),
        ("617-555-0142", "TELEPHONE_NUMBER"),
    ]  # fmt: skip
    browser.press("S")
    until(browser, "document.querySelector('#sure').open")
    browser.press("Enter")
    said(browser, "Sent back. No other record matches the filter.")
    assert browser.errors == []


def test_a_reason_is_in_words_and_leads_to_its_spans_and_doubts_are_named_before_approval(
    served: Served, browser: Browser
) -> None:
    item = put(served, NOTE, "k" * 32, Reason("doubtful", "", "PERSON"), Reason("original-repeated", "", "PERSON"))
    enter(browser, served, served.key("ana", "review", "approve"), f"#record/{item}")
    marks(browser, 3)
    why = browser.run("document.querySelector('.reasons').textContent")
    assert "A detector was not sure whether this is an identifier. Type: person." in why
    assert "doubtful" not in why
    browser.run("document.querySelector('.reasons button').click()")
    assert browser.run("document.activeElement.textContent") == "Zofia"
    assert "score 0.45, in doubt" in browser.run("document.querySelector('#info').textContent")
    browser.run("document.querySelector('#approve').click()")
    until(browser, "document.querySelector('#sure').open")
    assert "“Zofia” (person)" in browser.run("document.querySelector('#sure-says').textContent")
    browser.press("Escape")
    until(browser, "!document.querySelector('#sure').open")
    assert served.context.queue.entry(item).state == "waiting"


def test_labels_of_spans_are_pale_until_they_are_looked_at(served: Served, browser: Browser) -> None:
    item = put(served)
    enter(browser, served, served.key("ana", "review"), f"#record/{item}")
    marks(browser, 3)
    opacity = "getComputedStyle(document.querySelector('pre[data-text] mark'), '::before').opacity"
    assert float(browser.run(opacity)) < 0.7
    browser.press("j")
    assert browser.run(opacity) == "1"
    last = "[...document.querySelectorAll('pre[data-text] mark')].at(-1)"
    box = browser.run(f"{last}.getBoundingClientRect().toJSON()")
    browser.move(box["x"] + 2, box["y"] + 8)
    assert browser.run(f"getComputedStyle({last}, '::before').opacity") == "1"


def test_a_reviewer_without_the_role_keeps_the_record_held_and_the_corrections_are_saved(
    served: Served, browser: Browser
) -> None:
    item = put(served)
    enter(browser, served, served.key("ben", "review"), f"#record/{item}")
    marks(browser, 3)
    assert browser.run("document.querySelector('#approve').disabled")
    browser.press("A")
    said(browser, "Your key cannot approve.")
    browser.press("j")
    browser.press("d")
    browser.press("q")  # with unsaved changes
    until(browser, "document.querySelector('#sure').open")
    browser.press("Escape")
    until(browser, "!document.querySelector('#sure').open")
    browser.press("H")
    said(browser, "Kept held. Your corrections are saved.")
    opened = served.context.queue.open(item)
    assert (opened.entry.state, opened.entry.by, [s.text for s in opened.spans]) == ("waiting", "ben", ["4471902"])
    assert browser.errors == []


def test_the_queue_is_filtered_and_the_next_record_is_the_next_of_the_filter(served: Served, browser: Browser) -> None:
    first, _, third = (
        put(served, NOTE, key * 32, Reason(code, "", "PERSON"))
        for key, code in (("a", "doubtful"), ("b", "over-masked"), ("c", "doubtful"))
    )
    served.context.queue.assign(third, "ben")
    served.key("ben", "review")
    enter(browser, served, served.key("ana", "review", "approve"))
    until(browser, "document.querySelectorAll('.lines a').length === 3")
    assert browser.accessibility() == []

    def choose(name: str, value: str, count: int) -> None:
        browser.run(f"""(() => {{ const field = document.querySelector('#{name}'); field.value = '{value}';
            field.dispatchEvent(new Event('change')); }})()""")
        until(browser, f"document.querySelectorAll('.lines a').length === {count}")

    choose("assignee", "ben", 1)
    choose("assignee", "(nobody)", 2)
    choose("days", "7", 0)
    browser.run("document.querySelector('#clear').click()")
    until(browser, "document.querySelectorAll('.lines a').length === 3")
    choose("find", "c" * 32, 1)
    choose("find", "", 3)
    choose("reason", "doubtful", 2)
    assert browser.run("document.querySelector('#total').textContent") == "2 records match."
    browser.run(f"location.hash = '#record/{first}'")
    marks(browser, 3)
    browser.press("J")
    until(browser, "document.querySelector('#record-title').textContent.startsWith('Record 3')")
    browser.press("J")
    said(browser, "This is the last record of the filter.")
    browser.press("K")
    until(browser, "document.querySelector('#record-title').textContent.startsWith('Record 1')")
    browser.press("m")
    said(browser, "Assigned to ana.")
    assert served.context.queue.entry(first).assignee == "ana"
    assert browser.errors == []


def test_a_comment_is_written_by_keys_and_shown_with_its_author(served: Served, browser: Browser) -> None:
    item = put(served)
    enter(browser, served, served.key("ana", "review"), f"#record/{item}")
    marks(browser, 3)
    browser.press("c")
    browser.type("Zofia is the patient's wife.")
    browser.run("document.querySelector('#send').click()")
    said(browser, "Your comment is saved.")
    assert "Zofia is the patient's wife." in browser.run("document.querySelector('.comments').textContent")
    assert browser.run("document.querySelector('.comments .soft').textContent").startswith("ana, ")
    assert [(c.by, c.text) for c in served.context.queue.comments(item)] == [("ana", "Zofia is the patient's wife.")]
    assert browser.errors == []


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
            assert browser.accessibility() == []
    assert browser.run("document.querySelector('.cards').innerText").count("98.8%") == 1
    assert browser.errors == []


def test_a_refused_sign_in_says_why_and_what_to_do(served: Served, browser: Browser) -> None:
    _, expired = served.context.keys.new("old", ["review"], expires=datetime(2020, 1, 1, tzinfo=UTC))
    revoked = served.key("gone", "review")
    served.context.keys.revoke("gone")
    browser.open(served.url, 1280)
    until(browser, "document.querySelector('#login').open")
    assert browser.accessibility() == []

    def refused(key: str, words: str) -> None:
        browser.run(f"document.querySelector('#key').value = {json.dumps(key)}")
        browser.run("document.querySelector('#login button').click()")
        until(browser, f"document.querySelector('#login-said').textContent.includes({json.dumps(words)})")
        until(browser, "document.querySelector('#login').open")
        assert browser.run("sessionStorage.length") == 0

    refused("incognote_wrong", "The server does not know this API key: check that it was copied whole.")
    refused(expired, "This API key expired on 2020-01-01: ask an administrator for a new one")
    refused(revoked, "This API key was revoked on 20")
    refused(served.key("sam", "submit"), "This key may not review. Its roles are: submit.")
    refused(TOKEN, "The start token no longer works, because there are API keys now")
    browser.errors.clear()  # Chromium logs every 401
    browser.run("window.fetch = () => Promise.reject(new TypeError('Failed to fetch'))")
    browser.run("document.querySelector('#key').value = 'incognote_wrong'")
    browser.run("document.querySelector('#login button').click()")
    until(browser, "document.querySelector('#login-said').textContent.startsWith('The server does not answer.')")
    assert browser.errors == []


def test_too_many_wrong_keys_are_told_how_long_to_wait(tmp_path: Path, browser: Browser) -> None:
    service = {"rest_seconds": 0.0, "poll_seconds": 0.02, "api_refusals": 1}
    limited = Served(tmp_path, service=service)
    try:
        browser.open(limited.url, 1280)
        for _ in range(2):
            until(browser, "document.querySelector('#login').open")
            browser.run("document.querySelector('#login-said').textContent = ''")
            browser.run("document.querySelector('#key').value = 'incognote_wrong'")
            browser.run("document.querySelector('#login button').click()")
            until(browser, "document.querySelector('#login-said').textContent")
        assert "Too many requests: wait " in browser.run("document.querySelector('#login-said').textContent")
    finally:
        limited.close()


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
        confirm(browser)
        said(browser, "Approved.")
        (shard,) = run()
        ledger.close()
    assert json.loads(shard)["text"] == "Seen by Dr. [PERSON] on [DATE]. K+ 4.10"
    assert "Carter" not in shard

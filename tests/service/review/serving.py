"""A service with the review page, and what a person does in a browser."""

from __future__ import annotations

import io
import json
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import uvicorn

from incognote.sdk import Deidentifier
from incognote.service.api.app import application
from incognote.service.api.context import ApiContext
from incognote.service.audit.verify import entries
from incognote.service.telemetry import Telemetry

from ...evaluation.report.browser import Browser  # noqa: TID252 -- tests are not a package, so absolute imports cannot reach them

TOKEN = "T" * 43
VISIT = Path(__file__).parents[1] / "visit.json"


class Served:
    """A service on a free port, and its components."""

    def __init__(self, folder: Path, **more: Any) -> None:
        self.folder = folder
        schemas = folder / "schemas"
        schemas.mkdir()
        shutil.copy(VISIT, schemas)
        self.given: dict[str, Any] = {
            "home": folder, "key": "ab" * 32, "detectors": ("rules",), "schemas": (schemas,),
            "service": {"rest_seconds": 0.0, "poll_seconds": 0.02},
            **more,
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




def until(browser: Browser, condition: str) -> None:
    """Wait for a condition on the page."""
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


def said(browser: Browser, text: str) -> None:
    until(browser, f"document.querySelector('#said').textContent.includes({json.dumps(text)})")


def confirm(browser: Browser) -> None:
    until(browser, "document.querySelector('#sure').open")
    browser.run("document.querySelector('#sure button[value=yes]').click()")


def marks(browser: Browser, count: int) -> None:
    until(browser, f"document.querySelectorAll('pre[data-text] mark').length === {count}")


def pictures(served: Served) -> int:
    """Return how many pictures of pages were asked for."""
    return sum(entry.event == "text.viewed" for entry in entries(served.context.audit.folder))

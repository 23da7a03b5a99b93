"""A service and a browser for the tests of the review page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs the extra service")
pytest.importorskip("structlog", reason="needs the extra service")
pytest.importorskip("uvicorn", reason="needs the extra service")

from ...evaluation.report.browser import Browser  # noqa: TID252 -- tests are not a package, so absolute imports cannot reach them
from .serving import Served


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
    """Each test has its own port and therefore its own origin, so no state is left from the test before."""
    chromium.open("about:blank", 1280)
    chromium.errors.clear()
    return chromium

"""The review page is self-contained, and nothing in a note can execute."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256

from incognote.evaluation.sampling.outputs import review_page, types

HOSTILE = "</script><script>alert(1)</script> <!-- @data@ @script@ \u2028 & \" ' 😀\x00"


def test_texts_arrive_as_they_are_and_close_nothing() -> None:
    page = review_page([{"id": "a", "text": HOSTILE}], "set", 1)
    assert page.count("</script>") == 2
    [data] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert json.loads(data)["items"] == [{"id": "a", "text": HOSTILE}]


def test_the_policy_lets_run_what_is_in_the_page_and_nothing_else() -> None:
    page = review_page([{"id": "a", "text": "x"}], "set", 1)
    [script] = re.findall(r"<script>(.*?)</script>", page, re.S)
    [style] = re.findall(r"<style>(.*?)</style>", page, re.S)
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src 'none'; ")
    for part in (script, style):
        assert f"'sha256-{b64encode(sha256(part.encode()).digest()).decode()}'" in policy
    assert "unsafe" not in policy


def test_the_page_names_no_address() -> None:
    assert not re.search(r"(?:https?:)?//[a-z]+\.", review_page([], "set", 1))


def test_leaks_are_marked_by_evaluation_groups() -> None:
    assert {"PERSON", "DATE", "ID", "LOCATION", "CONTACT", "AGE"} <= set(types())
    assert len(types()) <= 9

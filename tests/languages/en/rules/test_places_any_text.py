"""Places and organizations in any text: offsets fit, nothing raises, and the same text gives the same result."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from incognote.detectors.rules.view import View
from incognote.nouns import Text
from incognote_en.rules import organizations, places

_WORDS = st.sampled_from(
    "12 Main St , . Apt 4 Palo Alto CA 94301 at from Mercy Hospital the of Inc & lives in Boston"
    " \n | ^ Dr # No PO Box"
    " Hauptstr. rue de la Paix Vill. Dist. St. Mary's University"
    " - – Ìjàpọ̀ 東京 e\u0301 \U0001f3e5 \u202e İstanbul".split(" ")
)


@given(st.one_of(st.text(), st.lists(_WORDS, max_size=30).map(" ".join)))
@example("")
@example("\u0301")
@example("at Hospital")
@example("12 St")
@example("St.")
@example("lives in\n")
@example("İ lives in İzmir")
@example("\ud800 at Mercy Hospital \x00")
def test_every_candidate_lies_in_its_text(content: str) -> None:
    for finder in (places, organizations):
        candidates = list(finder.find(View(Text(content))))
        assert all(0 <= c.start < c.end <= len(content) and 0.3 <= c.score <= 1 for c in candidates)
        assert candidates == list(finder.find(View(Text(content))))

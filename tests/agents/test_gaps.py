"""The language model's verdicts about gaps and doubted words of a transcript."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from incognote import Deidentifier
from incognote.agents.detection import TextView
from incognote.agents.gaps import judged, verdicts_of
from incognote.agents.stages import Detected, Opened, Planned
from incognote.extraction.chunks import Chunk
from incognote.extraction.extractor import Extraction
from incognote.llm.base import Request
from incognote.nouns import Span, Text
from incognote.schemas.policy import load_policy, read_policy
from incognote.testing import ScriptedLLM, text_of

BODY = "Good morning <human_timestamp_(00:02.85 - 00:02.95)> the knee hurts since harbor."
TEXT = Text(BODY, "body")
TOKEN, WORD = (13, 52), (BODY.index("harbor"), BODY.index("harbor") + 6)
VIEW = TextView.of(TEXT)
PLANNED = Planned("all", ((0, Chunk(0, len(TEXT))),), ((0,),))
GAP = Span(TEXT, *TOKEN, "PERSON", 0.6, ("gap",))
DOUBT = Span(TEXT, *WORD, "PERSON", 0.6, ("doubt",))
ENCODER = Span(TEXT, *WORD, "LOCATION", 0.9, ("encoder:full",))
STRICT = load_policy("strict")


def spans(
    verdicts: dict[tuple[int, int], str], *found: Span, policy: str | None = None
) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return words, type, and sources of what is left after the verdicts."""
    raw, hidden = VIEW.viewed(found)
    detected = Detected((VIEW,), (raw,), (hidden,))
    chosen = STRICT if policy is None else read_policy(policy)
    raw_after, hidden_after = judged(
        Opened(texts=(TEXT,)), detected, PLANNED, {0: Extraction(judged=verdicts)}, [raw], [hidden], chosen
    )
    left = [*VIEW.original(raw_after[0]), *hidden_after[0]]
    return sorted((s.text, s.type, s.sources) for s in left)


def test_a_type_replaces_the_finding_of_the_embedded_judge() -> None:
    assert spans({TOKEN: "DATE"}, GAP) == [(BODY[slice(*TOKEN)], "DATE", ("llm:gaps",))]
    assert spans({WORD: "DATE"}, DOUBT) == [("harbor", "DATE", ("llm:gaps",))]


def test_non_phi_drops_the_finding_of_the_embedded_judge() -> None:
    assert spans({TOKEN: "NON_PHI", WORD: "NON_PHI"}, GAP, DOUBT) == []


def test_non_phi_does_not_drop_what_another_detector_found() -> None:
    assert spans({WORD: "NON_PHI"}, DOUBT, ENCODER) == [("harbor", "LOCATION", ("encoder:full",))]


def test_after_unknown_the_finding_stays() -> None:
    assert spans({TOKEN: "UNKNOWN", WORD: "UNKNOWN"}, GAP, DOUBT) == sorted(
        [(BODY[slice(*TOKEN)], "PERSON", ("gap",)), ("harbor", "PERSON", ("doubt",))]
    )


def test_without_a_verdict_nothing_changes() -> None:
    assert len(spans({}, GAP, DOUBT)) == 2


def test_a_type_marks_a_gap_that_the_embedded_judge_left() -> None:
    assert spans({TOKEN: "PERSON"}) == [(BODY[slice(*TOKEN)], "PERSON", ("llm:gaps",))]


@pytest.mark.parametrize(("unknown", "left"), [("mute", 1), ("embedded", 0)])
def test_the_policy_decides_about_an_unknown_gap_without_a_finding(tmp_path: Path, unknown: str, left: int) -> None:
    path = tmp_path / "own.toml"
    path.write_text(f'name = "own"\nextends = "strict"\n[recordings]\nunknown = "{unknown}"\n', encoding="utf-8")
    assert len(spans({TOKEN: "UNKNOWN"}, policy=str(path))) == left


def test_two_chunks_that_share_a_place_must_agree_on_non_phi() -> None:
    planned = Planned("all", ((0, Chunk(0, 60)), (0, Chunk(10, 80)), (1, Chunk(0, 60))), ((0,), (1,), (2,)))
    read = {
        0: Extraction(judged={TOKEN: "NON_PHI"}),
        1: Extraction(judged={TOKEN: "UNKNOWN"}),
        2: Extraction(judged={TOKEN: "PERSON"}),
    }
    assert verdicts_of(0, planned, read) == {TOKEN: "UNKNOWN"}
    assert verdicts_of(1, planned, read) == {TOKEN: "PERSON"}


def _says(verdict: str) -> ScriptedLLM:
    def answer(request: Request) -> str:
        keys = re.findall(r"_timestamp_\((.*?)\)", text_of(request))
        asked = "times of this transcript" in request.messages[-1].content
        return json.dumps(dict.fromkeys(keys, verdict)) if asked else "{}"

    return ScriptedLLM(answer)


def test_a_model_judges_the_gaps_of_a_text_that_it_reads() -> None:
    with Deidentifier(model=_says("PERSON")) as deid:
        result = deid.deidentify(f"{BODY[:52]} the knee hurts.")
    assert result.text == "Good morning [PERSON] the knee hurts."
    gaps = result.manifest["models"]["gaps"]
    assert gaps["verdicts"] == {"PERSON": 1}
    assert result.manifest["models"]["usage"]["calls"] == 2


def test_a_gap_without_identifiers_stays_and_the_record_is_released() -> None:
    with Deidentifier(model=_says("NON_PHI")) as deid:
        result = deid.deidentify(f"{BODY[:52]} the knee hurts.")
    assert result.text == f"{BODY[:52]} the knee hurts."
    assert result.verdict.released


def test_a_text_without_gaps_costs_no_request_more() -> None:
    model = _says("PERSON")
    with Deidentifier(model=model) as deid:
        result = deid.deidentify("Good morning, the knee hurts.")
    assert model.calls == 1
    assert "gaps" not in result.manifest["models"]

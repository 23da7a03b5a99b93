"""Invented notes with a clinician and a date each, and a model that misses nicknames until its prompt mentions them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from incognote.evaluation.lab.proposing import SCHEMA
from incognote.evaluation.lab.runner import ModelRequestOptions
from incognote.llm.base import Request
from incognote.testing import ScriptedLLM, text_of

SURNAMES = (
    "Abara Bergström Castellano Dimitriou Eklund Fontaine Grabowski Haugen Ivanova Jankauskas Kowalski Lindqvist "
    "Moreau Novák Okafor Petrov Quispe Rossi Szabo Takeda Uzun Varga Wojcik Xanthos"
).split()
NICKS = "bibi coco didi fifi gigi jojo kiki lulu mimi nono pepe roro".split()
DRUGS = "Zorvaxin Meltadine Quorvest Baltrafen".split()

Answer = Callable[[Request], str]


def _rows(count: int = 64) -> list[dict[str, object]]:
    """Return the rows. Every second note also has a nickname, and every fourth has no PHI."""
    made: list[dict[str, object]] = []
    for at in range(count):
        surname, nick = SURNAMES[at % len(SURNAMES)], NICKS[at % len(NICKS)]
        drug = DRUGS[at % len(DRUGS)]
        if at % 4 == 3:
            made.append({"id": f"n{at}", "text": f"Visit {at}: wound dry, {drug} 5 mg goes on.", "spans": []})
            continue
        text = f"Visit {at}: {surname} looked at the wound, {drug} 5 mg goes on"
        spans = [{"start": text.index(surname), "end": text.index(surname) + len(surname), "type": "CLINICIAN"}]
        if at % 2 == 0:
            text += f" and {nick} helped in bay-{at}"
            spans.append({"start": text.index(nick), "end": text.index(nick) + len(nick), "type": "CLINICIAN"})
        made.append({"id": f"n{at}", "text": text + ".", "spans": spans})
    return made


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "dev.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in _rows()), encoding="utf-8")
    return path


@pytest.fixture
def how() -> ModelRequestOptions:
    return ModelRequestOptions("scripted/model", detectors=("llm",), synthetic=True)


Model = Callable[..., ScriptedLLM]


@pytest.fixture
def nicks() -> list[str]:
    return NICKS


@pytest.fixture
def model() -> Model:
    """Make a model that finds surnames, nicknames once its instructions contain a word, and then possibly drugs."""

    def made(guideline: str, *, heeds: str = "lower case", also_drugs: bool = False) -> ScriptedLLM:
        def answer(request: Request) -> str:
            if request.schema == SCHEMA:
                return json.dumps({"guideline": guideline, "reason": "so that fewer are missed"})
            told = request.messages[0].content.split("# What to extract")[1].split("# Context")[0]
            heeding = heeds in told
            words = [*SURNAMES, *(NICKS if heeding else ()), *(DRUGS if heeding and also_drugs else ())]
            found = [f"<<{word}>>" for word in words if word in text_of(request)]
            return json.dumps({"PERSON": found} if found else {})

        return ScriptedLLM(answer)

    return made

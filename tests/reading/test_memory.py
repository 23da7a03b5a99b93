"""After its result is gone, nothing of a note that a model read remains in memory."""

from __future__ import annotations

import json
from collections.abc import Callable

from incognote import Deidentifier
from incognote.llm.base import Reply, Request
from incognote.testing import text_of

STEM = "zerq"  # the planted word is assembled at run time so that no code object holds it as a constant


class Careless:
    """A model that keeps nothing. Placing its answers takes every kind of search there is."""

    name = "careless/model"

    def __init__(self, word: str) -> None:
        self._word = word[:4], word[4:]

    async def complete(self, request: Request) -> Reply:
        word = "".join(self._word).title()
        if word not in text_of(request):
            return Reply("{}")
        said = {
            "PERSON": [f"Dr. <<{word}>>", f"<<{word[:-1]} Ada>>", f"<<Ada, {word}>>", f"<<{word}x Marisol>>"],
            "TELEPHONE_NUMBER": [f"call <<555 0142 998>> {word}"],
            "GUID": [f"<<{word}4711>>", f"no <<471 188 {word}>>"],
        }
        return Reply(json.dumps(said))

    async def aclose(self) -> None:
        """Nothing to close."""


def test_no_word_of_a_note_outlives_its_result(held: Callable[[str], list[str]]) -> None:
    rare = "".join((STEM, "kot", "ovax"))
    name = rare.title()
    with Deidentifier(model=Careless(rare)) as deid:
        note = f"Seen by Dr. {name}, then {name} Ada and Marisol {name}. Call 5550142998 or {name}4711, no 471188."
        result = deid.deidentify(note, patient=f"{rare}-17", known={"name": f"{name} Ada"})
        assert result.manifest["models"]["usage"]["calls"] == 2
        assert held(rare)  # the walk finds live objects
        del result, note, name
        assert held(rare) == []

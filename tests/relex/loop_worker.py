"""A process that relexicalizes notes: `loop_worker.py URL SEED`. It reports each note when it is done."""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys

from incognote.keys import Keyring
from incognote.nouns import Span, Text
from incognote.relex.agents.base import RelexNote
from incognote.relex.batch import Tools
from incognote.relex.cluster import variant
from incognote.relex.graph import relexicalize
from incognote.relex.index.opening import open_index

KEY = Keyring(b"one master key, 32 bytes of it.." * 2)
_MARK = re.compile(r"\[(\w+)\|([^\]]+)\]")
_PEOPLE = ("Rosa Marin", "Chidi Okafor")
_STAFF = ("Adam Wilson", "Beth Wilson", "Temitope Oyelaran")
STEADY = tuple(
    (
        f"s{patient}{visit}",
        f"p{patient}",
        f"[PATIENT|{name}] saw Dr. [CLINICIAN|{_STAFF[(patient + visit) % 3]}] at "
        f"[HOSPITAL|Westfield General Hospital]. Mrs. [PATIENT|{name.split()[1]}] came on [DATE|0{visit + 1}/14/2024], "
        f"MRN [MEDICAL_RECORD_NUMBER|88120{patient}].",
    )
    for patient, name in enumerate(_PEOPLE)
    for visit in range(2)
)
"""Notes of which each tells by itself who everybody is."""
MOVING = (
    ("m1", "p8", "[CLINICIAN|Wilson] wrote."),
    ("m2", "p9", "[PERSON|Temitope Oyelaran] was told; [CLINICIAN|Oyelaran] agreed at [HOSPITAL|Westfield General]."),
)
"""Notes of which others tell who is meant."""


def note(record: str, patient: str, marked: str, sources: tuple[str, ...] = ()) -> RelexNote:
    """A note with mentions as `[TYPE|words]`, found by the sources, or by a person without any."""
    plain, at = "", 0
    spans: list[tuple[int, int, str]] = []
    for match in _MARK.finditer(marked):
        plain += marked[at : match.start()]
        spans.append((len(plain), len(plain) + len(match[2]), match[1]))
        plain, at = plain + match[2], match.end()
    text = Text(plain + marked[at:])
    found = [Span(text, *span, sources=sources) for span in spans]
    mentions = [variant(span, record=record, patient=patient, domain="clinic") for span in found]
    return RelexNote(record, patient, "clinic", {"": text.content}, tuple(sorted(mentions)))


async def main(url: str, seed: int) -> None:
    """Process each note separately, in an order that depends on the seed."""
    async with await open_index(url, KEY) as index:
        tools = Tools(index, KEY)
        sys.stdout.write("open\n")
        sys.stdout.flush()
        for told in random.Random(seed).sample([*STEADY, *MOVING], len(STEADY) + len(MOVING)):
            one = note(*told)
            shown = (await relexicalize([one], tools)).shown
            texts = [shown[v].text for v in sorted(one.variants, key=lambda v: v.start)]
            sys.stdout.write(f"{one.record}\t{json.dumps(texts)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))

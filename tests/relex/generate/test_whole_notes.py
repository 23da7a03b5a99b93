"""Clustered notes through the generators: arbitrary words of any type, and the development half of the corpus."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.keys import Keyring
from incognote.nouns import Span, Text
from incognote.relex.cluster import cluster, variant
from incognote.relex.generate import Generators, KeyedDraw, UsedSurrogates
from incognote.relex.generate.base import plain
from incognote.relex.nouns import MentionVariant
from incognote.schemas.catalogue import catalogue
from tests.relex.applying import apply, bearers

TYPES = sorted(set(catalogue()))
NOTES = Path(__file__).parents[2] / "data" / "longitudinal" / "notes.jsonl"
WORDS = st.one_of(
    st.text(min_size=1, max_size=24),
    st.from_regex(r"[A-Za-z0-9 .,'@:/#()+-]{1,24}", fullmatch=True),
)


@given(type=st.sampled_from(TYPES), words=WORDS)
def test_any_words_of_any_type_are_served(keyring: Keyring, type: str, words: str) -> None:
    span = Span(Text(words), 0, len(words), type)
    mention = variant(span, record="r", patient="p", domain="d")
    identities = cluster([mention])
    generators = Generators()
    called = generators.generate_all(identities, KeyedDraw(keyring), UsedSurrogates())
    out, replaced = apply(span.source, {span: mention}, bearers(identities), called, generators.render)
    assert len(replaced) == 1
    assert replaced[0].text == out


@pytest.fixture(scope="module")
def notes() -> dict[Text, dict[Span, MentionVariant]]:
    """The mentions of patients 1 to 7."""
    found: dict[Text, dict[Span, MentionVariant]] = {}
    for line in NOTES.read_text(encoding="utf-8").splitlines():
        note = json.loads(line)
        if int(note["patient"][1:]) > 7:
            continue
        text = Text(note["text"], note["id"])
        spans = [Span(text, s["start"], s["end"], s["type"]) for s in note["spans"]]
        found[text] = {s: variant(s, record=note["id"], patient=note["patient"], domain="d") for s in spans}
    return found


def test_longitudinal_notes_hold_nobody_any_more_and_nobody_twice(
    notes: dict[Text, dict[Span, MentionVariant]], keyring: Keyring
) -> None:
    identities = cluster(v for mentions in notes.values() for v in mentions.values())
    generators = Generators()
    called = generators.generate_all(identities, KeyedDraw(keyring), UsedSurrogates())
    wholes = Counter(
        (one.scope, one.group, plain(whole)) for one in identities if (whole := generators.whole(one, called[one.id]))
    )
    assert max(wholes.values()) == 1
    originals = {v.words for one in identities if one.group == "PERSON" for v in one.variants}
    homes = bearers(identities)
    changed = labels = 0
    for text, mentions in notes.items():
        _, replaced = apply(text, mentions, homes, called, generators.render)
        for one in replaced:
            kept = one.text == one.span.text
            year = one.span.type == "DATE" and one.text.isdecimal()  # Safe Harbor allows no more
            assert not kept or year or one.span.type in ("COUNTRY", "STATE", "DEPARTMENT", "AGE")
            assert one.span.type not in ("PATIENT", "CLINICIAN", "RELATIVE") or one.text not in originals
            changed += not kept
            labels += one.text.startswith("[")
    assert changed > 350
    assert labels <= 5  # days that cannot be shifted: Christmas, Monday the 20th


def test_longitudinal_notes_come_out_the_same_in_any_order(
    notes: dict[Text, dict[Span, MentionVariant]], keyring: Keyring
) -> None:
    mentions = [v for found in notes.values() for v in found.values()]
    first = Generators().generate_all(cluster(mentions), KeyedDraw(keyring), UsedSurrogates())
    for seed in range(3):
        random.Random(seed).shuffle(mentions)
        identities = cluster(mentions)
        random.Random(seed).shuffle(identities)
        assert Generators().generate_all(identities, KeyedDraw(keyring), UsedSurrogates()) == first

"""The generator: deterministic, many families, spans that fit, and no PHI in families that declare none."""

from __future__ import annotations

import re
from random import Random

import pytest

from incognote.schemas.catalogue import catalogue
from incognote_training.corpus.grammar import slots
from incognote_training.corpus.material import families, lists
from incognote_training.corpus.scene import Scene, signs
from incognote_training.corpus.synthesis import made, synthesize

pytest.importorskip("faker", reason="the generator draws names from Faker: pip install 'incognote[distill]'")

UNFILLED = re.compile(r"\{\{|\}\}(?!\])")


def test_there_are_at_least_eighty_families() -> None:
    assert len(families()) >= 80
    assert len({family.style for family in families()}) == len(families())


def test_a_seed_makes_the_same_documents() -> None:
    assert list(synthesize(7, 30)) == list(synthesize(7, 30))
    assert list(synthesize(7, 5)) == list(synthesize(7, 30))[:5]
    assert list(synthesize(7, 5)) != list(synthesize(8, 5))


@pytest.mark.parametrize("family", families(), ids=lambda family: family.id)
def test_every_family_makes_documents_with_known_types(family: object) -> None:
    for seed in range(8):
        document = made(family, Random(f"{seed}"), "x")  # type: ignore[arg-type]  # pytest types parameters as objects
        assert document.text
        assert not UNFILLED.search(document.text)
        assert {span.type for span in document.spans} <= set(catalogue())
        for start, end, _ in document.spans:
            words = document.text[start:end]
            assert words == words.strip() != ""


def test_families_without_phi_have_no_span() -> None:
    clean = [family for family in families() if "clean" in family.options]
    assert len(clean) >= 15
    for family in clean:
        assert not any(made(family, Random(f"{family.id}{seed}"), "x").spans for seed in range(20)), family.id


def test_every_slot_of_every_list_is_known() -> None:
    assert any(slots(template) for entries in lists().values() for template in entries.templates)
    for name, entries in lists().items():
        for number, template in enumerate(entries.templates):
            for slot in slots(template):
                scene = Scene(Random(f"{name}{number}"))
                assert list(scene.fill(slot.name, slot.argument)), (name, slot)


def test_shares_are_about_what_was_asked() -> None:
    documents = list(synthesize(3, 500, clean=0.3, corrupt=0.4))
    assert 0.22 < sum(not one.spans for one in documents) / len(documents) < 0.38
    assert 0.3 < sum("corrupted" in one.source for one in documents) / len(documents) < 0.5
    assert not any("corrupted" in one.source for one in synthesize(3, 60, corrupt=0))


def test_people_keep_their_names_in_a_document() -> None:
    scene = Scene(Random("a"))
    first = [text for text, kind in scene.fill("pt.last", "") if kind]
    assert first == [text for text, kind in scene.fill("pt.last", "") if kind]
    assert first[0] in "".join(text for text, kind in scene.fill("pt.fl", "") if kind)


def test_typed_values_stay_and_a_star_is_another() -> None:
    scene = Scene(Random("b"))
    assert list(scene.fill("mrn", "")) == list(scene.fill("mrn", ""))
    assert list(scene.fill("mrn", "")) != list(scene.fill("mrn2", ""))
    assert list(scene.fill("mrn*", "")) != list(scene.fill("mrn*", ""))


def test_the_birth_date_fits_the_age() -> None:
    for seed in range(40):
        scene = Scene(Random(seed))
        lived = (scene.day - scene.born).days / 365.25
        assert scene.years - 0.1 <= lived < scene.years + 1.1


def test_names_come_from_many_cultures_and_scripts_of_latin() -> None:
    letters = {letter for seed in range(300) for letter in Scene(Random(seed)).person("pt").last}
    assert len({letter for letter in letters if not letter.isascii()}) >= 8


def test_signs_follow_their_pattern() -> None:
    assert re.fullmatch(r"[1-9]\d-[A-Z][a-z][0-9a-f]X", signs("%#-?&*X", Random(1)))

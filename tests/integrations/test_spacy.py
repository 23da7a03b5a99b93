"""The component inside real spaCy pipelines."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytest.importorskip("spacy", reason="the extra `spacy` is not installed")

import spacy
from spacy.language import Language

from incognote import Deidentifier
from incognote.errors import UnsupportedFormat

NOTE = "Mr. Emeka Okonkwo, 66, seen by Dr. Abara on 03/09/2025. MRN 4471902."
RULES = {"detectors": ["rules"]}


@pytest.fixture(scope="module")
def nlp() -> Language:
    made = spacy.blank("en")
    made.add_pipe("incognote", config=RULES)
    return made


def test_spacy_finds_the_component_by_its_entry_point() -> None:
    (point,) = entry_points(group="spacy_factories", name="incognote")
    assert point.value == "incognote.integrations.spacy:make_incognote"


def test_spans_are_those_of_the_sdk_with_their_scores(nlp: Language) -> None:
    (spans,) = Deidentifier(detectors=["rules"]).detect([NOTE])
    doc = nlp(NOTE)
    group = doc.spans["incognote"]
    assert [(each.start_char, each.end_char) for each in group] == [(each.start, each.end) for each in spans]
    assert [each.label_ for each in group] == [each.type for each in spans]
    assert group.attrs["scores"] == [each.score for each in spans]
    assert len(spans) == 5


def test_a_batch_gives_what_each_text_gives(nlp: Language) -> None:
    texts = [NOTE, "", "Lungs clear.", "Seen by Dr. Abara."] * 3
    batch = [[each.text for each in doc.spans["incognote"]] for doc in nlp.pipe(texts, batch_size=5)]
    alone = [nlp(text) for text in texts]
    assert batch == [[each.text for each in doc.spans["incognote"]] for doc in alone]
    assert batch[3] == ["Abara"]


def test_processes_of_spacy_give_the_same(nlp: Language) -> None:
    docs = list(nlp.pipe([NOTE, "Seen by Dr. Abara."], n_process=2, batch_size=1))
    assert [len(doc.spans["incognote"]) for doc in docs] == [5, 1]


def test_an_identifier_inside_a_token_takes_the_whole_token(nlp: Language) -> None:
    text = "cc:Dr.Abara/MRN4471902x seen 03/09/2025-pm."
    (spans,) = Deidentifier(detectors=["rules"]).detect([text])
    doc = nlp(text)
    covered = {index for each in doc.spans["incognote"] for index in range(each.start_char, each.end_char)}
    assert spans
    assert covered >= {index for each in spans for index in range(each.start, each.end)}


def test_entities_are_set_on_demand_and_win_over_those_that_overlap() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(  # type: ignore[attr-defined]  # spaCy types a pipe as a callable
        [{"label": "DRUG", "pattern": "warfarin"}, {"label": "ORG", "pattern": "Dr. Abara"}]
    )
    nlp.add_pipe("incognote", config={**RULES, "set_ents": True, "spans_key": "phi"})
    doc = nlp("Dr. Abara started warfarin on 03/09/2025.")
    assert [(each.text, each.label_) for each in doc.ents] == [
        ("Abara", "CLINICIAN"), ("warfarin", "DRUG"), ("03/09/2025", "DATE"),
    ]  # fmt: skip
    assert len(doc.spans["phi"]) == 2


def test_a_pipeline_is_saved_and_loaded_with_its_config(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("incognote", config={**RULES, "spans_key": "phi"})
    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline")
    assert loaded.config["components"]["incognote"]["spans_key"] == "phi"
    doc = loaded("Seen by Dr. Abara.")
    assert [each.text for each in doc.spans["phi"]] == ["Abara"]


def test_a_format_that_hides_words_raises(nlp: Language) -> None:
    with pytest.raises(UnsupportedFormat):
        nlp(r"{\rtf1\ansi Seen by Dr. Ab\'61ra}")

"""The detector across all finders: batch processing, sources, packs, and a version hash of its data."""

from __future__ import annotations

import re

import pytest

from incognote.detectors.rules import RulesDetector, data_version, finders
from incognote.detectors.rules.patterns import PatternFinder, finder
from incognote.detectors.rules.patterns.rule import PatternRule
from incognote.languages import Language
from incognote.nouns import Text


class Pack:
    """A site pack with its own accession format and a list of allowed words."""

    finders = (
        PatternFinder(
            [PatternRule.from_dict({"id": "acc", "type": "FIN", "code": True, "pattern": r"ZQ\d{2}", "score": 0.9})]
        ).find,
    )

    def allow(self, text_lower):
        return text_lower == "00718823"


def test_it_answers_one_list_per_text_in_order_with_sources():
    lists = RulesDetector().detect([Text("MRN: 00718823", "note"), Text(""), Text("seen 1/2/2024")])
    assert [[s.text for s in spans] for spans in lists] == [["00718823"], [], ["1/2/2024"]]
    assert lists[0][0].sources == ("rules:medical_record.labelled",)
    assert lists[0][0].field == "note"


def test_the_patterns_are_among_its_finders():
    assert finder("en") in finders("en")


def test_a_pack_adds_finders_and_allows_words():
    text = Text("MRN: 00718823, filed as ZQ44")
    assert [s.text for s in RulesDetector().detect([text])[0]] == ["00718823"]
    assert [s.text for s in RulesDetector([Pack()]).detect([text])[0]] == ["ZQ44"]


def test_its_version_is_a_hash_of_its_data():
    assert re.fullmatch("[0-9a-f]{64}", RulesDetector().version)
    assert RulesDetector().version == data_version()


def test_a_changed_rule_file_changes_the_version(tmp_path, monkeypatch):
    (tmp_path / "house" / "rules").mkdir(parents=True)
    (tmp_path / "house" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("incognote.detectors.rules.language", lambda code: Language(code, "house"))
    versions = {data_version.__wrapped__()}
    for pattern in (r"ZQ\d{2}", r"ZQ\d{3}"):
        (tmp_path / "house" / "rules" / "visits.toml").write_text(f"pattern = '{pattern}'")
        versions.add(data_version.__wrapped__())
    assert len(versions) == 3


@pytest.mark.parametrize(
    "content",
    ["\r\nMRN:\r\n00718823\r\n", "\x00MRN 00718823\x00", "\ud800 MRN 00718823 \udfff", "e\u0301 👩‍⚕️ MRN 00718823 שלום"],
)
def test_odd_characters_move_no_offset(content):
    (span,) = [s for s in RulesDetector().detect([Text(content)])[0] if s.type == "MEDICAL_RECORD_NUMBER"]
    assert span.text == "00718823"

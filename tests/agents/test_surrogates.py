"""RedactOR's sample record relexicalized (§A.9.5), and what a Deidentifier needs to do it."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from incognote import Deidentifier
from incognote.errors import KeyMissing, SettingError
from incognote.keys import Keyring
from incognote.relex.index.opening import open_index

SAMPLE = (Path(__file__).parents[2] / "examples" / "redactor_record.json").read_text(encoding="utf-8")
_NOTE = re.compile(
    r"(?P<given>\w+) (?P<surname>[\w'-]+), an? (?P<age>\d+)-year-old male, presented to (?P<hospital>[\w ]+Medical "
    r"Center) on (?P<seen>\d\d/\d\d/\d{4}) complaining of severe abdominal pain\. He was referred by Dr\. "
    r"(?P<doctor>[\w'-]+ [\w'-]+) from (?P<clinic>[\w ]+Clinic)\. His address is \d+ [\w ]+ St, [\w ]+, CA 9\d{4}\. "
    r"Contact number: \((?P<area>\d{3})\) 555-01\d\d\. Past medical history includes hypertension and Type 2 "
    r"diabetes\. "
    r"His insurance ID is INS-\d{9}\. The patients spouse, (?P<wife>\w+) (?P=surname), can be reached at "
    r"\((?P=area)\) 555-01\d\d\. A CT scan was performed and results were discussed with the patient at 2:00 PM\. "
    r"Follow-up scheduled on (?P<again>\d\d/\d\d/\d{4}) at 9:00 AM\. Patient is employed as an? (?P<job>[\w ]+) at "
    r"(?P<firm>\w+) Corp\. Social Security Number: 9\d\d-\d\d-\d{4}\."
)


@pytest.fixture
def deid(tmp_path: Path) -> Iterator[Deidentifier]:
    # a fixed key: with a random key, a surrogate town can share a word with the originals (Moreno Valley)
    url, key = f"sqlite:///{tmp_path / 'index.db'}", Keyring(bytes(range(32)))
    (tmp_path / "a.key").write_text(base64.urlsafe_b64encode(bytes(range(32))).decode() + "\n", encoding="ascii")
    (tmp_path / "a.key").chmod(0o600)

    async def make() -> None:
        await (await open_index(url, key, create=True)).aclose()

    asyncio.run(make())
    with Deidentifier("surrogate", index=url, key_file=tmp_path / "a.key", detectors=("rules",)) as made:
        yield made


def test_the_sample_record_tells_the_same_story_of_other_people(deid: Deidentifier) -> None:
    record = deid.deidentify(SAMPLE, data_type="clinicalRecord").record
    told = _NOTE.fullmatch(record["note"])
    assert told is not None, record["note"]
    assert record["AGE"] == f"{told['age']} years"
    assert told["age"] != "45"
    days = [tuple(map(int, told[name].split("/"))) for name in ("seen", "again")]
    assert days[1][1] - days[0][1] in (6, 6 - 28, 6 - 29, 6 - 30, 6 - 31)
    originals = "John Jane Doe Emily Smith Stanford Valley Main Alto 94301 TechNova 789456123 987-65".split()
    assert not any(word in record["note"] for word in originals)
    assert deid.deidentify(SAMPLE, data_type="clinicalRecord").record == record


def test_replacements_bear_the_identity_that_other_notes_share(deid: Deidentifier) -> None:
    first = deid.deidentify("Seen by Dr. Temitope Oyelaran.", id="1", patient="7")
    second = deid.deidentify("Dr. Oyelaran called.", id="2", patient="8")
    (one,), (two,) = first.replacements, second.replacements
    assert one.operator == "surrogate"
    assert one.identity == two.identity
    assert one.text.endswith(" " + two.text)


def test_surrogates_need_an_index_and_a_persistent_key_before_the_first_record(tmp_path: Path) -> None:
    key = tmp_path / "a.key"
    Keyring.write_new(key)
    with pytest.raises(SettingError, match="INCOGNOTE_INDEX"):
        Deidentifier("surrogate", key_file=key).deidentify("Nothing.")
    with pytest.warns(UserWarning, match="No key is configured"), pytest.raises(KeyMissing, match="persistent"):
        Deidentifier("surrogate", index=f"sqlite:///{tmp_path / 'i.db'}").deidentify("Nothing.")


def test_finding_needs_neither() -> None:
    with pytest.warns(UserWarning, match="No key is configured"):
        found = Deidentifier("surrogate").detect(["Seen by Dr. Emily Carter."])
    assert [span.text for span in found[0]] == ["Emily Carter"]


def test_an_index_that_is_gone_quarantines_the_record_for_a_later_try(deid: Deidentifier, tmp_path: Path) -> None:
    (tmp_path / "index.db").unlink()
    result = deid.deidentify("Seen by Dr. Emily Carter.", patient="7")
    assert (result.verdict.outcome, result.verdict.reasons[0].code) == ("quarantine", "index-rejected")

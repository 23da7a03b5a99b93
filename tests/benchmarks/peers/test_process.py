"""The worker's protocol, tested with a minimal peer."""

from __future__ import annotations

import venv
from pathlib import Path

import pytest

from incognote.errors import UnknownName
from incognote.evaluation.formats.document import LabeledSpan
from incognote.schemas.catalogue import catalogue
from incognote_benchmarks.peers import PEERS, Absent, PeerFailed, Process

FAKE = Path(__file__).parent / "fake.py"


def test_a_worker_answers_in_code_points_under_our_names_and_is_measured() -> None:
    peer = Process("fake", adapter=FAKE)
    detected = peer.detect(["\U0001f600 ABC\r\nD", "", "nothing"])
    assert detected.labels == ((LabeledSpan(2, 5, "SSN_OR_TAXPAYER"), LabeledSpan(7, 8, "SSN_OR_TAXPAYER")), (), ())
    assert (peer.version, peer.about) == ("7", "capitals")
    assert detected.characters_per_second is None or detected.characters_per_second > 0
    assert detected.peak_mb is None or detected.peak_mb > 1
    assert detected.ready_seconds is not None


def test_a_text_on_which_a_peer_fails_does_not_take_the_others_with_it() -> None:
    assert Process("fake", adapter=FAKE).detect(["A", "fail", "B"]).labels == (
        (LabeledSpan(0, 1, "SSN_OR_TAXPAYER"),),
        None,
        (LabeledSpan(0, 1, "SSN_OR_TAXPAYER"),),
    )


def test_a_worker_that_dies_is_told_without_the_text(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PeerFailed, match="ended with 3") as raised:
        Process("fake", adapter=FAKE).detect(["die, Ruth Hale"])
    assert "Hale" not in str(raised.value)
    assert "Hale" not in "".join(capfd.readouterr())


def test_an_absent_model_is_told() -> None:
    with pytest.raises(Absent, match="no model"):
        Process("fake", settings={"model": "x"}, adapter=FAKE).detect(["A"])


def test_an_absent_interpreter_is_told_without_its_path(tmp_path: Path) -> None:
    with pytest.raises(Absent, match="interpreter") as raised:
        Process("fake", tmp_path / "python", adapter=FAKE).detect(["A"])
    assert str(tmp_path) not in str(raised.value)


@pytest.mark.parametrize("name", ["presidio", "presidio-patterns", "philter", "scrubadub", "datafog"])
def test_a_peer_that_is_not_installed_says_how_to_install_it_apart(name: str, tmp_path: Path) -> None:
    bare = tmp_path / "venv"
    venv.create(bare, symlinks=True)
    with pytest.raises(Absent, match=f"pip install {PEERS[name][1]}.*--peer {name}=PYTHON"):
        Process(name, bare / "bin" / "python").detect(["A"])


def test_there_is_no_peer_of_another_name() -> None:
    with pytest.raises(UnknownName, match="presidio"):
        Process("presidia")


def test_our_own_rules_answer_as_peers_do() -> None:
    labels = Process("incognote").detect(["Dr. John Smith, SSN 123-45-6789"]).labels[0]
    assert labels == (LabeledSpan(4, 14, "CLINICIAN"), LabeledSpan(20, 31, "SSN_OR_TAXPAYER"))


@pytest.mark.parametrize(
    ("scheme", "theirs", "our"),
    [
        ("philter", "Provider_Address_or_Location", "LOCATION"),
        ("philter", "Patient_Social_Security_Number", "SSN_OR_TAXPAYER"),
        ("philter", "DATE", "DATE"),
        ("philter", "OTHER", "UNTYPED"),
        ("scrubadub", "phone", "TELEPHONE_NUMBER"),
        ("scrubadub", "url", "URL"),
        ("datafog", "PHONE", "TELEPHONE_NUMBER"),
        ("datafog", "ZIP_CODE", "ZIP"),
        ("presidio", "DATE_TIME", "DATE"),
        ("presidio", "NEVER_HEARD_OF", "NEVER_HEARD_OF"),
    ],
)
def test_names_go_through_the_catalogue(scheme: str, theirs: str, our: str, tmp_path: Path) -> None:
    adapter = tmp_path / "one.py"
    adapter.write_text(
        "class One:\n    version = about = ''\n"
        f"    def detect(self, texts):\n        return [[(0, 1, {theirs!r})] for _ in texts]\n\n"
        "def load(settings):\n    return One()\n"
    )
    assert Process("one", adapter=adapter, scheme=scheme).detect(["A"]).labels == ((LabeledSpan(0, 1, our),),)
    assert our in catalogue() or our in ("UNTYPED", "NEVER_HEARD_OF")

"""Site packs: the contents of a folder, faults by file and line, examples, and the two commands."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from incognote.cli import app
from incognote.detectors.known import KnownDetector
from incognote.detectors.packs import FILES, check_pack, failures, load_pack, new_pack
from incognote.detectors.packs.reading import check_ways
from incognote.detectors.rules import RulesDetector
from incognote.errors import SettingError, UsageError
from incognote.nouns import Known, Text

Make = Callable[..., Path]

RULE = """[[rule]]
id = "accession"
type = "ACCOUNT_NUMBER"
labels = ["acc no"]
pattern = '\\d{4}-\\d{5,7}(?!\\d)'
"""


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Write a pack's folder with the given files: make({"deny.csv": "..."})."""

    def write(contents: dict[str, str | bytes] | None = None) -> Path:
        folder = tmp_path / "larkmoor"
        folder.mkdir()
        for name, content in {"pack.toml": 'name = "larkmoor"\nversion = "3"\n', **(contents or {})}.items():
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder

    return write


def _fault(folder: Path) -> str:
    with pytest.raises(SettingError) as caught:
        load_pack(folder)
    assert caught.value.__cause__ is None
    return str(caught.value)


def test_pack_toml_alone_is_a_pack(make: Make) -> None:
    pack = load_pack(make())
    assert (pack.name, pack.label, pack.finders, pack.known) == ("larkmoor", "3", (), ())
    assert check_pack(pack) == []


def test_a_rule_of_a_pack_finds_under_the_packs_name(make: Make) -> None:
    pack = load_pack(make({"patterns.toml": RULE}))
    text = Text("Acc no: 2024-118734")
    found = [s for s in RulesDetector([pack]).detect([text])[0] if "rules:larkmoor.accession" in s.sources]
    assert [(s.start, s.end, s.type) for s in found] == [(8, 19, "ACCOUNT_NUMBER")]


def test_a_retype_of_a_pack_makes_its_rules_finds_precise(make: Make) -> None:
    retype = '[[retype]]\nof = "ACCOUNT_NUMBER"\nto = "FIN"\nbefore = ["fin acc no"]\n'
    pack = load_pack(make({"patterns.toml": RULE + retype}))
    found = RulesDetector([pack]).detect([Text("FIN Acc no: 2024-118734")])[0]
    assert "FIN" in {s.type for s in found if "rules:larkmoor.accession" in s.sources}


def test_an_allowed_stretch_is_dropped_in_any_case_and_over_a_line_break(make: Make) -> None:
    folder = make({"allow.txt": "# a comment\n\nWard  O’Hara Form\n"})
    pack = load_pack(folder)
    assert pack.allow("ward o'hara\nform")
    assert not pack.allow("# a comment")
    assert not pack.allow("")
    assert not pack.allow("ward")


def test_an_allowed_find_of_the_rules_is_not_reported(make: Make) -> None:
    folder = make({"patterns.toml": RULE.replace('["acc no"]', '["zyx"]')})
    text = Text("Zyx 2024-118734")
    assert RulesDetector([load_pack(folder)]).detect([text])[0]
    (folder / "allow.txt").write_text("2024-118734\n")
    assert RulesDetector([load_pack(folder)]).detect([text])[0] == []


def test_lists_become_known_identifiers_that_are_found(make: Make) -> None:
    pack = load_pack(
        make(
            {
                "deny.csv": "# held here\ntype,value\nHOSPITAL, Larkmoor Infirmary\n\nTELEPHONE_NUMBER,020 7946 0119\n",
                "staff.csv": '\ufeffname,role\nOdalys Fennimore,radiologist\n"Brackwater, Tobin"\n',
            }
        )
    )
    assert pack.known == (
        Known("HOSPITAL", "Larkmoor Infirmary"),
        Known("TELEPHONE_NUMBER", "020 7946 0119"),
        Known("CLINICIAN", "Odalys Fennimore"),
        Known("CLINICIAN", "Brackwater, Tobin"),
    )
    found = KnownDetector(pack.known).detect([Text("O. Fennimore rang Larkmoor Infirmary.")])[0]
    assert {"CLINICIAN", "HOSPITAL"} <= {s.type for s in found}


def test_a_list_without_its_head_loses_no_row(make: Make) -> None:
    pack = load_pack(make({"staff.csv": "Odalys Fennimore\nTobin Brackwater,name\n"}))
    assert [k.value for k in pack.known] == ["Odalys Fennimore", "Tobin Brackwater"]


def test_nothing_of_a_list_shows_in_a_repr(make: Make) -> None:
    folder = make(
        {
            "staff.csv": "Odalys Fennimore\n",
            "allow.txt": "Whipple\n",
            "examples.jsonl": '{"text": "Odalys Fennimore", "spans": []}\n',
        }
    )
    pack = load_pack(folder)
    assert not re.search("(?i)odalys|fennimore|whipple", repr(pack) + repr(failures(pack)) + str(check_pack(pack)))


def test_the_version_changes_with_any_file_and_with_nothing_else(make: Make) -> None:
    folder = make({"README.md": "ours"})
    first = load_pack(folder).version
    (folder / "README.md").write_text("changed")
    assert load_pack(folder).version == first
    seen = {first}
    for name in ("allow.txt", "staff.csv", "examples.jsonl"):
        (folder / name).write_text("# one\n")
        seen.add(load_pack(folder).version)
    assert len(seen) == 4


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("pack.toml", 'name = "x"\nversion = \n', "pack.toml line 2:"),
        ("pack.toml", 'name = "two words"\nversion = "1"\n', "pack.toml: needs name"),
        ("pack.toml", 'name = "x"\nversion = 1\n', "pack.toml: needs version"),
        ("pack.toml", 'name = "x"\nversion = "1"\n[[rule]]\n', "pack.toml: has keys"),
        ("patterns.toml", "[[rule]]\nid = 'a\n", "patterns.toml line 2:"),
        ("patterns.toml", "[rule]\nid = 'a'\n", "patterns.toml: write [[rule]]"),
        ("patterns.toml", "[[rules]]\nid = 'a'\n", "patterns.toml: has keys"),
        (
            "patterns.toml",
            "# head\n" + RULE.replace("ACCOUNT_NUMBER", "ACCOUNT"),
            "patterns.toml line 2: rule larkmoor",
        ),
        ("patterns.toml", RULE.replace("(?!", "(?!("), "patterns.toml line 1: rule larkmoor.accession: pattern is not"),
        ("patterns.toml", RULE.replace("{5,7}", "+"), "line 1: rule larkmoor.accession: has an unbounded"),
        ("patterns.toml", RULE.replace("\\d{5,7}", "(\\d{1,9}){1,9}"), "too many ways"),
        ("patterns.toml", RULE + "not_near = ['ward.*']\n", "an unbounded quantifier"),
        ("patterns.toml", RULE + "\n" + RULE, "patterns.toml line 7: rule larkmoor.accession: another"),
        ("patterns.toml", RULE.replace('["acc no"]', '"acc no"'), "labels must be a list"),
        ("patterns.toml", RULE.replace('["acc no"]', '["--"]'), "a label must have"),
        ("patterns.toml", RULE.replace('labels = ["acc no"]', 'words = ["Bleep"]\nscore = 0.9'), "must contain only"),
        ("patterns.toml", RULE.replace('labels = ["acc no"]', "digits = [4]"), "score must be at least"),
        ("patterns.toml", RULE.replace('labels = ["acc no"]', 'digits = "9-4"\nscore = 0.9'), "digits must be a range"),
        ("patterns.toml", RULE.replace('labels = ["acc no"]', 'digits = "4-x"\nscore = 0.9'), "digits must be a list"),
        ("patterns.toml", RULE + "more = 'yes'\n", "more must be true or false"),
        ("patterns.toml", RULE + "score = '1'\n", "score must be a number"),
        ("patterns.toml", RULE + "score = 1.5\n", "between 0 and 1"),
        ("patterns.toml", RULE + "window = 9999\n", "window must be a number"),
        ("patterns.toml", RULE + "colour = 'red'\n", "colour"),
        (
            "patterns.toml",
            RULE.replace("\\d{4}", "{nosuch}"),
            "patterns.toml line 1: rule larkmoor.accession: pattern names the macro",
        ),
        ("patterns.toml", RULE.replace("\\d{4}", "\\d{99999999999999999999}"), "patterns.toml line 1: rule 1 cannot"),
        ("patterns.toml", "\n[[retype]]\nof = 'DATE'\n", "patterns.toml line 2: a retype: needs"),
        ("deny.csv", "HOSPITAL,Larkmoor\nQwertz,HOSPITAL\n", "deny.csv line 2: its first column"),
        ("deny.csv", '# note, "with" quotes\nHOSPITAL,Qwertz, Leeds\n', "deny.csv line 2: needs type,value"),
        ("deny.csv", "HOSPITAL;Qwertz\n", "deny.csv line 1: needs type,value"),
        ("deny.csv", 'HOSPITAL,"Qwertz" x\n', "deny.csv line 1: is not valid CSV"),
        ("deny.csv", "type,value\nMEDICAL_RECORD_NUMBER,7\n", "deny.csv line 2: would never be found"),
        ("staff.csv", "name;role\nQwertz;nurse\n", "staff.csv line 2: its columns are separated by semicolons"),
        ("staff.csv", "name,role\n,Qwertz\n", "staff.csv line 2: needs name"),
        ("staff.csv", b"name\nOdalys\nQwertz\xe9\n", "staff.csv line 3: is not UTF-8"),
        ("examples.jsonl", '# c\n{"text": "Qwertz"\n', "examples.jsonl line 2: is not JSON"),
        ("examples.jsonl", '{"text": "Qwertz"}\n', 'examples.jsonl line 1: needs "spans"'),
        (
            "examples.jsonl",
            '{"text": "Qwertz", "spans": [{"start": 0, "end": 7, "type": "PATIENT"}]}',
            "line 1: span 1",
        ),
        ("examples.jsonl", '{"text": "a", "spans": [{"text": "Qwertz", "type": "PATIENT"}]}', "does not occur in"),
        ("examples.jsonl", '{"text": "a", "spans": [{"text": "a", "type": "Qwertz"}]}', "span 1 needs"),
        (
            "examples.jsonl",
            '{"text": "Qwertz", "spans": [{"start": 0, "end": 3, "text": "tz", "type": "PATIENT"}]}',
            "is not at its offsets",
        ),
        ("Deny.csv.txt", "HOSPITAL,Qwertz\n", "the folder has 1 other file(s)"),
        ("staff.xlsx", "Qwertz\n", "the folder has 1 other file(s)"),
    ],
)
def test_a_fault_names_file_and_line_and_no_value(make: Make, name: str, content: str | bytes, told: str) -> None:
    folder = make({name: content})
    message = _fault(folder)
    assert told in message
    assert "qwertz" not in message.lower()
    assert check_pack(folder)


def test_what_is_allowed_and_denied_at_once_is_a_fault(make: Make) -> None:
    message = _fault(make({"allow.txt": "\nlarkmoor infirmary\n", "deny.csv": "HOSPITAL,Larkmoor Infirmary\n"}))
    assert "allow.txt line 2: is also in deny.csv" in message
    assert "infirmary" not in message.lower()


def test_a_folder_without_pack_toml_and_no_folder_at_all_are_told(tmp_path: Path) -> None:
    assert "pack.toml" in _fault(tmp_path)
    assert "--pack" in _fault(tmp_path / "none")


def test_all_faults_are_told_at_once(make: Make) -> None:
    folder = make({"deny.csv": "x,y\n" * 12, "staff.csv": ",z\n"})
    assert len(check_pack(folder)) == 13
    assert _fault(folder).endswith("and 3 more")


def _example(text: str, *spans: tuple[str, str]) -> str:
    return json.dumps({"text": text, "spans": [{"text": words, "type": kind} for words, kind in spans]}) + "\n"


def test_examples_that_hold_are_silent(make: Make) -> None:
    folder = make(
        {
            "patterns.toml": RULE,
            "staff.csv": "Odalys Fennimore\n",
            "examples.jsonl": "# ours\n"
            + _example("Acc no: 2024-118734", ("2024-118734", "ACCOUNT_NUMBER"))
            + _example("Odalys Fennimore, then Odalys Fennimore", ("Odalys Fennimore", "PERSON"))
            + _example("No acute distress."),
        }
    )
    assert check_pack(folder) == []


def test_what_is_missed_mistyped_or_extra_is_told_by_line_and_offsets(make: Make) -> None:
    folder = make(
        {
            "patterns.toml": RULE,
            "examples.jsonl": _example("Swelling of the knee today", ("the knee", "PATIENT"))
            + _example("Acc no: 2024-118734", ("2024-118734", "HOSPITAL"))
            + _example("Acc no: 2024-118734", ("2024", "ACCOUNT_NUMBER"))
            + _example("Acc no: 2024-118734 b", ("2024-118734 b", "ACCOUNT_NUMBER")),
        }
    )
    assert [(f.line, f.words) for f in failures(load_pack(folder))] == [
        (1, "the knee"),
        (2, "2024-118734"),
        (3, "-118734"),
        (4, " b"),
    ]
    told = check_pack(folder)
    assert told[0] == "examples.jsonl line 1: characters 12 to 20: PATIENT was missed"
    assert told[1].startswith("examples.jsonl line 2: characters 8 to 19: HOSPITAL was found as ACCOUNT_NUMBER")
    assert "extra (ACCOUNT_NUMBER by rules:" in told[2]
    assert told[3].endswith("part of the ACCOUNT_NUMBER was missed")


def test_the_skeleton_is_a_sound_pack_and_so_is_what_it_explains(tmp_path: Path) -> None:
    folder = tmp_path / "St. Mary's"
    new_pack(folder)
    pack = load_pack(folder)
    assert (pack.name, pack.rules, pack.known, pack.examples) == ("St-Mary-s", 0, (), ())
    for name in FILES[1:]:
        text = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_text(re.sub(r"(?m)^#(?=\S)", "", text), encoding="utf-8")
    pack = load_pack(folder)
    assert (pack.rules, len(pack.known), len(pack.allowed), len(pack.examples)) == (2, 4, 1, 3)
    assert check_pack(pack) == []


def test_a_skeleton_never_touches_a_file_that_exists(tmp_path: Path) -> None:
    (tmp_path / "deny.csv").write_text("mine")
    with pytest.raises(UsageError, match=r"deny\.csv"):
        new_pack(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["deny.csv"]
    assert (tmp_path / "deny.csv").read_text() == "mine"


@pytest.mark.parametrize(
    "pattern",
    [
        r"\d{4}-\d{5,7}(?!\d)",
        r"[*+]{1,3}\+\*",
        r"(?:\d[ -]?){6,15}",
        r"(?:a{1,9}+){1,15}",
        r"[]*]x{2}",
        r"(?>a{1,3})?b{",
        "a|b|",
    ],
)
def test_a_bounded_pattern_is_taken(pattern: str) -> None:
    re.compile(pattern)
    check_ways(pattern)


@pytest.mark.parametrize(
    "pattern",
    ["a*", "(?:x|a+)", "a{2,}", "a{,}", "(a{1,9}){1,9}", "(?:a|a){1,30}", "((a?){9}){9}", "(?=b+)", "(a{1,9}){9}+"],
)
def test_an_unbounded_or_explosive_pattern_is_refused(pattern: str) -> None:
    re.compile(pattern)
    with pytest.raises(UsageError):
        check_ways(pattern)


@given(st.text(alphabet="ab\\d[]^(){}?:=!<>|*+,19-", max_size=14))
def test_every_pattern_that_compiles_is_judged(pattern: str) -> None:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, FutureWarning):
        return
    try:
        check_ways(pattern)
    except UsageError:
        assert re.search(r"[*+?{|]", pattern)
    else:
        assert not re.fullmatch(r"[ab]{1,5}[*+][ab]{0,5}", pattern)


def test_the_commands_write_and_try_a_pack_without_a_word_of_it(tmp_path: Path) -> None:
    folder, runner = tmp_path / "larkmoor", CliRunner()
    assert runner.invoke(app, ["pack", "new", str(folder)]).exit_code == 0
    assert runner.invoke(app, ["pack", "test", str(folder)]).exit_code == 0
    (folder / "examples.jsonl").write_text(_example("of the knee", ("the knee", "PATIENT")))
    for form in ([], ["--json"]):
        failed = runner.invoke(app, ["pack", "test", str(folder), *form])
        assert failed.exit_code == 1
        assert "line 1: characters 3 to 11: PATIENT was missed" in failed.stdout
        assert "knee" not in failed.output
    (folder / "staff.csv").write_text("name\nqqqq;nurse\n")
    refused = runner.invoke(app, ["pack", "test", str(folder)])
    assert refused.exit_code != 0
    assert "staff.csv line 2" in refused.output
    assert "qqqq" not in refused.output

"""`incognote relex` and `incognote reveal`: the same surrogates in all notes, which holders of the key can reveal."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from incognote import Deidentifier, Item
from incognote.keys import Keyring
from incognote.service.audit import entries
from incognote.service.reveals import open_reveals
from incognote.settings import Settings, home

Run = Callable[..., Any]
TEXTS = {
    "n1": ("Zebulon Quartermain, seen by Dr. Temitope Oyelaran on 03/14/2024.", "PATIENT CLINICIAN DATE"),
    "n2": ("Mr. Quartermain called Oyelaran on 03/18/2024.", "PATIENT CLINICIAN DATE"),
}
WORDS = {
    "n1": ("Zebulon Quartermain", "Temitope Oyelaran", "03/14/2024"),
    "n2": ("Quartermain", "Oyelaran", "03/18/2024"),
}
ORIGINALS = ("Zebulon", "Quartermain", "Temitope", "Oyelaran", "quartermain", "oyelaran")


def gold(name: str) -> list[dict[str, Any]]:
    text, types = TEXTS[name]
    found = zip(WORDS[name], types.split(), strict=True)
    return [{"start": text.index(w), "end": text.index(w) + len(w), "type": t} for w, t in found]


def lines(*names: str, spans: bool = True) -> str:
    told = [
        {"id": n, "patient": "subject-7731", "text": TEXTS[n][0]} | ({"spans": gold(n)} if spans else {}) for n in names
    ]
    return "".join(json.dumps(one) + "\n" for one in told)


@pytest.fixture
def served(tmp_path: Path, run: Run, index: Path) -> Callable[..., Any]:
    """Run lines through `relex`. Return the result of the command and its output lines."""

    def call(content: str, *more: str) -> tuple[Any, list[dict[str, Any]]]:
        (tmp_path / "in.jsonl").write_text(content, encoding="utf-8")
        done = run("relex", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl", "--overwrite", *more)
        out = tmp_path / "out.jsonl"
        return done, [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []

    return call


def test_spans_that_are_given_are_used_as_they_are(served: Callable[..., Any], index: Path) -> None:
    done, (first, second) = served(lines("n1", "n2"))
    assert done.code == 0
    assert (first["id"], second["id"]) == ("n1", "n2")
    for out, name in ((first, "n1"), (second, "n2")):
        for span, wanted in zip(out["spans"], gold(name), strict=True):
            assert {key: span[key] for key in wanted} == wanted
            assert out["text"][span["out_start"] : span["out_end"]] == span["surrogate"]
    patient, doctor, day = first["spans"]
    called, lone, later = second["spans"]
    assert (patient["identity"], doctor["identity"]) == (called["identity"], lone["identity"])
    assert patient["surrogate"].endswith(" " + called["surrogate"])
    assert doctor["surrogate"].endswith(" " + lone["surrogate"])
    assert day["identity"] != later["identity"]
    assert not any(name in first["text"] + second["text"] for name in ORIGINALS)
    again, anew = served(lines("n2", "n1"), "--json")
    assert anew == [second, first]
    assert (again.data["loop"]["new"], again.data["outdated"]) == (0, 0)
    stolen = b"".join(path.read_bytes() for path in index.parent.glob("index.db*"))
    assert not any(name.encode() in stolen for name in (*ORIGINALS, patient["surrogate"], "03/14/2024", "subject-7731"))


def test_batches_of_the_sdk_are_those_of_relex(served: Callable[..., Any], index: Path, tmp_path: Path) -> None:
    """The surname alone comes first. It gets the surname of the full name only if the whole batch is read first."""
    items = [Item(TEXTS[name][0], id=name, patient="subject-7731") for name in ("n2", "n1")]
    with Deidentifier("surrogate", index=f"sqlite:///{index}", key_file=tmp_path / "a.key") as deid:
        texts = [result.text for result in deid.batch(items)]
        assert deid.engine.relexing.counts["rounds"] == 1

        async def asked() -> list[str]:
            return [result.text async for result in deid.abatch(items)]

        assert asyncio.run(asked()) == texts
    _, out = served(lines("n2", "n1", spans=False))
    assert [line["text"] for line in out] == texts
    assert not any(name in " ".join(texts) for name in ORIGINALS)


def test_processes_of_the_sdk_are_started_and_keep_the_surrogates(
    served: Callable[..., Any], index: Path, tmp_path: Path
) -> None:
    _, out = served(lines("n1", "n2", spans=False))
    words: dict[str, Any] = {"index": f"sqlite:///{index}", "key_file": tmp_path / "a.key"}
    items = [Item(TEXTS[name][0], id=name, patient="subject-7731") for name in ("n1", "n2")]
    with Deidentifier("surrogate", processes=2, **words) as deid:
        assert [result.text for result in deid.batch(items)] == [line["text"] for line in out]
        assert deid._processes is not None
        assert len(deid._processes._all) == 2


def test_deid_and_the_sdk_give_what_relex_gives(
    served: Callable[..., Any], index: Path, run: Run, tmp_path: Path
) -> None:
    _, (out,) = served(lines("n1", spans=False))
    with Deidentifier("surrogate", index=f"sqlite:///{index}", key_file=tmp_path / "a.key") as deid:
        assert deid.deidentify(TEXTS["n1"][0], id="n1", patient="subject-7731").text == out["text"]
    (tmp_path / "n1.txt").write_text(TEXTS["n1"][0])
    done = run("deid", tmp_path / "n1.txt", "--policy", "surrogate", "--patient", "subject-7731")
    assert (done.code, done.out) == (0, out["text"])


def test_a_masked_field_and_the_note_agree(served: Callable[..., Any]) -> None:
    record = {
        "dataType": "clinicalRecord",
        "PatientId": "1",
        "MRN": "A98",
        "AGE": "45 years",
        "note": "Jane Doe is a 45-year-old nurse.",
    }
    done, (out,) = served(json.dumps(record) + "\n")
    assert done.code == 0
    assert out["AGE"].split()[0] in out["note"]
    assert out["AGE"] != "45 years"
    assert "Doe" not in out["note"]


def test_bad_lines_are_quarantined_and_the_others_served(served: Callable[..., Any]) -> None:
    wrong = json.loads(lines("n2"))
    overlapping = [*wrong["spans"], {**wrong["spans"][0], "end": 30}]
    bad = [
        "{",
        json.dumps({**wrong, "id": "b1", "spans": overlapping}),
        json.dumps({**wrong, "id": "b2", "spans": [{"start": 0, "end": 999, "type": "PATIENT"}]}),
        json.dumps({**wrong, "id": "b3", "spans": [{"start": 0, "end": 3, "type": "WIZARD"}]}),
        json.dumps({**wrong, "id": "b4", "spans": [{"start": 0}]}),
        json.dumps({**wrong, "id": "n1"}),
    ]
    done, out = served(lines("n1") + "".join(line + "\n" for line in bad), "--json")
    assert done.code == 3
    assert [one["id"] for one in out] == ["n1"]
    assert (done.data["records"], done.data["quarantined"]) == (7, 6)
    assert len([path for path in Path(done.data["quarantine"]).rglob("*") if path.is_file()]) >= 6


def test_an_index_address_that_cannot_work_fails_before_the_first_record(run: Run, index: Path, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"id": "1", "text": "Seen."}\n')
    done = run("relex", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl", "--index", "foo://x")
    assert (done.code, "use sqlite:///FILE or opensearch://" in done.err) == (2, True)
    assert not (tmp_path / "out.jsonl").exists()


def test_without_the_index_nothing_is_written(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in.jsonl").write_text(lines("n1"))
    ask = ("relex", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl")
    done = run(*ask)
    assert (done.code, "INCOGNOTE_INDEX" in done.err) == (2, True)
    done = run(*ask, "--index", f"sqlite:///{tmp_path / 'i.db'}")
    assert (done.code, "persistent key" in done.err) == (1, True)
    Keyring.write_new(tmp_path / "a.key")
    monkeypatch.setenv("INCOGNOTE_KEY_FILE", str(tmp_path / "a.key"))
    done = run(*ask, "--index", f"sqlite:///{tmp_path / 'i.db'}")
    assert (done.code, "index create" in done.err) == (1, True)
    done = run(*ask, "--index", "opensearch://localhost:9/x?tls=off&attempts=1&timeout=1")
    assert (done.code, "does not answer" in done.err) == (1, True)
    done = run(*ask, "--policy", "strict", "--index", f"sqlite:///{tmp_path / 'i.db'}")
    assert (done.code, "no surrogates" in done.err) == (2, True)
    assert not (tmp_path / "out.jsonl").exists()


def test_processes_are_refused_and_not_offered(served: Callable[..., Any], run: Run, tmp_path: Path) -> None:
    done, out = served(lines("n1"), "--jobs", "2")
    assert (done.code, out) == (2, [])
    assert "one process" in done.err
    assert "--jobs" not in run("relex", "--help").out


def test_reveal_shows_the_original_and_records_who_asked(
    served: Callable[..., Any], run: Run, tmp_path: Path
) -> None:
    _, (out,) = served(lines("n1"))
    patient, doctor, _ = out["spans"]
    (tmp_path / "scope").write_text("subject-7731\n")
    log = tmp_path / "asked.jsonl"
    why = ("--why", "recall of a device", "--audit", log)
    assert run("reveal", doctor["surrogate"], *why).out == "Temitope Oyelaran\n"
    assert (
        run("reveal", patient["surrogate"], *why, "--patient-file", tmp_path / "scope").out == "Zebulon Quartermain\n"
    )
    assert run("reveal", "--identity", patient["identity"], *why, "--json").data["original"] == "Zebulon Quartermain"
    nobody = run("reveal", patient["surrogate"], *why)
    assert (nobody.code, "No identity has this surrogate" in nobody.err) == (2, True)
    told = [json.loads(line) for line in log.read_text().splitlines()]
    assert [one["shown"] for one in told] == [True, True, True, False]
    assert all(one["why"] == "recall of a device" and one["account"] and one["time"] for one in told)
    assert not any(name in log.read_text() for name in ORIGINALS)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    unwritable = run("reveal", doctor["surrogate"], "--why", "x", "--audit", tmp_path)
    assert (unwritable.code, unwritable.out) == (2, "")


def test_reveal_accepts_a_name_as_an_output_writes_it_and_counts_those_that_fit_if_there_are_several(
    served: Callable[..., Any], run: Run, tmp_path: Path
) -> None:
    _, (out,) = served(lines("n1"))
    given, surname = out["spans"][1]["surrogate"].rsplit(" ", 1)
    why = ("--why", "recall of a device", "--audit", tmp_path / "asked.jsonl")
    ways = (f"Dr. {surname}", f"{given[0]}. {surname}", f"{surname.upper()}, {given}", f"{surname}'s", surname, given)
    for written in ways:
        assert run("reveal", written, *why).out == "Temitope Oyelaran\n", written
    for wrong in (f"Zz {surname}", given[0], f"{given[0]}{surname[0]}"):
        assert run("reveal", wrong, *why).code == 2
    text = "Seen by Dr. Ada Oyelaran."
    more = json.dumps({"id": "n9", "text": text, "spans": [{"start": 12, "end": 24, "type": "CLINICIAN"}]})
    served(more + "\n")
    several = run("reveal", f"Dr. {surname}", *why)
    assert (several.code, "2 surrogates can be written like this" in several.err) == (2, True)
    assert "several match" in (tmp_path / "asked.jsonl").read_text()


def test_where_two_must_agree_the_first_call_is_a_request_and_another_persons_approval_shows_the_original_once(
    served: Callable[..., Any], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, (out,) = served(lines("n1"))
    (tmp_path / "scope").write_text("subject-7731\n")
    log = tmp_path / "asked.jsonl"
    ask = ("reveal", out["spans"][0]["surrogate"], "--why", "recall of a device", "--patient-file", tmp_path / "scope")
    ask = (*ask, "--audit", log)
    monkeypatch.setenv("INCOGNOTE_REVEAL_APPROVALS", "2")
    asked = run(*ask)
    assert (asked.code, asked.out, "Two people must agree" in asked.err) == (3, "", True)
    (request,) = run("reveals", "list", "--json").data["requests"]
    assert (request["about"]["why"], request["approved_by"]) == ("recall of a device", None)
    assert "subject-7731" not in json.dumps(request)
    own = run("reveals", "approve", request["id"])
    assert (own.code, "You cannot approve your own request" in own.err) == (2, True)
    assert (run(*ask, "--approval", request["id"]).out, log.exists()) == ("", False)
    settings = Settings.load()
    with closing(open_reveals(settings, settings.keyring(persistent=True))) as reveals:
        reveals.approve(request["id"], "somebody else")
    assert run(*ask[:-2], "--audit", log, "--domain", "other", "--approval", request["id"]).out == ""
    assert run(*ask, "--approval", request["id"]).out == "Zebulon Quartermain\n"
    assert (run(*ask, "--approval", request["id"]).code, log.read_text().count('"shown": true')) == (2, 1)
    told = [one.event for one in entries(home() / "audit") if one.facts.get("item") == request["id"]]
    assert told == ["reveal.requested", "original.revealed"]


HARBOR = """
name = "ours"
extends = "safe-harbor"
[types.PERSON]
operator = "surrogate"
[relex]
reveal = false
"""


def test_a_policy_can_forbid_reveals_permanently(served: Callable[..., Any], run: Run, tmp_path: Path) -> None:
    (tmp_path / "ours.toml").write_text(HARBOR)
    _, (out,) = served(lines("n1"), "--policy", str(tmp_path / "ours.toml"))
    doctor = out["spans"][1]
    assert out["text"].endswith("on 2024.")
    assert doctor["surrogate"] != "Temitope Oyelaran"
    why = ("--why", "curious", "--audit", tmp_path / "asked.jsonl")
    for more in ((), ("--policy", tmp_path / "ours.toml")):
        done = run("reveal", doctor["surrogate"], *why, *more)
        assert (done.code, done.out, "reveal = false" in done.err) == (1, "", True)
    told = [json.loads(line) for line in (tmp_path / "asked.jsonl").read_text().splitlines()]
    assert [one["shown"] for one in told] == [False, False]


def test_deid_reads_the_lines_that_relex_reads_and_takes_the_index_as_an_option(
    served: Callable[..., Any], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, (out,) = served(lines("n1"))
    (tmp_path / "more.jsonl").write_text(lines("n1") + "{}\n", encoding="utf-8")
    monkeypatch.delenv("INCOGNOTE_INDEX")
    ask = ("deid", tmp_path / "more.jsonl", "--policy", "surrogate", "--detectors", "rules", "--out", tmp_path / "o")
    done = run(*ask, "--index", f"sqlite:///{tmp_path / 'index.db'}")
    assert done.code == 3, "the line {} is held"
    (file,) = (tmp_path / "o").glob("*.jsonl")
    (told,) = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    assert told.keys() == {"id", "text"}
    assert told["id"] != "n1"
    assert out["spans"][1]["surrogate"] in told["text"], "the same doctor as in relex"
    assert not any(name in told["text"] for name in ORIGINALS)


def test_the_python_of_the_page_runs_as_typed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "relex.md").read_text(encoding="utf-8")
    code = page.split("```text\nfrom incognote import Deidentifier")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    for name in ("INCOGNOTE_INDEX", "INCOGNOTE_KEY_FILE"):
        monkeypatch.delenv(name, raising=False)
    assert run("key", "new", "surrogates.key").code == 0
    assert run("index", "create", "--index", "sqlite:///surrogates.db", "--key-file", "surrogates.key").code == 0
    capsys.readouterr()
    exec(compile("from incognote import Deidentifier" + code, "relex.md", "exec"), {})
    printed = capsys.readouterr().out
    assert printed.startswith("Dr. ")
    assert not {"Wilson", "Marin"} & set(printed.replace(".", " ").split())

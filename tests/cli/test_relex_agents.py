"""`incognote relex --model` against a real HTTP server that plays the agents, with good and bad replies."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from incognote import Deidentifier
from incognote.errors import EgressRefused, SettingError
from incognote.llm.base import Reply, Request
from incognote.llm.recording import Recording, Replayed
from incognote.relex.agents.llm import LlmClusterer, ModelAsker
from incognote.testing import LocalServer, Misbehaviour, ScriptedLLM, text_of
from incognote_benchmarks.relex_replies import MODEL, read_corpus

Run = Callable[..., Any]
DATA = Path(__file__).parents[1] / "data"


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


RECORDED = {row["address"]: row["value"]["text"] for row in rows_of(DATA / "replies" / "relex-v2.jsonl")}
FAMILIES = {
    "1": "[PATIENT|Rosa Marin] saw Dr. [CLINICIAN|Adam Wilson]. Ms. [PATIENT|Marin] left on [DATE|03/11/2025].",
    "2": "[PATIENT|Chidi Okafor] came with [RELATIVE|Ngozi Okafor]; Dr. [CLINICIAN|Wilson] was away.",
}
_GIVEN, _FIRST = ("Ann", "Brun", "Clar", "Dari"), ("Balo", "Ferra", "Lindq", "Callo", "Dovi", "Esco", "Galli", "Hosk")
_LAST = ("gun", "nte", "vist", "way", "ner")
_MARK = re.compile(r"\[(\w+)\|([^\]]+)\]")
_LISTED = re.compile(r"^(\d+) (?:\(known\) )?([A-Z_/]+): (.+)$", re.MULTILINE)
_NAMED = re.compile(r"^([A-Z]+_\d+): [A-Z_/]+: (.+)$", re.MULTILINE)
_QUESTION = re.compile(r"^(Q\d+): .+(?:\n  [a-z]+: .+)*((?:\n  \d+ .+)+)", re.MULTILINE)
_HEADS = {"PATIENT": "PERSON", "RELATIVE": "PERSON", "CLINICIAN": "PERSON", "PERSON": "PERSON", "DATE": "DATE"}


def agent_of(request: Request) -> str:
    """Return the agent that sent a request, according to its contract."""
    system = request.messages[0].content
    signs = {"cluster": 'PERSON_1": [', "decision": '"Q1": [', "replacement": '"replacement"'}
    return next((agent for agent, sign in signs.items() if sign in system), "query")


def answer(request: Request) -> str:
    """Return the recorded reply, if any. Otherwise, group persons by last word and assign new names in order."""
    known: str | None = RECORDED.get(request.address(MODEL))
    if known is not None:
        return known
    told, agent = text_of(request), agent_of(request)
    if agent == "cluster":
        groups: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number, kind, words in _LISTED.findall(told.split("\n\nNote 1")[0]):
            head = _HEADS[kind.split("/")[0]]
            groups[head, words.split()[-1] if "RELATIVE" not in kind else words].append(int(number))
        said: dict[str, dict[str, list[int]]] = defaultdict(dict)
        for (head, _), numbers in groups.items():
            said[head][f"{head}_{len(said[head]) + 1}"] = numbers
        return json.dumps(said)
    if agent == "decision":
        counts = {name: len(hits.strip().split("\n")) for name, hits in _QUESTION.findall(told)}
        return json.dumps({name: ["N"] * count for name, count in counts.items()})
    named = _NAMED.findall(told)
    if agent == "query":
        return json.dumps({"PERSON": dict(named)})
    made = {}
    families: list[str] = []
    for at, (name, words) in enumerate(named):
        heading, form = name.split("_")[0], words.split(";")[0].removesuffix(" Jr.").casefold()
        family = form.split(",")[0].split()[-1]
        families += [family] if family not in families else []
        surname = f"{_FIRST[families.index(family) // 5]}{_LAST[families.index(family) % 5]}"
        if (held := re.search(rf"^{name}: .*(?:\n  .*)*?\n  surname only: (\S+)", told, re.MULTILINE)) is not None:
            surname = held[1]
        new = {"PERSON": f"{_GIVEN[at % 4]}{'abcdefghij'[at // 4]} {surname}", "ORG": f"{surname} Clinic"}
        made[name] = {"replacement": new.get(heading, f"{surname} maker"), "type": heading}
    return json.dumps(made)


def lines(marked: dict[str, str]) -> str:
    """Notes of one patient each, with their marked spans."""
    made = ""
    for patient, told in marked.items():
        plain, at, spans = "", 0, []
        for match in _MARK.finditer(told):
            plain += told[at : match.start()]
            spans.append({"start": len(plain), "end": len(plain) + len(match[2]), "type": match[1]})
            plain, at = plain + match[2], match.end()
        made += json.dumps({"id": f"n{patient}", "patient": patient, "text": plain + told[at:], "spans": spans}) + "\n"
    return made


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send no request more than twice, without long pauses."""
    monkeypatch.setenv("OPENAI_API_KEY", LocalServer.api_key)
    monkeypatch.setenv("INCOGNOTE_MODEL_ATTEMPTS", "1")


@pytest.fixture
def served(tmp_path: Path, run: Run, index: Path) -> Iterator[Callable[..., Any]]:
    """Run lines through `relex` with a model. Return the command's result, its output lines, and the server."""
    servers: list[LocalServer] = []

    def call(content: str, *more: str, say: Any = answer, bad: Misbehaviour | None = None) -> Any:
        servers.append(LocalServer(say, misbehaviour=bad).start())
        (tmp_path / "in.jsonl").write_text(content, encoding="utf-8")
        asked = ("--model", "openai/large", "--api-base", servers[-1].url, "--detectors", "rules", "--json")
        done = run("relex", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl", "--overwrite", *asked, *more)
        out = (tmp_path / "out.jsonl").read_text().splitlines() if (tmp_path / "out.jsonl").exists() else []
        return done, [json.loads(line) for line in out], servers[-1]

    yield call
    for server in servers:
        server.close()


def partition(pairs: Iterable[tuple[Any, Any]]) -> set[frozenset[Any]]:
    """Return the sets of mentions that have the same identity."""
    together = defaultdict(set)
    for mention, identity in pairs:
        together[identity].add(mention)
    return {frozenset(one) for one in together.values()}


def test_all_four_are_the_models_and_the_partition_is_the_one_of_its_recorded_reply(served: Callable[..., Any]) -> None:
    rows = rows_of(DATA / "longitudinal" / "notes.jsonl")
    done, out, server = served("".join(json.dumps(row) + "\n" for row in rows if row["patient"] == "p01"))
    assert done.code == 0
    asked = [agent_of(request) for request in server.requests]
    assert asked == ["cluster", "query", "replacement"]
    assert server.requests[0].address(MODEL) in RECORDED
    told = done.data["models"]["agents"]
    assert {name: did["calls"] for name, did in told.items()} == {name: asked.count(name) for name in told}
    assert told.keys() == {"cluster", "query", "decision", "replacement"}
    assert all(did["tokens_in"] > 0 for did in told.values() if did["calls"])
    assert done.data["models"]["calls"] == len(asked)
    model = Replayed(MODEL, Recording(DATA / "replies" / "relex-v2.jsonl", plain=True, create=False))
    wanted = asyncio.run(LlmClusterer(ModelAsker(model)).cluster(read_corpus("notes").of(["p01"])))
    places = partition(((v.record, v.start), one.id) for one in wanted for v in one.variants)
    assert partition(((row["id"], s["start"]), s["identity"]) for row in out for s in row["spans"]) == places
    texts = " ".join(row["text"] for row in out)
    for name, one in json.loads(answer(server.requests[-1])).items():
        assert name.startswith("ORG") or one["replacement"].split()[-1] in texts


def test_only_the_agents_that_are_named_are_the_models(served: Callable[..., Any]) -> None:
    done, _, server = served(lines(FAMILIES), "--agents", "cluster,decision")
    assert done.data["models"]["agents"].keys() == {"cluster", "decision"}
    assert {agent_of(request) for request in server.requests} == {"cluster"}
    done, _, server = served(lines(FAMILIES), "--agents", "none", "--detectors", "rules,llm")
    assert ("agents" in done.data["models"], server.calls) == (False, 0)  # nothing to detect: the spans are given
    wrong, _, _ = served(lines(FAMILIES), "--agents", "guess")
    assert (wrong.code, "cluster, query" in wrong.err) == (2, True)


def test_for_doubtful_identities_the_model_is_asked_only_about_notes_with_a_doubt(served: Callable[..., Any]) -> None:
    done, out, server = served(lines(FAMILIES), "--agents-for", "doubtful")
    assert (done.code, len(out), server.calls) == (0, 2, 0)
    two = "Dr. [CLINICIAN|Adam Wilson] and nurse [CLINICIAN|Beth Wilson] came. [CLINICIAN|Wilson] signed."
    done, out, server = served(lines({"1": two}), "--agents-for", "doubtful")
    assert [agent_of(request) for request in server.requests][:1] == ["cluster"]
    assert done.data["models"]["agents"].keys() == {"cluster", "decision"}


def test_a_request_shows_one_patients_notes(served: Callable[..., Any]) -> None:
    done, out, server = served(lines(FAMILIES))
    assert (done.code, len(out)) == (0, 2)
    for request in server.requests:
        text = text_of(request)
        assert not ("Marin" in text and "Okafor" in text)
    assert not re.search("Marin|Okafor|Wilson|Rosa|Chidi|Ngozi", " ".join(row["text"] for row in out))


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("server_error", "model-unavailable"),
        ("refusal", "model-declined"),
        ("truncated_json", "model-reply-cut"),
        ("length_stop", "model-reply-cut"),
        ("not_json", "model-reply-unusable"),
    ],
)
def test_without_an_answer_the_record_is_held_unless_the_policy_lets_the_embedded_agent_stand_in(
    served: Callable[..., Any], tmp_path: Path, name: str, code: str
) -> None:
    bad = Misbehaviour(name, share=1.0)
    done, out, _ = served(lines(FAMILIES), bad=bad)
    assert (done.code, out, done.data["quarantined"]) == (3, [], 2)
    assert done.data["reasons"]["quarantine"].keys() == {code}
    (tmp_path / "own.toml").write_text('name = "own"\nextends = "surrogate"\n[models]\non_failure = "embedded"\n')
    done, out, _ = served(lines(FAMILIES), "--policy", str(tmp_path / "own.toml"), bad=bad)
    if code == "model-unavailable":  # a retry may reach it, so no embedded agent replaces it
        assert (done.code, out) == (3, [])
        return
    assert (done.code, len(out)) == (0, 2)
    told = done.data["models"]["agents"]
    assert told["cluster"]["stood_in"] == {code: 2}
    assert told["replacement"]["stood_in"].keys() == {code}


def test_a_bad_first_reply_is_repaired_or_asked_for_again(served: Callable[..., Any]) -> None:
    fenced, out, server = served(lines(FAMILIES), bad=Misbehaviour("code_fence", share=1.0))
    once = server.calls
    assert (fenced.code, len(out)) == (0, 2)
    again, out, server = served(lines(FAMILIES), "--agents", "cluster", bad=_OnlyFirst("truncated_json", share=1.0))
    assert (again.code, len(out)) == (0, 2)
    assert once >= 4
    assert Counter(request.misbehaviour for request in server.log) == {"truncated_json": 2, None: 2}


class _OnlyFirst(Misbehaviour):
    """Replies badly until a request reports an error."""

    def choose(self, request: Request, attempt: int) -> str | None:
        return super().choose(request, attempt) if len(request.messages) == 2 else None


def test_a_patient_about_whom_the_model_declines_holds_nobody_else_back(served: Callable[..., Any]) -> None:
    def wary(request: Request) -> str | Reply:
        return Reply("", "refusal") if "Okafor" in text_of(request) else answer(request)

    done, (out,), _ = served(lines(FAMILIES), say=wary)
    assert (done.code, out["id"]) == (3, "n1")
    assert done.data["reasons"]["quarantine"] == {"model-declined": 1}


def test_a_spent_budget_asks_nobody(served: Callable[..., Any]) -> None:
    done, out, server = served(lines({"1": FAMILIES["1"]}), "--budget-tokens", "1")
    assert (done.code, out, server.calls) == (3, [], 1)
    assert done.data["reasons"]["quarantine"].keys() == {"budget-exhausted"}


def test_nothing_goes_to_another_machine_without_an_agreement(run: Run, index: Path, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(lines(FAMILIES))
    ask = ("relex", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl", "--detectors", "rules")
    done = run(*ask, "--model", "openai/large", "--api-base", "https://model.example.org/v1")
    assert (done.code, "agree" in done.err, (tmp_path / "out.jsonl").exists()) == (1, True, False)


def test_deid_and_the_sdk_take_agents_from_the_settings(
    run: Run, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "n.txt").write_text("Seen by Dr. Temitope Oyelaran. Dr. Oyelaran called.")
    told = ('{"PERSON": {"PERSON_1": [1, 2]}}', '{"PERSON_1": {"replacement": "Ida Moss", "type": "PERSON"}}')
    model = ScriptedLLM(lambda request: told["replacement" in agent_of(request)])
    words: dict[str, Any] = {"index": f"sqlite:///{tmp_path / 'index.db'}", "detectors": ("rules",)}
    with Deidentifier("surrogate", model=model, agents=("cluster", "replacement"), **words) as deid:
        result = deid.deidentify((tmp_path / "n.txt").read_text(), id="n", patient="7")
        assert result.text == "Seen by Dr. Ida Moss. Dr. Moss called."
        assert "relex/cluster/v1" in result.manifest["versions"]["agent:cluster"]
        assert result.manifest["versions"]["agent:query"] == "embedded 1"
    monkeypatch.setenv("INCOGNOTE_AGENTS", '["all"]')
    kept = ("--recording", tmp_path / "rec.db")
    with LocalServer(answer) as server:
        asked = ("--policy", "surrogate", "--model", "openai/x", "--api-base", server.url, "--detectors", "rules")
        out = tmp_path / "out.txt"
        done = run("deid", tmp_path / "n.txt", "--out", out, "--patient", "7", *asked, *kept)
        assert done.code == 0, done.err
        assert server.calls > 0
    assert out.read_text() == "Seen by Dr. Ida Moss. Dr. Moss called."
    report = json.loads((tmp_path / "out.txt.manifest.json").read_text())["models"]
    assert report["agents"]["cluster"]["calls"] == server.calls
    (tmp_path / "index.db").unlink()
    again = ("replay", tmp_path / "out.txt.manifest.json", tmp_path / "n.txt", "--patient", "7", *kept)
    done = run(*again, "--out", tmp_path / "again.txt")
    assert done.code == 0, done.err
    assert (tmp_path / "again.txt").read_bytes() == out.read_bytes()


def test_agents_that_cannot_be_played_are_refused_before_the_first_record(index: Path, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('name = "own"\nextends = "surrogate"\n[models]\nroute = "embedded"\n')
    model = ScriptedLLM(lambda request: "{}")
    cases: tuple[tuple[dict[str, Any], str], ...] = (
        ({"policy": "surrogate"}, "a model is needed"),
        ({"policy": tmp_path / "own.toml", "model": model}, "does not let a model read notes"),
    )
    for words, said in cases:
        with pytest.raises(SettingError, match=said):
            Deidentifier(agents=("all",), detectors=("rules",), **words).ready()
    with pytest.raises(SettingError, match="agents"):
        Deidentifier("surrogate", agents=("guess",))
    with pytest.raises(EgressRefused):
        Deidentifier("surrogate", agents=("all",), model="openai/x", api_base="http://model.example.org/v1").ready()

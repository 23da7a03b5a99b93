"""Notes for a scripted model, a server that answers about them, and checks that every result must pass."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from incognote import Deidentifier, Result
from incognote.llm.base import Request
from incognote.prompts import marks
from incognote.testing import LocalServer
from incognote_benchmarks.script import Script

_FENCED = re.compile(r"^(=== [0-9a-f]{16} ===)\n(.*?)\n\1$", re.DOTALL | re.MULTILINE)

# Lowercase names and nicknames of places: the rules find none of them, so only a model's answer can remove them.
_PEOPLE = "velmira tashkin okoro dunsany brimley halvik sorrel quade lindqvist marrow fenwick tolle castell".split()
_PLACES = "foxglove millrace tannery copperline osier barrow thistledown winnow pellmoor hazelrig".split()
_SYMPTOMS = "chest tightness|night sweats|knee pain|a dry cough|blurred vision|low appetite|ankle swelling".split("|")
_SENTENCES = (
    "the patient was brought in by {a} {b} and reports {s}. ",
    "lives near {p} and says {s} got worse, confirmed by {b}. ",
    "{a} will call about the {s}; no change to treatment. ",
    "plan: rest, fluids, follow up when {s} returns, then tell {a} {b}. ",
    "metoprolol 25 mg daily was kept because of {s}. ",
)


@dataclass(frozen=True)
class Known:
    """A note, the findings a model would return for it, and the words that must not be released."""

    text: str
    findings: tuple[tuple[str, str, int, int], ...]
    planted: frozenset[str]
    mark: str
    """A clinical word that stands in no other note and must stay."""


def bundle(known: Sequence[Known]) -> dict[str, Any]:
    """Observations of one patient, each with a short note."""
    code = {"coding": [{"system": "http://loinc.org", "code": "18842-5"}]}
    seen = [
        {"resourceType": "Observation", "id": f"o{i}", "status": "final", "code": code, "note": [{"text": one.text}]}
        for i, one in enumerate(known)
    ]
    return {"resourceType": "Bundle", "type": "collection", "entry": [{"resource": one} for one in seen]}


def _note(number: int, sentences: int, random: Random) -> Known:
    a, b = random.sample(_PEOPLE, 2)
    place = random.choice(_PLACES)
    mark = "re" + "".join(random.choice("lnrt") + random.choice("aeio") for _ in range(5)) + "itis"
    text, findings = f"{mark} review. ", []
    for turn in range(sentences):
        filled = _SENTENCES[(number + turn) % len(_SENTENCES)].format(a=a, b=b, p=place, s=random.choice(_SYMPTOMS))
        for word in {a, b, place}:
            kind = "LOCATION" if word == place else "PERSON"
            for found in re.finditer(rf"\b{word}\b", filled):
                low = filled.rfind(" ", 0, max(0, found.start() - 1)) + 1
                high = max(found.end(), filled.find(" ", found.end() + 1))
                phrase = filled[low:high] if turn % 2 else word
                findings.append((kind, phrase, len(text) + found.start(), len(text) + found.end()))
        text += filled
    planted = frozenset(w for w in (a, b, place) if re.search(rf"\b{w}\b", text))
    return Known(text.rstrip(" "), tuple(sorted(findings, key=lambda f: f[2])), planted, mark)


def spliced(result: Result, texts: Mapping[str, str]) -> dict[str, str]:
    """The original texts, by field, with a result's replacements inserted. The output must equal it byte for byte."""
    made = {}
    for name, text in texts.items():
        pieces, at = [], 0
        for r in sorted((r for r in result.replacements if r.span.field == name), key=lambda r: r.span.start):
            pieces += [text[at : r.span.start], r.text]
            at = r.span.end
        made[name] = "".join([*pieces, text[at:]])
    return made


@pytest.fixture
def sound() -> Callable[[Known, Result], None]:
    """Check every result: no partial release, no changes outside spans, and a reason for each verdict."""

    def check(known: Known, result: Result) -> None:
        assert bool(result.verdict.reasons) != result.verdict.released
        if result.verdict.outcome == "quarantine":
            return
        output = result.output(even_if_unreleased=True)
        assert output == spliced(result, {"": known.text})[""]
        assert known.mark in output
        places = [(start, end) for _, _, start, end in known.findings]
        for (start, end), (new_start, new_end) in zip(places, result.project(places), strict=True):
            whole = any(r.span.start <= start and end <= r.span.end for r in result.replacements)
            assert whole or output[new_start:new_end] == known.text[start:end]
        if result.verdict.released:
            assert not known.planted & set(re.findall(r"\w+", output))

    return check


@pytest.fixture
def notes() -> Callable[..., list[Known]]:
    """Make the given number of notes with the given number of sentences each."""

    def made(count: int, sentences: int = 5, seed: int = 1) -> list[Known]:
        random = Random(seed)
        return [_note(number, sentences, random) for number in range(count)]

    return made


@pytest.fixture
def served() -> Iterator[Callable[..., LocalServer]]:
    """Start a server that knows the notes, and close it at the end."""
    with ExitStack() as stack:

        def made(known: Sequence[Known], **more: Any) -> LocalServer:
            script = Script({one.text: one.findings for one in known})
            return stack.enter_context(LocalServer(composite(script), **more))

        yield made


def composite(script: Script) -> Callable[[Request], str]:
    """Extend the script to requests with several texts: the reply lists the answers by text number."""

    def answer(request: Request) -> str:
        asked = next(m.content for m in request.messages if m.role == "user")
        shown = [found.group(2) for found in _FENCED.finditer(asked)]
        if len(shown) < 2:
            return script(request)
        opening, closing = marks("\n".join(shown))
        object_, inner = dict[str, Any](), ((request.schema or {}).get("properties") or {}).get("1", {})
        for number, text in enumerate(shown, 1):
            said: dict[str, list[str]] = {name: [] for name in inner.get("required", ())}
            for m in script.visible(text):
                marked = m.phrase[: m.start] + opening + m.words + closing + m.phrase[m.end :]
                said.setdefault(m.type, []).append(m.phrase if inner.get("required") else marked)
            if said:
                object_[str(number)] = said
        return json.dumps(object_, ensure_ascii=False)

    return answer


@pytest.fixture
def asking() -> Iterator[Callable[..., Deidentifier]]:
    """Make a Deidentifier that uses a server through the openai SDK with a short timeout, and close it at the end."""
    with ExitStack() as stack:

        def made(server: LocalServer, policy: str | Path | None = None, **settings: Any) -> Deidentifier:
            words: dict[str, Any] = {
                "model": "openai/x", "api_base": server.url, "api_key": server.api_key, "model_timeout": 1.0,
                "model_attempts": 2, "detectors": ("rules", "llm"), **settings,
            }  # fmt: skip  # no encoder: it would find what the scripted model is supposed to find
            return stack.enter_context(Deidentifier(policy, **words))

        yield made


@pytest.fixture
def embedded(tmp_path: Path) -> Path:
    """A policy that falls back to the rules' findings where the model does not answer."""
    path = tmp_path / "embedded.toml"
    path.write_text('name = "e"\nextends = "strict"\n[models]\non_failure = "embedded"\n', encoding="utf-8")
    return path

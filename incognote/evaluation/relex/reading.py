"""Language models as readers of the new notes: an attacker who looks for originals, and a clinician.

`requests` renders them to plain texts, which hold output notes and nothing else. Give each to a language model, and
save its replies. `score_replies` reads GOLD and OUT again to know what was planted, so the answers are not stored
beside the requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Literal

import numpy as np

from incognote.errors import UsageError
from incognote.evaluation.intervals import Figure
from incognote.evaluation.relex.pairs import NotePair, share_of
from incognote.evaluation.relex.planting import By, overlooked, plant, spread, units, visible
from incognote.text.lexicon import fold

COUNT = 20
_VERSION = "v1"
_PLANTS = 2  # in each note
_MODES: tuple[By, By] = ("identity", "mention")


@dataclass(frozen=True, slots=True)
class ReaderRequest:
    """A request to a language model. Its repr shows no words.

    Attributes:
        name: of its file, without the suffix.
        by: how originals were planted, "" for a clinician.
        originals: the words of each planted original, and of each that detection overlooked.
        things: how many different things the reader can suspect.
    """

    name: str
    role: Literal["attacker", "clinician"]
    patient: str = field(repr=False)
    text: str = field(repr=False)
    by: str = ""
    originals: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    things: int = 0


def requests(notes: Sequence[NotePair], count: int = COUNT, seed: int = 0) -> Iterator[ReaderRequest]:
    """The requests to attackers, then to clinicians, over notes of as many patients as possible.

    Two originals are planted in each attacker's note, in turn as whole identities and as single mentions.
    """
    random = np.random.default_rng(seed)
    ordered = [one for one in spread(notes) if len(units(one, "identity")) > _PLANTS]
    for at, note in enumerate(ordered[:count]):
        by = _MODES[at % 2]
        can = units(note, by)
        back = [can[one] for one in sorted(random.choice(len(can), _PLANTS, replace=False).tolist())]
        flat = [one for unit in back for one in unit]
        planted = plant(note, flat)
        originals = [tuple(sorted({planted.mentions[one].words for one in unit})) for unit in back]
        originals += [tuple(sorted(set(words))) for words in overlooked(note).values()]
        text = _prompt("attacker").substitute(count=len(originals), note=planted.text)
        things = visible(planted, flat)
        name = f"attacker-{at + 1:02d}"
        yield ReaderRequest(name, "attacker", note.patient, text, by, tuple(originals), things)
    for at, note in enumerate(spread(notes)[:count]):
        text = _prompt("clinician").substitute(note=note.after)
        yield ReaderRequest(f"clinician-{at + 1:02d}", "clinician", note.patient, text)


def _prompt(role: str) -> Template:
    name = f"{role}-{_VERSION}.txt"
    return Template(files("incognote.evaluation.relex").joinpath("prompts", name).read_text(encoding="utf-8"))


def write_requests(notes: Sequence[NotePair], folder: Path, count: int = COUNT, seed: int = 0) -> int:
    """Write each request to NAME.txt in a folder, and return their number.

    Raises:
        UsageError: the folder has requests already.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = list(requests(notes, count, seed))
    if any((folder / f"{one.name}.txt").exists() for one in made):
        raise UsageError("The folder already contains requests. Choose another folder for --requests.")
    for one in made:
        (folder / f"{one.name}.txt").write_text(one.text, encoding="utf-8")
    return len(made)


def read_replies(
    notes: Sequence[NotePair], folder: Path, count: int = COUNT, seed: int = 0
) -> list[tuple[ReaderRequest, str]]:
    """Each request with its reply, from NAME.txt and NAME.reply.txt in the folder, if there is a reply.

    Raises:
        UsageError: a request in the folder was not written for these notes and this seed, or there is no reply.
    """
    found: list[tuple[ReaderRequest, str]] = []
    for one in requests(notes, count, seed):
        request, reply = folder / f"{one.name}.txt", folder / f"{one.name}.reply.txt"
        if request.exists() and request.read_text(encoding="utf-8") != one.text:
            raise UsageError(
                f"{request.name} was written for another output, seed, or version. Write the requests again."
            )
        if reply.exists():
            found.append((one, reply.read_text(encoding="utf-8")))
    if not found:
        raise UsageError("The folder has no replies. Save each reply as NAME.reply.txt beside its request NAME.txt.")
    return found


def score_replies(replies: Sequence[tuple[ReaderRequest, str]], resamples: int, seed: int) -> dict[str, Figure]:
    """The figures of both readers.

    `attacker, …`: of planted originals, the share that the attacker names, who names as many things as there are
    originals. `chance, …`: the share that random naming would find. `… overlooked` are originals that detection itself
    missed. `clinician score` is the mean from 1 to 5, with its number of outputs. `unreadable` is the share of replies
    that are not in the requested form.
    """
    rows: dict[str, list[tuple[str, float, float]]] = {}
    for request, reply in replies:
        data = _parsed(reply, "originals" if request.role == "attacker" else "score")
        rows.setdefault("unreadable", []).append((request.patient, data is None, 1))
        if data is None:
            continue
        if request.role == "attacker":
            named = _named(data.get("originals"))[: len(request.originals)]
            hits = [any(_same(words, name) for words in own for name in named) for own in request.originals]
            chance = min(1.0, len(hits) / max(1, request.things))
            for at, hit in enumerate(hits):  # those that detection overlooked come after the planted ones
                group = f"planted by {request.by}" if at < _PLANTS else "overlooked"
                for key in (group, "all"):
                    rows.setdefault(f"attacker, {key}", []).append((request.patient, hit, 1))
                    rows.setdefault(f"chance, {key}", []).append((request.patient, chance, 1))
            continue
        rows.setdefault("clinician score", []).append((request.patient, float(data["score"]), 1))
        for key, name in (("false_facts", "outputs with a false fact"), ("odd", "outputs with an oddity")):
            rows.setdefault(f"clinician: {name}", []).append((request.patient, bool(_named(data.get(key))), 1))
    return {name: share_of(counted, resamples, seed) for name, counted in sorted(rows.items())}


def write_complaints(replies: Sequence[tuple[ReaderRequest, str]], folder: Path) -> Path:
    """Write each clinician's score and everything that the readers named to complaints.txt, with words of the notes."""
    lines: list[str] = []
    for request, reply in replies:
        data = _parsed(reply, "originals" if request.role == "attacker" else "score") or {}
        lines += [f"{request.name}: score {data['score']}"] if "score" in data else []
        for kind in ("false_facts", "odd", "originals"):
            items = data.get(kind)
            for item in items if isinstance(items, list) else ():
                if isinstance(item, dict):
                    lines.append(f"{request.name}: {kind}: {item.get('words', '')}: {item.get('why', '')}")
    out = folder / "complaints.txt"
    out.touch(mode=0o600)
    out.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return out


def _parsed(reply: str, wanted: str) -> dict[str, Any] | None:
    """The JSON object of a reply that has the wanted key, or None."""
    match = re.search(r"\{.*\}", reply, re.DOTALL)
    try:
        data = json.loads(match.group()) if match else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or wanted not in data:
        return None
    score = data.get("score")
    return None if wanted == "score" and (not isinstance(score, int | float) or not 1 <= score <= 5) else data


def _named(items: object) -> list[str]:
    """The words of the named things, each thing once."""
    words = [item.get("words") for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return list(dict.fromkeys(_plain(word) for word in words if isinstance(word, str) and _plain(word)))


def _plain(words: str) -> str:
    return " ".join(re.findall(r"\w+", fold(words)))


def _same(words: str, named: str) -> bool:
    """Return True if the named words are the original, a part of it, or the original with words around it."""
    one, other = f" {_plain(words)} ", f" {named} "
    return one in other or (other in one and len(named) > 1)

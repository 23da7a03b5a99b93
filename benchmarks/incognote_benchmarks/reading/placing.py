"""Measure whether phrases without offsets are placed right, through real HTTP, for scripted and recorded replies.

    python -m incognote_benchmarks.reading.placing [--notes NOTES.jsonl] [--replies FOLDER] [--limit N] [--out JSON]

Scripted: a local server answers each chunk with phrases. Their hint words are drawn without regard to whether they are
unique (`drawing`), and are verbatim or noisy. The pipeline chunks, asks, places, masks, and asks again.
Recorded: a large language model's own phrases (`tests/data/replies`), over notes as they were written.
All notes are synthetic. Mentions of one note are not independent, so true intervals are somewhat wider than Wilson's.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

from rich.console import Console
from rich.table import Table

from incognote.align.mentions import Placement
from incognote.errors import UsageError
from incognote.evaluation.corpus import CorpusProblem, read_gold
from incognote.evaluation.intervals import share
from incognote.llm.base import Reply, Request
from incognote.llm.recording import Replayed
from incognote.nouns import Mention, Result
from incognote.schemas.policy import load_policy
from incognote.sdk import Deidentifier
from incognote.testing import LocalServer, text_of
from incognote_benchmarks.reading import drawing
from incognote_benchmarks.reading.drawing import Drawn, Gold, Note
from incognote_benchmarks.reading.listening import Heard, listening
from incognote_benchmarks.recorded import NOTES, REPLIES, System
from incognote_benchmarks.script import Script, as_asked

SEEDS = (1, 2)
LINES = ("seen", "unseen")
PROMPTS = {2: "extract/v2", 1: "extract/v1"}
"""Prompts by the contract of their replies."""
SHARES = {1: drawing.SHARE, 2: 0.32}
"""By passes, the share of identifiers that a drawn line repeats. Masks remove some of the words that occurred twice."""
BARS = {"right": 0.995, "right with noise": 0.98, "wrong": 0.005, "dropped": 0.0, "elsewhere": 0.30}
Counts = Counter[str]
_MASK = re.compile(r"\[[A-Z_]+\]")


@dataclass(frozen=True, slots=True)
class Said:
    """One reply: the number of visible identifiers, and the index and mention of each one that was named."""

    visible: int
    named: list[tuple[int, Mention]] = field(repr=False)


class Drawer:
    """Answers with the drawn mentions of whatever part of a note it is shown, and records its answers.

    With two passes, the first names a random half of the visible ones, so that the second quotes masks in its hints.

    Args:
        drawn: the mentions by the text of each note.
    """

    def __init__(self, drawn: dict[str, list[Drawn]], seed: str, *, noise: bool, halves: bool) -> None:
        self._seed, self._noise, self._halves = seed, noise, halves
        self._script = Script(
            {text: [(d.mention.type, d.mention.phrase, *d.gold[:2]) for d in each] for text, each in drawn.items()}
        )
        self._named: dict[str, set[int]] = {}
        self.said: defaultdict[str, list[Said]] = defaultdict(list)

    def __call__(self, request: Request) -> str:
        shown = text_of(request)
        visible = list(self._script.visible(shown))
        rng = random.Random(f"{self._seed} {shown}")  # noqa: S311 -- a sample, not a secret
        chosen = [i for i in range(len(visible)) if rng.random() < 0.5]
        if not self._halves or _MASK.search(shown):
            chosen = list(range(len(visible)))
        elif shown in self._named:  # nothing was drawn the first time, or nothing was placed
            chosen = [i for i in range(len(visible)) if i not in self._named[shown]]
        self._named[shown] = set(chosen)
        named = [(i, drawing.noisy(visible[i], rng) if self._noise else visible[i]) for i in chosen]
        if named:
            self.said[shown].append(Said(len(visible), named))
        return as_asked([mention for _, mention in named], request)


def notes(path: Path = NOTES, limit: int | None = None) -> list[Note]:
    """Read annotated notes, with their identifiers under the types that the policy `strict` lists.

    Args:
        limit: the number of notes, spread evenly over the file.

    Raises:
        UsageError: a note is not usable.
    """
    policy = load_policy("strict")
    made = []
    for document in read_gold(path):
        if isinstance(document, CorpusProblem):
            raise UsageError(f"{path.name}, {document.id}: {document.what}")
        gold = sorted((x.start, x.end, policy.serves(x.type) or x.type) for x in document.labels)
        made.append(Note(document.text, tuple(gold)))
    return made if limit is None else made[:: max(1, len(made) // limit)][:limit]


def scripted(among: Sequence[Note], contract: int, passes: int, *, noise: bool, seed: int, line: str) -> Counts:
    """One run over notes with drawn lines: the result for each mention.

    Raises:
        UsageError: the script and the pipeline disagree about what was shown.
    """
    rng = random.Random(f"{seed} {line}")  # noqa: S311 -- a sample, not a secret
    longer = (drawing.with_more_lines(each, rng, drawing.lines(line), SHARES[passes]) for each in among)
    texts = {note.text: note for note in longer}
    mentions = {text: drawing.drawn(note, rng) for text, note in texts.items()}
    drawer = Drawer(mentions, f"{seed} {line}", noise=noise, halves=passes > 1)
    with LocalServer(drawer) as server, listening() as heard:
        address: dict[str, Any] = {"model": "openai/drawn", "api_base": server.url, "api_key": server.api_key}
        with Deidentifier(detectors=("llm",), prompt=PROMPTS[contract], passes=passes, **address) as deid:
            results = dict(zip(texts, deid.batch(texts), strict=True))
        counts = Counter({"calls": server.calls, "texts": len(texts)})
    for each in heard:
        text = each.piece.text.content
        visible = [one for one in mentions[text] if each.shown(one.gold)]
        said = drawer.said[each.view.text].pop(0)
        if said.visible != len(visible):
            raise UsageError("the script and the pipeline disagree about which identifiers were shown")
        placements = _matched(said, each.placements)
        for (i, _), placement in zip(said.named, placements, strict=True):
            counts += _became(each, visible[i], placement, texts[text], results[text], contract)
    unheard = sum(len(said.named) for replies in drawer.said.values() for said in replies)
    counts += Counter({"n": unheard, "dropped": unheard})
    return counts


def _matched(said: Said, placements: Sequence[Placement]) -> list[Placement | None]:
    """The placement of each mention in a reply; None if the pipeline never placed it."""
    waiting: defaultdict[tuple[str, str], list[Placement]] = defaultdict(list)
    for placement in placements:
        waiting[placement.mention.type, placement.mention.phrase].append(placement)
    heard = (waiting[mention.type, mention.phrase] for _, mention in said.named)
    return [placed.pop(0) if placed else None for placed in heard]


def _became(
    heard: Heard, one: Drawn, placement: Placement | None, note: Note, result: Result, contract: int
) -> Counts:
    """Count the result of one mention."""
    at = heard.shown(one.gold)
    hard = at is not None and drawing.elsewhere(heard.view.text, *at)
    stretches = heard.stretches(placement) if placement else ()
    came: str = drawing.outcome(one.gold, note.gold, stretches)
    if came == "ragged" and contract == 1 and any(_within_its_phrase(one, note.text, s) for s in stretches):
        came = "wide"
    counts = Counter(["n", came])
    counts.update(["hard", f"hard {came}"] if hard else [])
    if placement is None or _silent(placement, stretches, result):
        counts["dropped"] += 1
    elif not placement.certain:
        counts["for a person"] += 1
    return counts


def _within_its_phrase(one: Drawn, text: str, stretch: tuple[int, int]) -> bool:
    """Return True if a stretch contains the identifier and at most the hint words of its phrase."""
    low = one.gold[0] - one.mention.start
    high = low + len(one.mention.phrase)
    while low > 0 and not text[low - 1].isspace():
        low -= 1
    while high < len(text) and not text[high].isspace():
        high += 1
    return low <= stretch[0] <= one.gold[0] and one.gold[1] <= stretch[1] <= high


def _silent(placement: Placement, stretches: Sequence[tuple[int, int]], result: Result) -> bool:
    """Return True if a mention is silently lost: placed but not replaced, or uncertain and not in the verdict."""
    if any(not _replaced(stretch, result) for stretch in stretches):
        return True
    code = "mention-ambiguous" if stretches else "mention-unplaced"
    reported = any(r.code == code and r.detail == placement.mention.type for r in result.verdict.reasons)
    return not reported if not placement.certain else not stretches


def _replaced(stretch: tuple[int, int], result: Result) -> bool:
    """Return True if the model's finding replaced the stretch. Findings of the audit do not count."""
    heard = (r.span for r in result.replacements if any(source.startswith("llm") for source in r.span.sources))
    return any(span.start <= stretch[0] and stretch[1] <= span.end for span in heard)


def recorded(among: Sequence[Note], contract: int, replies: Path = REPLIES) -> dict[str, Counts]:
    """The results for a real model's own mentions, in first and in second passes.

    A note counts for a pass if all its requests up to that pass are recorded, and for the second if it has identifiers.
    """
    golds = {note.text: note.gold for note in among}
    asked = list(golds)
    counts: dict[str, Counts] = {}
    used: dict[str, str] = {}
    for passes, name in enumerate(("first passes", "second passes"), 1):
        system = System("", PROMPTS[contract], passes, detectors=())
        with _replayed() as said, listening() as heard, system.open(replies) as deid:
            results = dict(zip(asked, deid.batch(asked), strict=True))
        used |= said
        read = {text for text, result in results.items() if result.verdict.outcome != "quarantine"}
        asked = [text for text in asked if text in read and golds[text]]  # for the second pass
        counts[name] = Counter({"texts": len(read)})
        for each in heard:
            text = each.piece.text.content
            if text in read and (passes == 1 or each.view.masks):
                for placement in each.placements:
                    counts[name] += _of_the_model(each, placement, golds[text], results[text])
    unread = _named(used.values()) - sum(c["n"] for c in counts.values())
    counts["first passes"]["dropped"] += max(0, unread)
    return counts


@contextmanager
def _replayed() -> Iterator[dict[str, str]]:
    """The recorded replies that are used while the block runs, by address."""
    said: dict[str, str] = {}
    complete = Replayed.complete

    async def kept(self: Replayed, request: Request) -> Reply:
        reply = await complete(self, request)
        said[request.address(self.name)] = reply.text
        return reply

    with patch.object(Replayed, "complete", kept):
        yield said


def _named(replies: Iterable[str]) -> int:
    """The number of identifiers that replies name: their marks, or their phrases if they have none."""
    phrases = [phrase for text in replies for each in json.loads(text).values() for phrase in each]
    return sum(max(1, phrase.count("<<")) for phrase in phrases)


def _of_the_model(heard: Heard, placement: Placement, gold: Sequence[Gold], result: Result) -> Counts:
    stretches = heard.stretches(placement)
    text, words = heard.piece.text.content, _folded(placement.mention.words)
    touching = [any(s < b and a < e for s, e, _ in gold) for a, b in stretches]
    counts = Counter(["n", placement.how, "certain" if placement.certain else "for a person"])
    if stretches and placement.certain and not all(touching):
        inside = any(f" {words} " in f" {_folded(text[s:e])} " for s, e, _ in gold)
        counts["wrong" if inside else "no identifier by the gold"] += 1
    if placement.how != "echo" and _silent(placement, stretches, result):  # an echo of a mask names nothing
        counts["dropped"] += 1
    return counts


def _folded(words: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", words.lower()))


def measure(path: Path = NOTES, replies: Path = REPLIES, limit: int | None = None) -> dict[str, Any]:
    """All runs in JSON form: shares with n and Wilson's 95% interval.

    Args:
        limit: the number of notes for the scripted runs, with one seed and one set of lines; None for everything.
    """
    among = notes(path, limit)
    rounds = list(product(SEEDS, LINES)) if limit is None else [(SEEDS[0], LINES[1])]
    runs = []
    for contract, passes, noise in product(PROMPTS, (1, 2), (False, True)):
        by_lines: defaultdict[str, Counts] = defaultdict(Counter)
        for seed, line in rounds:
            by_lines[line] += scripted(among, contract, passes, noise=noise, seed=seed, line=line)
        run = {"contract": contract, "passes": passes, "phrases": "noisy" if noise else "verbatim"}
        total = _shares(sum(by_lines.values(), Counter[str]()))
        parts = {line: _shares(counts) for line, counts in by_lines.items()}
        runs.append({**run, **total, "missed": _missed(total, noise=noise), "by_lines": parts})
    return {
        "corpus": f"{path.stem} (synthetic), lines drawn into them, mentions of each",
        "notes": len(among),
        "distinct_texts": len(_distinct(among, rounds)),
        "seeds": sorted({seed for seed, _ in rounds}),
        "bars": BARS,
        "scripted": runs,
        "recorded": [
            {"prompt": PROMPTS[contract], "requests": name, **_shares_of_the_model(counts)}
            for contract in PROMPTS
            for name, counts in recorded(notes(path), contract, replies).items()
        ],
    }


def _distinct(among: Sequence[Note], rounds: Sequence[tuple[int, str]]) -> set[str]:
    """The texts with a mention, over all rounds of one pass."""
    texts = set()
    for seed, line in rounds:
        rng = random.Random(f"{seed} {line}")  # noqa: S311 -- the same draws as in `scripted`
        texts |= {made.text for each in among if (made := drawing.with_more_lines(each, rng, drawing.lines(line))).gold}
    return texts


def _shares(counts: Counts) -> dict[str, Any]:
    n, hard = counts["n"], counts["hard"]
    return {
        "n": n,
        "right": share(counts["right"] + counts["wide"], n).as_dict(),
        "exact": share(counts["right"], n).as_dict(),
        "wrong": share(counts["wrong"], n).as_dict(),
        "elsewhere": share(hard, n).as_dict(),
        "right_of_elsewhere": share(counts["hard right"] + counts["hard wide"], hard).as_dict(),
        **{name: counts[name] for name in ("ragged", "other", "nowhere", "dropped")},
        "for_a_person": counts["for a person"],
        "requests": counts["calls"],
    }


def _missed(shares: dict[str, Any], *, noise: bool) -> list[str]:
    """The bars that a run misses."""
    least = BARS["right with noise" if noise else "right"]
    reached = {
        "right": shares["right"]["value"] >= least,
        "wrong": shares["wrong"]["value"] <= BARS["wrong"],
        "dropped": shares["dropped"] <= BARS["dropped"],
        "elsewhere": shares["elsewhere"]["value"] >= BARS["elsewhere"],
    }
    return [name for name, held in reached.items() if not held]


def _shares_of_the_model(counts: Counts) -> dict[str, Any]:
    n = counts["n"]
    ways = ("exact", "folded", "near", "bare", "everywhere", "echo", "nowhere")
    return {
        "notes": counts["texts"],
        "n": n,
        "placed": {way: counts[way] for way in ways},
        "wrong": share(counts["wrong"], n).as_dict(),
        "no_identifier_by_the_gold": counts["no identifier by the gold"],
        "for_a_person": counts["for a person"],
        "dropped": counts["dropped"],
    }


def tables(measured: dict[str, Any]) -> list[Table]:
    """The runs as tables for a terminal; shares have 95% intervals."""
    scripts = _table(
        f"Scripted phrases through HTTP: {measured['distinct_texts']} distinct texts (synthetic), random hints",
        "contract, passes, phrases|n|right|on unseen lines|exact|wrong occurrence|words elsewhere|dropped|bars missed",
        "right: its own characters; under contract 1, which has no marks, possibly with hints. words elsewhere: in "
        f"the text as shown, masks in it. Bars: right {BARS['right']}, noisy {BARS['right with noise']}; "
        f"wrong {BARS['wrong']}; elsewhere {BARS['elsewhere']}; dropped 0.",
    )
    for run in measured["scripted"]:
        shares = (run["right"], run["by_lines"]["unseen"]["right"], run["exact"], run["wrong"], run["elsewhere"])
        name = f"{run['contract']}, {run['passes']}, {run['phrases']}"
        scripts.add_row(name, str(run["n"]), *map(_told, shares), str(run["dropped"]), ", ".join(run["missed"]))
    models = _table(
        "A recorded large language model's own phrases, notes as written (synthetic)",
        "prompt, requests|notes|n|placed|wrong occurrence|not in the gold|for a person|dropped",
        "wrong occurrence: placed as certain where there is no identifier, though its words are one elsewhere.",
    )
    for run in measured["recorded"]:
        placed = ", ".join(f"{way} {count}" for way, count in run["placed"].items() if count)
        counts = (run["no_identifier_by_the_gold"], run["for_a_person"], run["dropped"])
        name = f"{run['prompt']}, {run['requests']}"
        models.add_row(name, str(run["notes"]), str(run["n"]), placed, _told(run["wrong"]), *map(str, counts))
    return [scripts, models]


def _table(title: str, columns: str, caption: str) -> Table:
    made = Table(title=title, caption=caption)
    for at, name in enumerate(columns.split("|")):
        made.add_column(name, justify="right" if at else "left")
    return made


def _told(figure: dict[str, Any]) -> str:
    if figure["value"] is None:
        return "–"
    return f"{figure['value']:.4f}\n{figure['low']:.4f}–{figure['high']:.4f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; write JSON if requested."""
    parser = argparse.ArgumentParser(
        prog="python -m incognote_benchmarks.reading.placing", description="Measure whether phrases are placed right."
    )
    parser.add_argument("--notes", type=Path, default=NOTES)
    parser.add_argument("--replies", type=Path, default=REPLIES)
    parser.add_argument("--limit", type=int, help="number of notes; uses one seed")
    parser.add_argument("--out", type=Path, help="write the figures here, as JSON")
    given = parser.parse_args(arguments)
    measured = measure(given.notes, given.replies, given.limit)
    console = Console(width=150)
    for table in tables(measured):
        console.print(table)
    if given.out is not None:
        given.out.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

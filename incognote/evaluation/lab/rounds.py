"""Rounds of proposals: rewrite the guideline of the worst type from its errors, and test it on other documents.

The development documents are split into two halves. Errors come from one half, and the other half decides. Every
proposal is recorded in `ledger.jsonl` with its figures, whether accepted or not, and gets an overlay of its own. A
killed run continues where it was. Replies in the recording are not paid for again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from incognote.errors import SettingError, UsageError
from incognote.evaluation.corpus import Gold
from incognote.evaluation.experiments.plan import UsageEstimate
from incognote.evaluation.lab.growing import relative_base, write_overlay
from incognote.evaluation.lab.lint import refuse_leak
from incognote.evaluation.lab.proposing import Mistakes, mistakes, propose_prompt, quotes, read_guideline, some
from incognote.evaluation.lab.runner import PromptRunner, Watch
from incognote.evaluation.lab.trial import Aim, Trial, trial
from incognote.files.atomic import unwritable, write_atomic
from incognote.llm.base import Usage
from incognote.prompts.loader import load
from incognote.prompts.overlay import Guideline

LEAST = 40
"""The minimum number of documents. With fewer, neither half could show anything (`experiments.gate.LEAST`)."""


@dataclass(frozen=True, slots=True)
class RoundsTerms:
    """The settings of a folder of proposals. They stay the same for all runs in it.

    Args:
        prompt: as for `--prompt`.
        rounds: how many proposals may be tried. The test is adjusted for all of them from the start.
        allow: points that may be lost (`trial`).
        seed: for the split of the documents.
    """

    prompt: str
    rounds: int
    allow: float = 1.0
    seed: int = 0
    asking: str = "propose/v1"


@dataclass(frozen=True, slots=True)
class RoundsOutcome:
    """The result of a run.

    Attributes:
        rows: all rows of the ledger.
        accepted: the overlay with everything accepted, or None if nothing was.
        paid, total: usage of this run, and of all runs in the folder.
    """

    rows: tuple[Mapping[str, Any], ...]
    accepted: Path | None
    paid: Usage
    total: Usage


def halves(gold: Sequence[Gold], seed: int) -> tuple[list[Gold], list[Gold]]:
    """The documents that proposals are made from, and those that decide. Equal texts are on the same side.

    Texts are dealt alternately in the order of their hashes, separately for those with and without identifiers.

    Raises:
        UsageError: fewer than `LEAST` different texts.
    """
    texts: dict[str, list[Gold]] = {}
    for one in gold:
        texts.setdefault(one.text, []).append(one)
    if len(texts) < LEAST:
        raise UsageError(f"Only {len(texts)} different texts. At least {LEAST} are needed: half of them decide.")
    order = sorted(
        texts, key=lambda text: hashlib.sha256(f"{seed}\x1f{text}".encode("utf-8", "surrogatepass")).digest()
    )
    made: tuple[list[Gold], list[Gold]] = ([], [])
    turns = [0, 0]
    for text in order:
        kind = any(one.labels for one in texts[text])
        made[(turns[kind] + kind) % 2].extend(texts[text])
        turns[kind] += 1
    return made


def estimate(runner: PromptRunner, terms: RoundsTerms, gold: Sequence[Gold]) -> UsageEstimate:
    """The maximum that all rounds take: each half read once at the start, the deciding half once per proposal, and the
    first half once after each accepted proposal."""
    first, second = halves(gold, terms.seed)
    whole = runner.estimate(terms.prompt, first, 1) + runner.estimate(terms.prompt, second, 1)
    return whole + runner.estimate(terms.prompt, second, terms.rounds) + runner.estimate(
        terms.prompt, first, terms.rounds - 1
    )  # fmt: skip


def run(runner: PromptRunner, terms: RoundsTerms, gold: Sequence[Gold], *, watch: Watch | None = None) -> RoundsOutcome:
    """Run the remaining rounds.

    Args:
        runner: already entered; its folder holds the ledger.

    Raises:
        SettingError: the folder was started with other settings.
        UsageError: too few documents, or the prompt's examples quote them.
        ModelProblem: the model did not answer, or the budget is spent. Run again to continue.
    """
    refuse_leak(load(terms.prompt), (one.text for one in gold))
    first, second = halves(gold, terms.seed)
    _same(runner, terms, gold)
    work = _Rounds(runner, terms, first, second, watch)
    for row in work.ledger.rows:
        work.take(row)
    while len(work.ledger.rows) < terms.rounds and (made := work.next()) is not None:
        work.ledger.add(made)
        work.take(made)
    accepted = None
    if work.lines:
        accepted = runner.folder / "accepted.toml"
        work.write(accepted, work.lines, "what a paired test accepted")
    total, before = runner.paid, runner.before
    usd = None if total.usd is None or before.usd is None else total.usd - before.usd
    paid = Usage(total.input - before.input, total.output - before.output, total.cached - before.cached,
                 total.calls - before.calls, usd)  # fmt: skip
    return RoundsOutcome(tuple(work.ledger.rows), accepted, paid, total)


class _Rounds:
    """The current prompt, after all rows taken so far."""

    def __init__(
        self,
        runner: PromptRunner,
        terms: RoundsTerms,
        first: Sequence[Gold],
        second: Sequence[Gold],
        watch: Watch | None,
    ) -> None:
        self.runner, self.terms, self.first, self.second, self.watch = runner, terms, first, second, watch
        self.ledger = _Ledger(runner.folder / "ledger.jsonl")
        self.lines: dict[str, str] = {}
        self._prompt = terms.prompt
        self._tried: list[str] = []

    def take(self, row: Mapping[str, Any]) -> None:
        """Apply a row: an accepted one changes the prompt; a refused one only counts as a try for its type."""
        if not row["accepted"]:
            self._tried.append(row["type"])
            return
        self._tried = []
        self._prompt = str(self.runner.folder / row["overlay"])
        made = load(self._prompt)
        self.lines[row["type"]] = made.guidelines[row["type"]].about or ""

    def write(self, place: Path, lines: Mapping[str, str], about: str) -> None:
        base = relative_base(self.terms.prompt, place)
        write_overlay(place, base, about, replaced=lines, provenance={"model": self.runner.how.model})

    def next(self) -> dict[str, Any] | None:
        """Make and test one more proposal and return its row, or None if no type has errors."""
        found = self.runner.found(self._prompt, self.first, self.watch)
        worst = self._worst(mistakes(self.first, found, self.runner.policy))
        if worst is None:
            return None
        type_, errors = worst
        aim: Aim = "recall" if len(errors.missed) >= len(errors.wrong) else "precision"
        number = len(self.ledger.rows) + 1
        row: dict[str, Any] = {
            "round": number,
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "type": type_,
            "aim": aim,
            "missed": len(errors.missed),
            "wrong": len(errors.wrong),
            "before": load(self._prompt).version,
            "overlay": None,
            "proposal": None,
            "trial": None,
            "refused": [],
        }
        line, fault = self._guideline(type_, errors)
        if line is None:
            row["refused"] = [fault]
        else:
            place = self.runner.folder / f"proposal-{number}.toml"
            self.write(place, self.lines | {type_: line}, f"proposal {number}: the guideline of {type_}")
            row |= {"overlay": place.name, "proposal": load(str(place)).version}
            made = self._tested(str(place), aim)
            row |= {"trial": made.as_dict(), "refused": list(made.refused)}
        row |= {"accepted": not row["refused"], "spent_usd": self.runner.paid.usd, "calls": self.runner.paid.calls}
        return row

    def _worst(self, made: Mapping[str, Mistakes]) -> tuple[str, Mistakes] | None:
        """The type with the most errors among those tried least often since the prompt last changed."""
        order = sorted(made.items(), key=lambda item: (self._tried.count(item[0]), -len(item[1]), item[0]))
        return order[0] if order else None

    def _guideline(self, type_: str, errors: Mistakes) -> tuple[str | None, str]:
        """The proposed line, or None and the reason."""
        prompt = load(self._prompt)
        types = prompt.types(self.runner.policy)
        now = prompt.guidelines.get(type_, Guideline()).line(types[type_])
        number = len(self.ledger.rows) + 1
        missed, wrong = some(errors.missed, number), some(errors.wrong, number)
        request = propose_prompt(self.terms.asking).request(
            type_, now, prompt.sections["guidelines"], missed, wrong, sample=self._tried.count(type_)
        )
        reply = self.runner.ask(request)
        line = read_guideline(reply.text) if reply.finish == "stop" else None
        if line is None:
            return None, "reply-unusable"
        if quotes(line, [*missed, *wrong], prompt.render([""], types).system, self.first):
            return None, "quotes-a-note"
        return line, ""

    def _tested(self, proposal: str, aim: Aim) -> Trial:
        before = self.runner.found(self._prompt, self.second, self.watch)
        after = self.runner.found(proposal, self.second, self.watch)
        return trial(self.second, before, after, aim, tries=self.terms.rounds, allow=self.terms.allow)


class _Ledger:
    """The proposals of a folder, one per line, without any words of a note."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.rows: list[dict[str, Any]] = []
        try:
            lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
            self.rows = [json.loads(line) for line in lines]
        except (OSError, ValueError):
            raise SettingError("ledger.jsonl cannot be read. Correct it, or choose another folder (--out).") from None

    def add(self, row: dict[str, Any]) -> None:
        written = json.dumps(row)
        try:
            with self._path.open("a", encoding="utf-8") as out:
                out.write(written + "\n")
        except OSError as error:
            raise unwritable(error) from None
        self.rows.append(json.loads(written))


def _same(runner: PromptRunner, terms: RoundsTerms, gold: Sequence[Gold]) -> None:
    """Check that the folder was started with these settings.

    A test adjusted for three proposals is not valid for five.
    """
    how = asdict(runner.how)
    for private in ("budget_usd", "config", "api_base"):
        del how[private]
    read = hashlib.sha256(json.dumps([[one.id, one.text, one.labels] for one in gold]).encode()).hexdigest()[:16]
    now = {
        **how,
        "policy": runner.policy.version,
        "detectors": list(how["detectors"]),
        "prompt": load(terms.prompt).version,
        "rounds": terms.rounds,
        "allow": terms.allow,
        "seed": terms.seed,
        "asking": propose_prompt(terms.asking).version,
        "gold": read,
    }
    place = runner.folder / "terms.json"
    if not place.exists():
        write_atomic(place, (json.dumps(now, indent=1) + "\n").encode(), private=True)
        return
    try:
        then = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise SettingError("terms.json cannot be read. Choose another folder (--out).") from None
    other = sorted(key for key in now if then.get(key) != now[key])
    if other:
        raise SettingError(
            f"The runs in this folder used other values: {', '.join(other)}. Use the same values, or choose another "
            "--out."
        )

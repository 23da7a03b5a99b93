"""Score the recorded replies of a large language model: prompts and passes side by side, on the same notes.

    python -m incognote_benchmarks.recorded [--replies FOLDER] [--notes NOTES.jsonl] [--out JSON] [--page MARKDOWN]

The replies were given to exactly the prompts that the pipeline renders (`tests/data/replies/README.md` says by whom and
how). They are replayed, and no model is asked. A note is left out if any of its requests has no recorded reply, so all
systems are compared on the same notes.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from incognote.errors import ModelProblem, UsageError
from incognote.evaluation.report import ScoreReport
from incognote.evaluation.scores import Watch, evaluate
from incognote.jsonlines import read_rows
from incognote.llm.base import LanguageModel
from incognote.llm.recording import Recording, Replayed
from incognote.nouns import Span
from incognote.sdk import Deidentifier
from incognote.settings import Passes

MODEL = "recorded/large-language-model"
"""The model name under which the replies were recorded."""

NOTES = Path("tests/data/notes.jsonl")
REPLIES = Path("tests/data/replies")
QUESTIONS = Path("tests/data/dev_h.jsonl")
WITHOUT_VETO = Path(__file__).with_name("without_veto.toml")
"""The policy `strict` without `models.veto`."""


@dataclass(frozen=True, slots=True)
class System:
    """A system to score: detectors without a model, or combined with the recorded replies to a prompt.

    Args:
        name: its name in tables.
        prompt: a shipped prompt; None if no model is asked.
        passes: the maximum number of passes over each chunk, or `need`.
        detectors: the detectors besides the model.
        policy: a shipped policy, or the path of one.
        wrap: what is put around the recorded model.
        language: of the notes, if it is not English. It is accepted, and the model reads it.
    """

    name: str
    prompt: str | None
    passes: Passes = 1
    detectors: tuple[str, ...] = ("rules",)
    policy: str = "strict"
    wrap: Callable[[Replayed], LanguageModel] = lambda model: model
    language: str = ""

    def open(self, replies: Path) -> Deidentifier:
        """Open a Deidentifier that answers from the recording."""
        languages = (self.language,) if self.language else ()
        if self.prompt is None:
            return Deidentifier(detectors=self.detectors, policy=self.policy, languages=languages)
        recording = Recording(replies / f"{self.prompt.replace('/', '-')}.jsonl", plain=True, create=False)
        model = self.wrap(Replayed(MODEL, recording))
        detectors = (*self.detectors, "llm")
        return Deidentifier(
            model=model,
            prompt=self.prompt,
            passes=self.passes,
            detectors=detectors,
            policy=self.policy,
            languages=languages,
            models={MODEL: {"reads": ("en", *languages)}},
        )


class Scorable(Protocol):
    """Anything that `compare` can score: a name, and a way to open what finds spans in texts."""

    @property
    def name(self) -> str: ...

    def open(self, replies: Path) -> AbstractContextManager[Finder]: ...


class Finder(Protocol):
    """Finds spans in texts; a ModelProblem stands for a text without a recorded reply."""

    def detect_each(self, texts: Sequence[str]) -> list[list[Span] | ModelProblem]: ...


ONE_PASS = (
    System("rules alone", None),
    System("prompt 1", "extract/v1", detectors=()),
    System("prompt 2", "extract/v2", detectors=()),
    System("rules + prompt 1", "extract/v1"),
    System("rules + prompt 2", "extract/v2"),
)
TWO_PASSES = (
    System("prompt 1, one pass", "extract/v1", detectors=()),
    System("prompt 1, two passes", "extract/v1", 2, detectors=()),
    System("prompt 2, one pass", "extract/v2", detectors=()),
    System("prompt 2, two passes", "extract/v2", 2, detectors=()),
)

BOTH = ("rules", "encoder")
TOGETHER = (
    System("rules + encoder", None, detectors=BOTH),
    System("prompt 3", "extract/v3", detectors=()),
    System("all three without the veto", "extract/v3", detectors=BOTH, policy=str(WITHOUT_VETO)),
    System("all three", "extract/v3", detectors=BOTH),
)


def compare(systems: Sequence[Scorable], notes: Path = NOTES, replies: Path = REPLIES) -> dict[str, ScoreReport]:
    """Score systems on the notes that all of them answer.

    Raises:
        UsageError: there is no such note.
    """
    lines = read_notes([notes])
    texts = [str(json.loads(line)["text"]) for line in lines]
    found, left = answered(systems, texts, replies)
    return scored([lines[i] for i in left], found, notes.stem)


def answered(
    systems: Sequence[Scorable], texts: Sequence[str], replies: Path
) -> tuple[dict[str, list[list[Span]]], list[int]]:
    """Find spans in the texts that all systems answer. A system is asked only about what all systems before it answer.

    Returns:
        For each system's name, the spans in each of these texts; and the indexes of these texts.

    Raises:
        UsageError: there is no such text.
    """
    left = list(range(len(texts)))
    every: dict[str, dict[int, list[Span]]] = {}
    for system in systems:
        with system.open(replies) as opened:
            found = zip(left, opened.detect_each([texts[i] for i in left]), strict=True)
            every[system.name] = {i: spans for i, spans in found if not isinstance(spans, ModelProblem)}
        left = list(every[system.name])
    if not left:
        raise UsageError("no note has a recorded reply to every request. Record some with tests/data/replies/make.py")
    return {name: [spans[i] for i in left] for name, spans in every.items()}, left


def read_notes(paths: Sequence[Path]) -> list[str]:
    """The lines of annotated notes, in JSON."""
    return [line for path in paths for line in path.read_text(encoding="utf-8").split("\n") if line]


def scored(
    lines: Sequence[str],
    found: Mapping[str, Sequence[list[Span]]],
    corpus: str,
    watch: Callable[[str], Watch | None] = lambda name: None,
) -> dict[str, ScoreReport]:
    """Score, per system, the spans that it found in each of the annotated notes.

    Args:
        watch: from a system's name, what is called with each note that is scored.
    """
    texts = [str(json.loads(line)["text"]) for line in lines]
    with tempfile.TemporaryDirectory() as folder:
        gold = Path(folder) / "answered.jsonl"
        gold.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return {
            name: evaluate(gold, detect=_by_text(texts, spans), corpus=corpus, synthetic=True, watch=watch(name))
            for name, spans in found.items()
        }


def _by_text(texts: Sequence[str], found: Sequence[list[Span]]) -> Callable[[Sequence[str]], list[list[Span]]]:
    known = dict(zip(texts, found, strict=True))
    return lambda asked: [known[text] for text in asked]


def reply_tokens(replies: Path = REPLIES) -> dict[str, float]:
    """Mean length of a first reply by prompt, in tokens of four characters."""
    lengths: dict[str, list[int]] = {}
    for file in sorted(replies.glob("extract-*.jsonl")):
        for _, row in read_rows(file):
            lengths.setdefault(row["prompt"], []).append(len(row["value"]["text"]))
    return {prompt: round(sum(each) / len(each) / 4, 1) for prompt, each in lengths.items()}


def markdown(parts: dict[str, dict[str, ScoreReport]], tokens: dict[str, float]) -> str:
    """Format the comparison as a Markdown page."""
    page = [
        "# Recorded replies of a large language model",
        "",
        "A large language model answered exactly the prompts that the pipeline generates. A person started each",
        "run by hand. The model's name, version, and sampling settings are unknown (see",
        "`tests/data/replies/README.md`). The command `python -m incognote_benchmarks.recorded` replays the",
        "replies without calling a model.",
        "",
        "Scores are by character and ignore entity types. Intervals are 95%, over documents. Because figures are",
        "rounded, a recall of 1.000 can appear next to a document that leaks.",
        "",
        "Prompts 1, 2, and 3 are `extract/v1`, `extract/v2`, and `extract/v3`. The rules were tuned on these notes. A",
        "second pass was recorded for the notes with the highest density of identifiers. The veto drops what only one",
        "of rules and encoder found and the model did not name (`models.veto`).",
    ]
    for title, reports in parts.items():
        first = next(iter(reports.values()))
        page += ["", f"## {title}", "", f"{first.provenance}", ""]
        page += ["| system | recall | precision | documents that leak | texts without PHI changed |", "|---" * 5 + "|"]
        for name, report in reports.items():
            figures = report.figures
            shown = (figures[key] for key in ("recall", "precision", "documents_leaking", "clean_texts_touched"))
            page.append(f"| {name} | " + " | ".join(map(str, shown)) + " |")
        names = list(reports)
        groups = {group for report in reports.values() for group in report.groups}
        page += ["", "Recall / precision by evaluation group:", "", f"| group | {' | '.join(names)} |"]
        page.append("|---" * (len(names) + 1) + "|")
        for group in sorted(groups):
            cells = []
            for report in reports.values():
                row = report.groups.get(group)
                cells.append("–" if row is None else f"{_short(row.recall.value)} / {_short(row.precision.value)}")
            page.append(f"| {group} | " + " | ".join(cells) + " |")
    page += ["", "Mean length of a reply in tokens (four characters each): "]
    page[-1] += ", ".join(f"{prompt} {count:.0f}" for prompt, count in tokens.items()) + "."
    return "\n".join(page) + "\n"


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; write the JSON and the page if requested."""
    parser = argparse.ArgumentParser(prog="python -m incognote_benchmarks.recorded", description=__doc__)
    parser.add_argument("--replies", type=Path, default=REPLIES)
    parser.add_argument("--notes", type=Path, default=NOTES)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args(arguments)
    parts = {
        "One pass": compare(ONE_PASS, given.notes, given.replies),
        "A second pass": compare(TWO_PASSES, given.notes, given.replies),
        "Rules, encoder, and model": compare(TOGETHER, given.notes, given.replies),
        "Rules, encoder, and model on short texts and questions": compare(TOGETHER, QUESTIONS, given.replies),
    }
    tokens = reply_tokens(given.replies)
    page = markdown(parts, tokens)
    print(page)  # noqa: T201 -- this is a program that prints
    if given.page:
        given.page.write_text(page, encoding="utf-8")
    if given.out:
        content = {
            title: {name: json.loads(report.to_json()) for name, report in reports.items()}
            for title, reports in parts.items()
        }
        given.out.write_text(json.dumps({**content, "reply_tokens": tokens}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

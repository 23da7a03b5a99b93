"""Compare chunk sizes and passes on recorded replies: what a model finds, and what each note costs.

    python -m incognote_benchmarks.reading.sizes [--notes NOTES.jsonl ...] [--prompt NAME] [--words N ...]
        [--passes need|N ...] [--out docs/measured/chunk_sizes.json]

The replies come from `tests/data/replies`; no model is asked. A note is left out of every row if one of its requests
has no recorded reply. To write the requests that must be answered:

    python tests/data/replies/make.py ask NOTES.jsonl REPLIES.jsonl FOLDER --chunk-words 256 400 600 100000
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from incognote.errors import ModelProblem, UsageError
from incognote.evaluation.intervals import Figure, interval, resampled
from incognote.evaluation.metrics.tally import RESAMPLES
from incognote.evaluation.report.drawing import PALETTE, canvas
from incognote.evaluation.report.scored import ScoreReport
from incognote.extraction.chunks import length
from incognote.llm.base import Reply, Request
from incognote.llm.recording import Recording, Replayed
from incognote.nouns import Span
from incognote.sdk import Deidentifier
from incognote.settings import ModelSettings, Passes, read_passes
from incognote_benchmarks.reading.material import GROUPS
from incognote_benchmarks.recorded import MODEL, NOTES, REPLIES, read_notes, scored

WHOLE = 100_000
SIZES = (256, 400, 600, WHOLE)
EMBEDDED, ALL, ALONE = ("rules", "encoder"), ("rules", "encoder", "llm"), ("llm",)
TITLES = {ALL: "Rules, encoder, and model", ALONE: "The model alone"}
COSTS = {"calls": "calls", "tokens_in": "tokens in", "tokens_out": "tokens out", "cpu": "CPU, ms"}


@dataclass(frozen=True, slots=True)
class Setting:
    """A row of the comparison. Without a model, `words` is 0."""

    detectors: tuple[str, ...]
    words: int = 0
    passes: Passes = 1

    @property
    def size(self) -> str:
        return "whole note" if self.words >= WHOLE else f"{self.words}"


@dataclass(slots=True)
class Counting:
    """A model that counts its calls and their characters."""

    inner: Replayed
    name: str = MODEL
    calls: int = 0
    characters_in: int = 0
    characters_out: int = 0
    replays: bool = True  # so that notes without a recorded reply do not end the run

    async def complete(self, request: Request) -> Reply:
        reply = await self.inner.complete(request)
        self.calls += 1
        self.characters_in += sum(len(message.content) for message in request.messages)
        self.characters_in += len(json.dumps(request.schema)) if request.schema else 0
        self.characters_out += len(reply.text)
        return reply

    async def aclose(self) -> None:
        """Do nothing: the recording has nothing to close."""


@dataclass(slots=True)
class Answers:
    """The results of one setting by the note's index: its spans, and what it cost."""

    spans: dict[int, list[Span]] = field(default_factory=dict)
    costs: dict[int, list[float]] = field(default_factory=dict)


def measure(
    notes: Sequence[Path],
    replies: Path,
    prompt: str,
    words: Sequence[int] = SIZES,
    passes: Sequence[Passes] = ("need", 1),
) -> dict[str, Any]:
    """Score every combination of chunk size and passes, with the embedded detectors and without them.

    Returns:
        `prompt`; `provenance` of the notes; `long`, how many of them have more than 256 words; `left_out`, how many
        notes lack a reply; and `rows`. Each row has
        its setting, `recall` and `precision` by character, `leaking` (the share of documents with PHI that leak),
        `whole` (all-or-nothing recall per document over the types of RedactOR's Table 1), `by_type` (all-or-nothing
        recall per type, RedactOR's Figure 2), and per note `calls`, `tokens_in` with the schema, `tokens_out`
        (characters / 4) and `cpu` in milliseconds. Every figure has a 95% interval over notes.

    Raises:
        UsageError: no note has a recorded reply to every request.
    """
    lines = read_notes(notes)
    texts = [str(json.loads(line)["text"]) for line in lines]
    # With the model alone, nothing is certain before it, so `need` means one pass.
    alone = [Setting(ALONE, size, p) for size in words for p in passes if p != "need"]
    settings = [Setting(EMBEDDED), *(Setting(ALL, size, p) for size in words for p in passes), *alone]
    left = list(range(len(texts)))
    every: list[Answers] = []
    for setting in settings:
        every.append(_answered(setting, texts, left, replies, prompt))
        left = sorted(every[-1].spans)
    if not left:
        raise UsageError("no note has a recorded reply to every request. Record some with tests/data/replies/make.py")
    names = [str(i) for i in range(len(settings))]
    found = {name: [answers.spans[i] for i in left] for name, answers in zip(names, every, strict=True)}
    reports = scored([lines[i] for i in left], found, " + ".join(path.stem for path in notes))
    return {
        "prompt": prompt,
        "provenance": reports["0"].provenance,
        "long": sum(length(texts[i]) > 256 for i in left),
        "left_out": len(texts) - len(left),
        "rows": [
            _row(setting, reports[name], [answers.costs[i] for i in left])
            for setting, name, answers in zip(settings, names, every, strict=True)
        ],
    }


def _answered(setting: Setting, texts: Sequence[str], left: Sequence[int], replies: Path, prompt: str) -> Answers:
    model = Counting(Replayed(MODEL, Recording(replies, plain=True, create=False)))
    asking: dict[str, Any] = {"model": model, "prompt": prompt, "passes": setting.passes, "chunk_words": setting.words}
    answers = Answers()
    with Deidentifier(detectors=setting.detectors, **(asking if setting.words else {})) as deid:
        deid.detect_each(texts[:2])  # load tables and compile graphs
        for i in left:
            before, began = (model.calls, model.characters_in, model.characters_out), time.process_time()
            (spans,) = deid.detect_each([texts[i]])
            seconds = time.process_time() - began
            if isinstance(spans, ModelProblem):
                continue
            answers.spans[i] = spans
            calls, into, out = (
                model.calls - before[0],
                model.characters_in - before[1],
                model.characters_out - before[2],
            )
            answers.costs[i] = [calls, into / 4, out / 4, 1000 * seconds]
    return answers


def _row(setting: Setting, report: ScoreReport, costs: Sequence[Sequence[float]]) -> dict[str, Any]:
    assert report.measures is not None  # the gold has labels
    figures, redactor = report.figures, report.measures.redactor
    recalls = {name: redactor.type_recall[name].as_dict() for name in GROUPS if name in redactor.type_recall}
    return {
        "detectors": list(setting.detectors),
        "words": setting.words,
        "passes": setting.passes,
        "recall": figures["recall"].as_dict(),
        "precision": figures["precision"].as_dict(),
        "leaking": figures["documents_leaking"].as_dict(),
        "whole": redactor.document_recall.as_dict() if redactor.document_recall else None,
        "by_type": recalls,
        **{name: _mean([cost[i] for cost in costs]).as_dict() for i, name in enumerate(COSTS)},
    }


def _mean(values: Sequence[float]) -> Figure:
    drawn = resampled(np.array(values, dtype=np.float64)[:, None], RESAMPLES, 0)[:, 0] / len(values)
    return Figure(sum(values) / len(values), *interval(drawn), len(values))


def written(measured: dict[str, Any], picture: str | None) -> str:
    """Return the page as Markdown: a table per set of detectors, and all-or-nothing recall by type."""
    page = [
        "# Chunk sizes and passes",
        f"{measured['provenance']} · {measured['long']} with more than 256 words · prompt "
        f"{measured['prompt']} · {measured['left_out']} notes left out",
        "A large language model answered exactly the requests that the pipeline makes (see "
        "`tests/data/replies/README.md`). `python -m incognote_benchmarks.reading.sizes` replays the answers. A note "
        "is left out of every row if one of its requests has no recorded reply. This includes a second pass. If such "
        "notes are left out, the mean number of calls is too low.",
        "Chunk sizes are in words. Recall and precision are by character and ignore entity types. All-or-nothing "
        "recall is the share of documents in which every identifier of RedactOR's Table 1 is found. Tokens are "
        "characters / 4 per note. They include the schema. Intervals are 95%, over notes.",
    ]
    embedded, *rows = measured["rows"]
    head = (
        "chunk size",
        "passes",
        "recall",
        "precision",
        "all-or-nothing recall",
        "documents that leak",
        *COSTS.values(),
    )
    for detectors, title in TITLES.items():
        some = [row for row in rows if tuple(row["detectors"]) == detectors]
        cells = [_cells(row) for row in some]
        if detectors == ALL:
            cells.insert(0, ["no model", "–", *_cells(embedded)[2:]])
        page += [f"## {title}", _table(head, cells)]
    names = [name for name in GROUPS if name in embedded["by_type"]]
    types = [
        [", ".join(row["detectors"]), *_cells(row)[:2], *(_short(row["by_type"][name]) for name in names)]
        for row in rows
    ]
    page += [
        "## All-or-nothing recall by type",
        "The share of the documents with a type in which every identifier of the type is found as this type.",
        _table(("detectors", "chunk size", "passes", *names), types),
    ]
    if picture is not None:
        page.append(f"![All-or-nothing recall by chunk size, per type, and the tokens per note]({picture})")
    return "\n\n".join(page) + "\n"


def _cells(row: dict[str, Any]) -> list[str]:
    quality = (row["recall"], row["precision"], row["whole"], row["leaking"])
    costs = (_cost(row[name], 2 if name == "calls" else 0) for name in COSTS)
    size = Setting(tuple(row["detectors"]), row["words"]).size
    return [size, str(row["passes"]), *(str(Figure(**each)) if each else "–" for each in quality), *costs]


def _cost(figure: dict[str, Any], digits: int) -> str:
    value, low, high = (f"{figure[key]:,.{digits}f}" for key in ("value", "low", "high"))
    return value if low == high else f"{value} [{low}, {high}]"


def _short(figure: dict[str, Any]) -> str:
    return "–" if figure["value"] is None else f"{figure['value']:.2f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows))


def plot(measured: dict[str, Any], path: Path) -> None:
    """Draw all-or-nothing recall by chunk size as RedactOR's Figure 2 does by passes, and the tokens per note.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    rows = measured["rows"][1:]
    drawn = [(detectors, [row for row in rows if tuple(row["detectors"]) == detectors]) for detectors in TITLES]
    # of several settings of passes, the first one
    drawn = [(d, [row for row in some if row["passes"] == some[0]["passes"]]) for d, some in drawn if some]
    figure = canvas(4.4 * (len(drawn) + 1), 4.0, "the chunk sizes")
    axes = figure.subplots(1, len(drawn) + 1)
    for ax, (detectors, some) in zip(axes, drawn, strict=False):
        shown = [Setting(detectors, row["words"]).size for row in some]
        for name, colour, marker in zip(some[0]["by_type"], PALETTE, "osD^vP*", strict=False):
            values = [row["by_type"][name]["value"] for row in some]
            ax.plot(shown, values, marker=marker, color=colour, markersize=5, linewidth=1.3, label=name)
        ax.plot(shown, [row["whole"]["value"] for row in some], color="black", linewidth=2.5, label="all types")
        ax.set(title=f"{TITLES[detectors]}, {_passes(some[0])}", xlabel="words per chunk", ylim=(-0.03, 1.04))
    axes[0].set_ylabel("all-or-nothing recall")
    axes[0].legend(fontsize=8, frameon=False, loc="lower left")
    for number, passes in enumerate(dict.fromkeys(row["passes"] for row in drawn[0][1] + rows)):
        some = [row for row in rows if tuple(row["detectors"]) == ALL and row["passes"] == passes]
        shown = [Setting(ALL, row["words"]).size for row in some]
        for name, style in (("tokens_in", "-"), ("tokens_out", ":")):
            means = [row[name]["value"] for row in some]
            errors = [[abs(row[name][end] - row[name]["value"]) for row in some] for end in ("low", "high")]
            label = f"{COSTS[name]}, {_passes(some[0])}"
            axes[-1].errorbar(shown, means, errors, color=PALETTE[number], linestyle=style, marker="o", label=label)
    axes[-1].set(title="Tokens per note", xlabel="words per chunk", ylim=(0, None))
    axes[-1].legend(fontsize=8, frameon=False)
    for ax in axes:
        ax.grid(alpha=0.3)
    figure.savefig(path, metadata={"Software": None})


def _passes(row: dict[str, Any]) -> str:
    from incognote.runs.units import passes_shown

    return passes_shown(row["passes"])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; write JSON, page, and picture if requested."""
    default = str(ModelSettings.model_fields["prompt"].default)
    parser = argparse.ArgumentParser(
        prog="python -m incognote_benchmarks.reading.sizes", description="Compare chunk sizes on recorded replies."
    )
    parser.add_argument("--notes", type=Path, action="append", help="annotated texts; repeatable")
    parser.add_argument("--prompt", default=default)
    parser.add_argument("--replies", type=Path, help="the recording; default: the one of the prompt")
    parser.add_argument("--words", type=int, nargs="+", default=SIZES, help=f"chunk sizes; {WHOLE} for whole notes")
    parser.add_argument("--passes", type=read_passes, nargs="+", default=("need", 1))
    parser.add_argument("--out", type=Path, help="write the figures here as JSON, plus a page and a picture")
    given = parser.parse_args(arguments)
    replies = given.replies or REPLIES / f"{given.prompt.replace('/', '-')}.jsonl"
    measured = measure(given.notes or [NOTES], replies, given.prompt, given.words, given.passes)
    picture = given.out.with_suffix(".png") if given.out else None
    page = written(measured, picture.name if picture else None)
    print(page)  # noqa: T201 -- this is a program that prints
    if given.out and picture:
        plot(measured, picture)
        given.out.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
        given.out.with_suffix(".md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()

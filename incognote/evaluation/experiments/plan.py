"""Plan an experiment: the cells without results, their texts, and the estimated usage, before any model is asked.

A token is taken as four characters. Each vote of each pass over each chunk counts as one call, and passes by need count
as 1.05. A pass that finds nothing is the last, chunks are halved if a model refuses them, and recorded replies are not
paid for again. So the estimate is too high if there are many passes. Replies are assumed to have the average length of
those we recorded.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from incognote.errors import SettingError
from incognote.evaluation.corpus import Gold
from incognote.evaluation.experiments.cell import Cell, cells
from incognote.evaluation.experiments.results import Results
from incognote.evaluation.experiments.seal import Opening, Seal, opened
from incognote.evaluation.experiments.spec import Spec, load
from incognote.evaluation.experiments.tallies import documents
from incognote.evaluation.lab.lint import refuse_leak
from incognote.extraction.chunks import Chunk, chunks
from incognote.extraction.need import mean_passes
from incognote.llm.base import Usage
from incognote.llm.opening import ModelSpec, price_of
from incognote.llm.prices import Price
from incognote.prompts.loader import load as load_prompt
from incognote.schemas.policy import Policy, load_policy


@dataclass(frozen=True, slots=True)
class ExperimentPlan:
    """An experiment that was checked but not started.

    Attributes:
        cells: all cells; `pending` are those without results.
        gold: by corpus name, for the pending cells.
        openings: by corpus name, the seal's entry for this opening.
        estimate: for the pending cells.
    """

    spec: Spec
    results: Results
    cells: tuple[Cell, ...]
    pending: tuple[Cell, ...]
    gold: Mapping[str, tuple[Gold, ...]] = field(repr=False)
    openings: Mapping[str, Opening]
    estimate: UsageEstimate

    @property
    def opened(self) -> dict[str, int]:
        """How often each test split was opened so far, by corpus name."""
        return opened({cell.corpus.name: cell.path for cell in self.cells if cell.corpus.split == "test"})


def plan(
    path: str | Path, folder: str | Path | None = None, *, purpose: str = "run", who: str | None = None
) -> ExperimentPlan:
    """Plan an experiment. A test split that pending cells need is opened, and the opening is logged.

    Args:
        path: the experiment's YAML file.
        folder: for its results; by default next to the file, under its name.
        purpose, who: for the log.

    Raises:
        SettingError, UnknownName, PolicyProblem, UsageError: the experiment cannot be run as written. One such reason
            is a prompt whose examples quote texts that it would be scored on.
        IncognoteError: the log of a test split was altered.
    """
    place = Path(path)
    spec = load(place)
    made = cells(spec, place.parent)
    for corpus in spec.corpora:
        if corpus.split != "test" and Seal(place.parent / corpus.path).sealed:
            raise SettingError(f"corpora: {corpus.name} has a log of openings, so it is a test split. Mark it as one.")
    results = Results(Path(folder) if folder is not None else place.with_suffix(".results"))
    pending = [cell for cell in made if not results.has(cell.key)]
    if spec.budget_usd is not None and (unknown := next((cell for cell in pending if unpriced(cell)), None)):
        name = unknown.asking.model.name if unknown.asking else ""
        raise SettingError(
            f"budget_usd: no price is known for {name}. Add it to a file in the setting `prices`, or use "
            "budget_tokens."
        )
    gold: dict[str, tuple[Gold, ...]] = {}
    openings: dict[str, Opening] = {}
    for cell in pending:
        name = cell.corpus.name
        if name not in gold:
            if cell.corpus.split == "test":
                results.check(cell.path, str(cell.facts["corpus"]))
                openings[name] = Seal(cell.path).open(spec.hash, purpose, who)
            gold[name] = tuple(documents(cell.path, str(cell.facts["corpus"])))
        if cell.asking is not None:
            refuse_leak(load_prompt(cell.settings.prompt), (document.text for document in gold[name]))
    total = UsageEstimate()
    for cell in pending:
        total += estimate(cell, [document.text for document in gold[cell.corpus.name]])
    return ExperimentPlan(spec, results, tuple(made), tuple(pending), gold, openings, total)


CHARACTERS = 4
REPLY = {1: 194, 2: 92}
"""Mean tokens of a reply, by the prompt's contract (docs/measured/replies.md)."""


@dataclass(frozen=True, slots=True)
class UsageEstimate:
    """Calls, tokens, and US dollars (None if a price is unknown)."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float | None = 0.0

    def __add__(self, other: UsageEstimate) -> UsageEstimate:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return UsageEstimate(
            self.calls + other.calls, self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out, usd
        )


def model_spec(cell: Cell) -> ModelSpec:
    """How to open the model of a cell. There is no fallback: another model's answers would count as this one's."""
    assert cell.asking is not None
    own = cell.settings
    return ModelSpec(
        cell.asking.model.name,
        own.home,
        api_base=own.api_base,
        api_key=own.api_key.get_secret_value() if own.api_key else None,
        timeout=own.model_timeout,
        attempts=own.model_attempts,
        slots=own.model_slots,
        prices=own.prices,
    )


def estimate(cell: Cell, texts: Sequence[str]) -> UsageEstimate:
    """Estimate the usage of one cell; zero if no model is asked."""
    if cell.asking is None:
        return UsageEstimate()
    own = cell.settings
    pieces = [chunk for text in texts for chunk in chunks(text, own.chunk_words, own.chunk_overlap)]
    times = mean_passes(own.passes) * own.votes
    return reading(pieces, times, own.prompt, load_policy(own.policy), price_of(model_spec(cell)))


def reading(pieces: Sequence[Chunk], times: float, prompt: str, policy: Policy, price: Price | None) -> UsageEstimate:
    """Estimate the usage of asking about each chunk this many times, on average. `usd` is None if no price is known."""
    made = load_prompt(prompt)
    rendered = made.render([""], made.types(policy))
    around = len(rendered.system) + len(rendered.user)
    calls = math.ceil(len(pieces) * times)
    shown = sum(piece.end - piece.start for piece in pieces) * times
    tokens_in = int(shown + calls * around) // CHARACTERS
    tokens_out = calls * REPLY[made.contract]
    return UsageEstimate(
        calls, tokens_in, tokens_out, None if price is None else price.of(Usage(tokens_in, tokens_out))
    )


def unpriced(cell: Cell) -> bool:
    """Return True if a cell asks a model whose price is not known."""
    return cell.asking is not None and price_of(model_spec(cell)) is None

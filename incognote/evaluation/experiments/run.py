"""Run an experiment: cells in parallel, each written completely once it is finished. No reply is paid for twice."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from incognote.errors import ModelProblem
from incognote.evaluation.corpus import Gold
from incognote.evaluation.experiments.cell import Cell
from incognote.evaluation.experiments.meter import Metered, SharedModel, SpendingLedger, Waiting
from incognote.evaluation.experiments.plan import ExperimentPlan, model_spec
from incognote.evaluation.experiments.results import CellHead, ScoredLabel
from incognote.evaluation.experiments.tallies import figures, table
from incognote.files.atomic import exclusive, sweep
from incognote.llm.base import LanguageModel, Usage
from incognote.llm.opening import open_model
from incognote.llm.recording import Recorded, Recording
from incognote.sdk import Deidentifier

_BATCH = 32

Opened = Callable[[Cell], LanguageModel]
"""Opens the model of a cell."""
Watch = Callable[[Cell, int, int], None]
"""Called with a cell, the number of documents done, and their total. It is called from several threads."""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The result of a run.

    Attributes:
        finished, kept, unfinished: keys of the cells. `finished` were run now, and `kept` had results already.
            `unfinished` need another run, because a model did not answer or the budget is spent.
        paid, total: usage in this run, and in all runs of the experiment.
    """

    finished: tuple[str, ...]
    kept: tuple[str, ...]
    unfinished: tuple[str, ...]
    paid: Usage
    total: Usage


def run(plan: ExperimentPlan, *, opened: Opened | None = None, watch: Watch | None = None) -> RunOutcome:
    """Run the pending cells of a plan.

    Replies are stored in recordings, one per seed. They are encrypted with the configured key, or in clear if the
    corpus is synthetic. After a kill, the finished cells are kept, and recorded requests are not sent again.

    Args:
        opened: opens models; by default according to the settings, under their agreements.

    Raises:
        KeyMissing: a corpus is not synthetic, and no key is configured to encrypt its recording.
        EgressRefused, SettingError, MissingExtra: a model cannot be asked as configured.
        IncognoteError: another run is writing to the folder, or the disk is full.
    """
    folder = plan.results.folder
    with ExitStack() as stack:
        stack.enter_context(exclusive(folder, private=True))
        sweep(plan.results.cells)
        ledger = SpendingLedger(folder / "spent.jsonl", plan.spec.budget_usd, plan.spec.budget_tokens)
        work = _Work(plan, ledger, opened or (lambda cell: open_model(model_spec(cell))), watch)
        stack.callback(work.close)
        for cell in plan.pending:
            work.prepare(cell)
        done = work.all()
    kept = {cell.key for cell in plan.cells} - {cell.key for cell in plan.pending}
    return RunOutcome(
        tuple(key for key, whole in done.items() if whole),
        tuple(sorted(kept)),
        tuple(key for key, whole in done.items() if not whole),
        _less(ledger.spent, ledger.before),
        ledger.spent,
    )


class _Work:
    """The cells of one run, and the recordings they share."""

    def __init__(self, plan: ExperimentPlan, ledger: SpendingLedger, opened: Opened, watch: Watch | None) -> None:
        self._plan, self._ledger, self._opened, self._watch = plan, ledger, opened, watch
        self._recordings: dict[Path, Recording] = {}
        self._waiting: dict[Path, Waiting] = {}
        self._stop = threading.Event()

    def prepare(self, cell: Cell) -> None:
        """Open the recording of a cell, so that a missing key stops the run before any model is asked."""
        if cell.asking is None:
            return
        place = self._place(cell)
        if place not in self._recordings:
            self._waiting[place] = {}
            keyring = None if cell.corpus.synthetic else cell.settings.keyring(persistent=True)
            self._recordings[place] = Recording(place, keyring, plain=cell.corpus.synthetic)

    def _place(self, cell: Cell) -> Path:
        seed = cell.asking.seed if cell.asking else 0
        suffix = "jsonl" if cell.corpus.synthetic else "sealed"
        return self._plan.results.folder / "replies" / f"seed-{seed}.{suffix}"

    def all(self) -> dict[str, bool]:
        """Run all pending cells. Returns for each key whether it was finished. An error stops cells not yet started."""
        pool = ThreadPoolExecutor(self._plan.spec.jobs, thread_name_prefix="incognote-cell")
        try:
            started = {cell.key: pool.submit(self._one, cell) for cell in self._plan.pending}
            return {key: future.result() for key, future in started.items()}
        finally:
            self._stop.set()
            pool.shutdown(cancel_futures=True)

    def _one(self, cell: Cell) -> bool:
        gold = self._plan.gold[cell.corpus.name]
        meter = model = None
        if cell.asking is not None:
            meter = Metered(self._opened(cell), self._ledger, cell.key)
            place = self._place(cell)
            model = SharedModel(Recorded(meter, self._recordings[place]), self._waiting[place])
        with Deidentifier(model=model, **cell.words) as made:
            found = self._found(cell, gold, made, meter)
            if found is None or (meter is not None and meter.unserved):
                return False
            models = made.engine.models
            spent = models.budget.spent if models is not None else Usage()
        self._keep(cell, gold, found, spent, model.hits if model is not None else 0)
        return True

    def _found(
        self, cell: Cell, gold: tuple[Gold, ...], made: Deidentifier, meter: Metered | None
    ) -> list[tuple[ScoredLabel, ...] | str] | None:
        """Per document, the findings or a problem's code. None if the cell cannot be finished."""
        found: list[tuple[ScoredLabel, ...] | str] = []
        for at in range(0, len(gold), _BATCH):
            if self._stop.is_set() or (meter is not None and meter.unserved):
                return None
            for spans in made.detect_each([document.text for document in gold[at : at + _BATCH]]):
                if isinstance(spans, ModelProblem):
                    found.append(spans.code)
                else:
                    found.append(tuple(ScoredLabel(s.start, s.end, s.type, round(s.score, 4)) for s in spans))
            if self._watch is not None:
                self._watch(cell, len(found), len(gold))
        return found

    def _keep(
        self, cell: Cell, gold: tuple[Gold, ...], found: list[tuple[ScoredLabel, ...] | str], spent: Usage, hits: int
    ) -> None:
        labels = [() if isinstance(each, str) else [finding.label for finding in each] for each in found]
        opening = self._plan.openings.get(cell.corpus.name)
        head = CellHead(
            key=cell.key,
            label=cell.label,
            spec=self._plan.spec.hash,
            corpus={
                "name": cell.corpus.name,
                "path": self._plan.results.relative(cell.path),
                "synthetic": cell.corpus.synthetic,
                "split": cell.corpus.split,
                "documents": len(gold),
            },
            facts=cell.facts,
            scores={name: figure.as_dict() for name, figure in figures(table(gold, labels)).items()},
            taken={"calls": spent.calls, "from_recording": hits, "tokens_in": spent.input,
                   "tokens_out": spent.output, "usd": spent.usd},
            failed=sum(isinstance(each, str) for each in found),
            opening=None if opening is None else (opening.number, opening.hash),
        )  # fmt: skip
        self._plan.results.keep(head, [document.id for document in gold], found)

    def close(self) -> None:
        for recording in self._recordings.values():
            recording.close()


def _less(after: Usage, before: Usage) -> Usage:
    usd = None if after.usd is None or before.usd is None else after.usd - before.usd
    return Usage(
        after.input - before.input,
        after.output - before.output,
        after.cached - before.cached,
        after.calls - before.calls,
        usd,
    )

"""What is to be done for an experiment: the cells that have no results yet, their texts, and what it would cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from incognote.errors import SettingError
from incognote.evaluation.corpus import Gold
from incognote.evaluation.experiments.cell import Cell, cells
from incognote.evaluation.experiments.estimate import Estimate, estimate, unpriced
from incognote.evaluation.experiments.results import Results
from incognote.evaluation.experiments.seal import Opening, Seal, opened
from incognote.evaluation.experiments.spec import Spec, load
from incognote.evaluation.experiments.tallies import documents
from incognote.evaluation.lab.leaks import refuse_leak
from incognote.prompts.loader import load as load_prompt


@dataclass(frozen=True, slots=True)
class Plan:
    """An experiment, looked at but not begun.

    Attributes:
        cells: all of them; `pending` those without results.
        gold: by corpus name, of the pending cells.
        openings: by corpus name, what the seal has of this opening.
        estimate: of the pending cells.
    """

    spec: Spec
    results: Results
    cells: tuple[Cell, ...]
    pending: tuple[Cell, ...]
    gold: Mapping[str, tuple[Gold, ...]] = field(repr=False)
    openings: Mapping[str, Opening]
    estimate: Estimate

    @property
    def opened(self) -> dict[str, int]:
        """How often each test split was opened until now, by corpus name."""
        return opened({cell.corpus.name: cell.path for cell in self.cells if cell.corpus.split == "test"})


def plan(path: str | Path, folder: str | Path | None = None, *, purpose: str = "run", who: str | None = None) -> Plan:
    """Look at an experiment. A test split that pending cells need is opened, and that is logged.

    Args:
        path: the experiment's YAML.
        folder: for its results; beside the file, under its name, when not given.
        purpose, who: for the log.

    Raises:
        SettingError, UnknownName, PolicyProblem, UsageError: the experiment cannot be run as it is written; so where a
            prompt's examples quote texts that it would be scored on.
        IncognoteError: the log of a test split was altered.
    """
    place = Path(path)
    spec = load(place)
    made = cells(spec, place.parent)
    for corpus in spec.corpora:
        if corpus.split != "test" and Seal(place.parent / corpus.path).sealed:
            raise SettingError(f"corpora: a log of openings lies beside {corpus.name}: it is a test split, so say it")
    results = Results(Path(folder) if folder is not None else place.with_suffix(".results"))
    pending = [cell for cell in made if not results.has(cell.key)]
    if spec.budget_usd is not None and (unknown := next((cell for cell in pending if unpriced(cell)), None)):
        name = unknown.asking.model.name if unknown.asking else ""
        raise SettingError(f"budget_usd: no price is known for {name}: name a table (prices), or bound budget_tokens")
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
    total = Estimate()
    for cell in pending:
        total += estimate(cell, [document.text for document in gold[cell.corpus.name]])
    return Plan(spec, results, tuple(made), tuple(pending), gold, openings, total)

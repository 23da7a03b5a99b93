"""Format the figures as a page of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_SYSTEMS = {
    "embedded": "rules and encoder",
    "alone": "model only, all chunks",
    "all": "all three, all chunks",
    "routed": "routed",
}
_ORDERS = {
    "gold": "decided by the gold (the best possible result)",
    "expectation": "expected number of missed identifiers (in use)",
    "scores": "sum of the scores of doubts (used before this measurement)",
    "words": "longest chunks first",
}
_KINDS = {"doubt": "Doubt (multiplied by score²)", "alone": "Disagreement"}
_HALF = 0.5  # of the tokens
_MADE = (
    "`python -m incognote_benchmarks.routing --out docs/measured/routing.json` generates this page. The JSON file "
    "contains all of the figures."
)


def written(measured: Mapping[str, Any], curves: str | None, diagrams: str | None) -> str:
    """Return the page as Markdown.

    Args:
        curves, diagrams: the names of the pictures, or None.
    """
    runs = measured["runs"]
    pieces = ["# Routing results", _head(measured), _MADE]
    if curves is not None:
        pieces.append(f"![Recall kept versus tokens spent, on three sets of texts]({curves})")
    for key in ("recorded", "recorded_twice", "recorded_v1", "scripted", "scripted_dev_e"):
        pieces += [f"## {_title(runs[key])}", _systems(runs[key], measured["default"])]
    once = runs["recorded_once_of_twice"]
    pieces += [
        f"## {_title(once)}",
        "Chunks that are sent are read once. The result is compared with a run that reads everything twice.\n\n"
        + _systems(once, measured["default"], ("routed",)),
    ]
    pieces += ["## Thresholds", *(_sweep(runs[key]) for key in ("recorded", "scripted_dev_e"))]
    pieces += ["## A threshold chosen on half of the recorded texts", _halves(measured["halves"])]
    pieces += ["## Orderings", _orders(measured)]
    pieces += ["## Expected and observed", _missed(measured)]
    pieces += ["## Reliability of the scores", *_reliability(measured["reliability"]["corpora"])]
    if diagrams is not None:
        pieces.append(f"![Mean score versus the share of correct findings, in ten bins]({diagrams})")
    return "\n\n".join(pieces) + "\n"


def _head(measured: Mapping[str, Any]) -> str:
    bar, choosing = measured["bar"], measured["choosing"]
    fitted, in_force = choosing["weights"], choosing["in_force"]
    worth = [[told, f"{in_force[kind]}", _figure(fitted[kind])] for kind, told in _KINDS.items()]
    return (
        "All texts are synthetic. Recorded replies are real replies of a large language model to the pipeline's own "
        "prompts, which were replayed. For scripted replies, the gold is used as the model's answer. Tokens are those "
        f"of prompts and replies, counted with {measured['counted_with']}. The 95% intervals come from a bootstrap "
        "over texts. Characters are letters and digits, and entity types are ignored. A document does not leak if no "
        "letter or digit of its identifiers remains.\n\n"
        f"A chunk is sent if the expected number of missed identifiers is at least `missed` = {measured['default']}. "
        "Each doubt and each disagreement adds to this number. The weights were fitted on the "
        f"{fitted['texts']} texts without a recorded reply:\n\n"
        f"{_table(('', 'weight in use', 'fitted weight'), worth)}\n\n"
        f"A threshold of {choosing['threshold']} sends at most {_percent(choosing['share'])} of the tokens of those "
        f"texts that contain identifiers. For all of those texts, it is {choosing['threshold_over_all_texts']}. The "
        f"goal is {_percent(bar['recall'])} of a full run's recall with at most {_percent(bar['tokens'])} of its "
        "tokens."
    )


def _title(run: Mapping[str, Any]) -> str:
    return f"{run['title'][0].upper()}{run['title'][1:]}: {run['texts']} texts, {run['with_phi']} with identifiers"


def _systems(run: Mapping[str, Any], default: float, shown: Sequence[str] = tuple(_SYSTEMS)) -> str:
    columns = ("", "tokens", "recall", "vs. model only", "vs. all three", "spans found", "documents without a leak",
               "precision")  # fmt: skip
    names = ("recall", "of_alone", "of_all", "span_recall", "whole_documents", "precision")
    rows = []
    for system in shown:
        told = run["systems"][system]
        label = f"routed at {default}" if system == "routed" else _SYSTEMS[system]
        tokens = {"embedded": "0%", "routed": _interval(told["tokens"])}.get(system, "100%")
        rows.append([label, tokens, *(_figure(told[name]) for name in names)])
    share, passes = run["instructions"], " and ".join(f"{p} for {n} texts" for p, n in run["passes"].items())
    said = (
        f"Chunks sent: {run['chunks']['sent']} of {run['chunks']['all']}. Passes: {passes}. Instructions, which are "
        f"the same for every call, make up {_percent(share)} of the tokens."
    )
    return _table(columns, rows) + "\n\n" + said


def _sweep(run: Mapping[str, Any]) -> str:
    names = ("of_alone", "of_all", "whole_documents")
    rows = [
        [f"{of['threshold']}", str(of["chunks"]), _interval(of["tokens"]), *(_figure(of[name]) for name in names)]
        for of in run["sweep"]
    ]
    columns = ("`missed`", "chunks", "tokens", "recall vs. model only", "vs. all three", "documents without a leak")
    return f"{_title(run)}.\n\n" + _table(columns, rows)


def _halves(halves: Sequence[Mapping[str, Any]]) -> str:
    names = ("of_alone", "of_all", "whole_documents")
    rows = [
        [f"{of['threshold']}, on {of['chosen_on']}", str(of["texts"]), _interval(of["tokens"]),
         *(_figure(of[name]) for name in names)]
        for of in halves
    ]  # fmt: skip
    columns = (
        "chosen threshold",
        "measured on",
        "tokens",
        "recall vs. model only",
        "vs. all three",
        "documents without a leak",
    )
    return _table(columns, rows)


def _orders(measured: Mapping[str, Any]) -> str:
    limit, shown = measured["bar"]["tokens"], ("recorded", "scripted", "scripted_dev_e")
    runs = measured["runs"]
    rows = []
    for name, told in _ORDERS.items():
        curves = [runs[key]["curves"][name] for key in shown]
        rows.append([told, *(f"{_kept(curve, limit):.4f}, {_regained(curve):.2f}" for curve in curves)])
    start = [runs[key]["curves"]["expectation"][0] for key in shown]
    rows.append(["nothing sent", *(f"{point['of_all']:.4f}, 0" for point in start)])
    said = (
        "Each cell has two figures. The first is the recall relative to all three, with at most "
        f"{_percent(limit)} of the tokens. The second is the share of the characters missed by the rules and the "
        "encoder that the ordering regains. It is the mean over all budgets of up to half of the tokens."
    )
    return said + "\n\n" + _table(("", *(runs[key]["title"] for key in shown)), rows)


def _kept(curve: Sequence[Mapping[str, float]], limit: float) -> float:
    return max(point["of_all"] for point in curve if point["tokens"] <= limit)


def _regained(curve: Sequence[Mapping[str, float]]) -> float:
    start = curve[0]["of_all"]
    budgets = np.linspace(0, _HALF, 101)
    kept = np.interp(budgets, [point["tokens"] for point in curve], [point["of_all"] for point in curve])
    return float((kept.mean() - start) / (1 - start)) if start < 1 else 1.0


def _missed(measured: Mapping[str, Any]) -> str:
    rows = []
    for key in ("scripted", "recorded"):
        run = measured["runs"][key]
        told = run["missed"]
        observed = told["observed"]
        thirds = [f"{t['expected']:.1f} → {t['observed']}" for t in told["thirds"]]
        seen = f"{observed['value']} [{observed['low']:.0f}, {observed['high']:.0f}]"
        rows.append([run["title"], f"{told['expected']:.1f}", seen, *thirds])
    said = (
        "The table counts identifiers of which the rules and the encoder leave at least one letter or digit. The last "
        "three columns divide the texts into thirds by the number that was expected, and show expected → observed. The "
        "weights were fitted on the scripted replies."
    )
    columns = ("", "expected", "observed", "lowest third", "middle", "highest")
    return _table(columns, rows) + "\n\n" + said


def _reliability(corpora: Mapping[str, Mapping[str, Any]]) -> list[str]:
    pieces = []
    rows = [
        [
            corpus,
            system,
            str(told["findings"]),
            _figure(told["error"]),
            *(f"{told[k]:.3f}" for k in ("largest", "brier")),
        ]
        for corpus, systems in corpora.items()
        for system, told in systems.items()
    ]
    pieces.append(
        _table(("texts", "scores of", "findings", "expected calibration error", "largest gap", "Brier score"), rows)
    )
    for corpus, systems in corpora.items():
        rows = []
        for low in range(10):
            cells = [
                "".join(_bin(one) for one in told["bins"] if round(one["low"] * 10) == low) for told in systems.values()
            ]
            rows.append([f"{low / 10:.1f} to {(low + 1) / 10:.1f}", *cells])
        pieces.append(f"{corpus}: mean score → share of correct findings\n\n" + _table(("score", *systems), rows))
    return pieces


def _bin(one: Mapping[str, Any]) -> str:
    return f"{one['score']:.2f} → {_figure(one['right'])}, n = {one['right']['of']}"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _figure(of: Mapping[str, Any]) -> str:
    if of["value"] is None:
        return ""
    return f"{of['value']:.3f}" + ("" if of["low"] is None else f" [{of['low']:.3f}, {of['high']:.3f}]")


def _interval(of: Mapping[str, Any]) -> str:
    """Format a share as a percentage with its interval."""
    value, low, high = (100 * (of[key] or 0.0) for key in ("value", "low", "high"))
    return f"{value:.0f}% [{low:.0f}, {high:.0f}]"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"

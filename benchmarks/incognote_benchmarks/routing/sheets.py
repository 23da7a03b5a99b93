"""Format the figures as a page of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_SYSTEMS = {
    "embedded": "rules and encoder",
    "alone": "the model alone, all chunks",
    "all": "all three, all chunks",
    "routed": "routed",
}
_ORDERS = {
    "gold": "the gold decides (no router can do better)",
    "expectation": "identifiers expected to be missed (in force)",
    "scores": "the sum of the scores of doubts (until this was measured)",
    "words": "the longest chunks first",
}
_KINDS = {"doubt": "a doubt counts score² ×", "alone": "a disagreement"}
_HALF = 0.5  # of the tokens
_MADE = "Made by `python -m incognote_benchmarks.routing --out docs/measured/routing.json`; all figures are there."


def written(measured: Mapping[str, Any], curves: str | None, diagrams: str | None) -> str:
    """Return the page as Markdown.

    Args:
        curves, diagrams: the names of the pictures, or None.
    """
    runs = measured["runs"]
    pieces = ["# Routing, measured", _head(measured), _MADE]
    if curves is not None:
        pieces.append(f"![Recall kept against tokens spent, on three sets of texts]({curves})")
    for key in ("recorded", "recorded_twice", "recorded_v1", "scripted", "scripted_dev_e"):
        pieces += [f"## {_title(runs[key])}", _systems(runs[key], measured["default"])]
    once = runs["recorded_once_of_twice"]
    pieces += [
        f"## {_title(once)}",
        "What is sent is read once, and is compared with a run that reads everything twice.\n\n"
        + _systems(once, measured["default"], ("routed",)),
    ]
    pieces += ["## Thresholds", *(_sweep(runs[key]) for key in ("recorded", "scripted_dev_e"))]
    pieces += ["## A threshold chosen on one half of the recorded texts", _halves(measured["halves"])]
    pieces += ["## Orderings", _orders(measured)]
    pieces += ["## Expected and observed", _missed(measured)]
    pieces += ["## Reliability of the scores", *_reliability(measured["reliability"]["corpora"])]
    if diagrams is not None:
        pieces.append(f"![Mean score against the share that is right, ten bins]({diagrams})")
    return "\n\n".join(pieces) + "\n"


def _head(measured: Mapping[str, Any]) -> str:
    bar, choosing = measured["bar"], measured["choosing"]
    fitted, in_force = choosing["weights"], choosing["in_force"]
    worth = "; ".join(f"{told} {in_force[kind]}, fitted {_figure(fitted[kind])}" for kind, told in _KINDS.items())
    return (
        "All texts are synthetic. Recorded: real replies of a large language model to the pipeline's own prompts, "
        "replayed. Scripted: the gold as the model's answer. Tokens are those of prompts and replies, counted with "
        f"{measured['counted_with']}. 95% intervals by a bootstrap over texts. Characters are letters and digits, "
        "types are not compared; a document is whole where no letter or digit of its gold is left.\n\n"
        f"A chunk is sent from `missed` = {measured['default']} on. In force, and fitted on the {fitted['texts']} "
        f"texts without a recorded reply: {worth}. The threshold that sends at most {_percent(choosing['share'])} of "
        f"the tokens of those that hold identifiers: {choosing['threshold']} (of all of them: "
        f"{choosing['threshold_over_all_texts']}). The bar: {_percent(bar['recall'])} of a full run's recall for at "
        f"most {_percent(bar['tokens'])} of its tokens."
    )


def _title(run: Mapping[str, Any]) -> str:
    return f"{run['title'][0].upper()}{run['title'][1:]}: {run['texts']} texts, {run['with_phi']} with identifiers"


def _systems(run: Mapping[str, Any], default: float, shown: Sequence[str] = tuple(_SYSTEMS)) -> str:
    columns = ("", "tokens", "recall", "of the model's alone", "of all three", "spans touched", "documents whole",
               "precision")  # fmt: skip
    names = ("recall", "of_alone", "of_all", "span_recall", "whole_documents", "precision")
    rows = []
    for system in shown:
        told = run["systems"][system]
        label = f"routed at {default}" if system == "routed" else _SYSTEMS[system]
        tokens = {"embedded": "0%", "routed": _interval(told["tokens"])}.get(system, "100%")
        rows.append([label, tokens, *(_figure(told[name]) for name in names)])
    share, passes = run["instructions"], " and ".join(f"{n} in {p}" for p, n in run["passes"].items())
    said = (
        f"Chunks sent: {run['chunks']['sent']} of {run['chunks']['all']}. Texts by passes: {passes}. "
        f"{_percent(share)} of the tokens are instructions, the same for every call."
    )
    return _table(columns, rows) + "\n\n" + said


def _sweep(run: Mapping[str, Any]) -> str:
    names = ("of_alone", "of_all", "whole_documents")
    rows = [
        [f"{of['threshold']}", str(of["chunks"]), _interval(of["tokens"]), *(_figure(of[name]) for name in names)]
        for of in run["sweep"]
    ]
    columns = ("`missed`", "chunks", "tokens", "recall of the model's alone", "of all three", "documents whole")
    return f"{_title(run)}.\n\n" + _table(columns, rows)


def _halves(halves: Sequence[Mapping[str, Any]]) -> str:
    names = ("of_alone", "of_all", "whole_documents")
    rows = [
        [f"{of['threshold']}, on {of['chosen_on']}", str(of["texts"]), _interval(of["tokens"]),
         *(_figure(of[name]) for name in names)]
        for of in halves
    ]  # fmt: skip
    columns = ("chosen", "measured on", "tokens", "recall of the model's alone", "of all three", "documents whole")
    return _table(columns, rows)


def _orders(measured: Mapping[str, Any]) -> str:
    limit, shown = measured["bar"]["tokens"], ("recorded", "scripted", "scripted_dev_e")
    runs = measured["runs"]
    rows = []
    for name, told in _ORDERS.items():
        curves = [runs[key]["curves"][name] for key in shown]
        rows.append([told, *(f"{_kept(curve, limit):.4f}, {_regained(curve):.2f}" for curve in curves)])
    start = [runs[key]["curves"]["expectation"][0] for key in shown]
    rows.append(["nothing is sent", *(f"{point['of_all']:.4f}, 0" for point in start)])
    said = (
        f"What each ordering keeps of all three's characters for at most {_percent(limit)} of the tokens; and of what "
        "rules and encoder miss the share that it regains, the mean over all budgets up to half of the tokens."
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
        "Identifiers of which rules and encoder leave a letter or digit. The thirds are of the texts, by what was "
        "expected of each: expected → observed. Fitted on the scripted ones."
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
        _table(("texts", "scores of", "findings", "expected calibration error", "largest gap", "Brier"), rows)
    )
    for corpus, systems in corpora.items():
        rows = []
        for low in range(10):
            cells = [
                "".join(_bin(one) for one in told["bins"] if round(one["low"] * 10) == low) for told in systems.values()
            ]
            rows.append([f"{low / 10:.1f} to {(low + 1) / 10:.1f}", *cells])
        pieces.append(f"{corpus}: mean score → share right\n\n" + _table(("score", *systems), rows))
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

"""Format the figures as a page of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SYSTEMS = {"embedded": "rules and encoder", "alone": "model only, all chunks", "all": "all three, all chunks"}
ORDERS = {
    "value": "expected gain per token (in use)",
    "doubts": "expected missed identifiers (in use before)",
    "words": "longest chunks first",
    "random": "random",
    "gold": "best possible, for whole documents",
    "gold_characters": "best possible, for characters",
}
_MADE = (
    "`python -m incognote_benchmarks.routing --out docs/measured/routing.json` generates this page. The JSON file "
    "contains all of the figures."
)
_SETS = (
    "The texts of five files are divided by their style into questions (with searches) and notes. The set *half with "
    "errors* has all texts in which rules and encoder leave an identifier. It also has as many other texts with "
    "identifiers, chosen by a hash of their ids. These sets overlap. Their texts are scored with weights that were "
    "fitted without them (cross-validation in ten folds of texts). The files `dev_i` and `dev_long` were not used for "
    "fitting."
)


def written(measured: Mapping[str, Any], curves: str | None, diagrams: str | None) -> str:
    """Return the page as Markdown.

    Args:
        curves, diagrams: the names of the pictures, or None.
    """
    pieces = ["# Routing results", _head(measured), _MADE]
    if curves is not None:
        pieces.append(f"![Recall and whole documents versus tokens spent]({curves})")
    pieces += ["## Constants", _constants(measured["fit"]), "## Figures", _SETS]
    for title, run in measured["sets"].items():
        pieces += [f"### {title[0].upper()}{title[1:]}", _counts(run), _systems(run), _orders(run), _settings(run)]
    pieces += ["## Reliability of the scores", *_reliability(measured["reliability"]["corpora"])]
    if diagrams is not None:
        pieces.append(f"![Mean score versus the share of correct findings, in ten bins]({diagrams})")
    return "\n\n".join(pieces) + "\n"


def _head(measured: Mapping[str, Any]) -> str:
    return (
        "All texts are synthetic. Recorded replies are real replies of a large language model to `extract/v3`, which "
        "were replayed. For texts without a recorded reply, the gold is used as the model's answer, which stands for a "
        "model that makes no mistake. Each chunk is read once, and the model's silence counts (`veto`) in the chunks "
        f"that it reads. Tokens are those of prompts and replies, counted with {measured['counted_with']}. The 95% "
        "intervals come from a bootstrap over texts. Characters are letters and digits, and entity types are ignored. "
        "A document is whole if no letter or digit of its identifiers remains."
    )


def _constants(fit: Mapping[str, Any]) -> str:
    used = fit["in_use"]
    weights = [[name, f"{used['weights'][name]}", _figure(value)] for name, value in fit["weights"].items()]
    values = [
        [_percent(share), *(f"{used['values'][kind][i]} ({fit['values'][kind][i]:.3f})" for kind in (0, 1))]
        for i, share in enumerate(fit["shares"])
    ]
    constant, word = fit["tokens"]
    return (
        f"The weights were fitted on {fit['texts']} texts, of which {fit['recorded']} have a recorded reply. Sending "
        f"makes {fit['gained']} of them whole.\n\n"
        + _table(("", "weight in use", "fitted weight"), weights)
        + f"\n\nA call takes {constant:.0f} tokens and {word:.2f} for each word. To use a share of the tokens, a call "
        "must have at least this value, in whole documents per 1,000 tokens (fitted values in parentheses):\n\n"
        + _table(("share", "chunks of up to 64 words", "longer chunks"), values)
    )


def _counts(run: Mapping[str, Any]) -> str:
    return (
        f"{run['texts']} texts in {run['chunks']} chunks, {run['with_identifiers']} texts with identifiers, "
        f"{run['recorded']} with recorded replies."
    )


def _systems(run: Mapping[str, Any]) -> str:
    names = ("recall", "of_all", "whole", "precision")
    rows = [[SYSTEMS[key], *(_figure(run["systems"][key][name]) for name in names)] for key in SYSTEMS]
    return _table(("", "recall", "vs. all three", "whole documents", "precision"), rows)


def _orders(run: Mapping[str, Any]) -> str:
    shares = [share for share in next(iter(run["orders"].values())) if share != "0.5"]
    rows = []
    for name, label in ORDERS.items():
        cells = []
        for what in ("of_all", "whole"):
            for share in shares:
                if name == "random":
                    low, high = (run["systems"][key][what]["value"] for key in ("embedded", "all"))
                    cells.append(f"{low + float(share) * (high - low):.3f}")
                else:
                    cells.append(_figure(run["orders"][name][share][what]))
        rows.append([label, *cells])
    columns = [f"{what} at {_percent(float(share))}" for what in ("recall", "whole") for share in shares]
    said = (
        "The chunks of this set that come first in an ordering, up to a share of the tokens of the set. Recall is "
        "relative to all three on all chunks. A random ordering is shown with its expected figures."
    )
    return said + "\n\n" + _table(("ordering", *columns), rows)


def _settings(run: Mapping[str, Any]) -> str:
    names = ("of_all", "whole", "precision")
    rows = [
        [f"`{share}`", _interval(figures["tokens"]), *(_figure(figures[name]) for name in names)]
        for share, figures in run["settings"].items()
    ]
    return _table(("`share`", "tokens used", "recall vs. all three", "whole documents", "precision"), rows)


def _reliability(corpora: Mapping[str, Mapping[str, Any]]) -> list[str]:
    pieces = []
    rows = [
        [corpus, system, str(of["findings"]), _figure(of["error"]), *(f"{of[k]:.3f}" for k in ("largest", "brier"))]
        for corpus, systems in corpora.items()
        for system, of in systems.items()
    ]
    pieces.append(
        _table(("texts", "scores of", "findings", "expected calibration error", "largest gap", "Brier score"), rows)
    )
    for corpus, systems in corpora.items():
        rows = []
        for low in range(10):
            cells = ["".join(_bin(b) for b in of["bins"] if round(b["low"] * 10) == low) for of in systems.values()]
            rows.append([f"{low / 10:.1f} to {(low + 1) / 10:.1f}", *cells])
        pieces.append(f"{corpus}: mean score → share of correct findings\n\n" + _table(("score", *systems), rows))
    return pieces


def _bin(scores: Mapping[str, Any]) -> str:
    return f"{scores['score']:.2f} → {_figure(scores['right'])}, n = {scores['right']['of']}"


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

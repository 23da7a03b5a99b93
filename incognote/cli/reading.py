"""What language models did in a run, and what it cost: for people, for programs and for the run's manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from incognote.runs.units import counted, dollars

if TYPE_CHECKING:
    from incognote.runs.tally import Readings
    from incognote.sdk import Deidentifier


def spent(made: Deidentifier) -> dict[str, Any] | None:
    """What the models of a Deidentifier have taken until now; None without a model.

    Returns:
        calls (those answered by the recording are not among them), tokens_in, tokens_out, cached (of those in), usd
        (None where a price is unknown) and from_recording (answers).
    """
    models = made.engine.models
    if models is None:
        return None
    usage = models.budget.spent
    return {
        "calls": usage.calls,
        "from_recording": made.hits,
        "tokens_in": usage.input,
        "tokens_out": usage.output,
        "cached": usage.cached,
        "usd": usage.usd,
    }


def told(readings: Readings, taken: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """All of it as JSON holds it; no PHI. None without a model.

    Args:
        taken: from `spent`.
    """
    if taken is None:
        return None
    return {
        **readings.facts,
        "records": readings.records,
        "texts_by_route": dict(sorted(readings.texts.items())),
        "chunks": readings.chunks,
        "passes_made": readings.passes,
        **taken,
        "tokens_in_per_note": _mean(taken["tokens_in"], readings.records),
        "tokens_out_per_note": _mean(taken["tokens_out"], readings.records),
        "placed": dict(sorted(readings.placed.items())),
        "silent": readings.silent,
        "silent_released": readings.silent_released,
        "unanswered": dict(sorted(readings.unanswered.items())),
    }


def played(made: Deidentifier) -> dict[str, Any]:
    """What a model did that plays agents of relexicalization, for a report: {"agents": …}; else nothing.

    Not of a run over several processes, which tell what they spent and no more.
    """
    tools = made.engine
    told = tools.relexing.agents.counts() if tools.has_agents and not tools.settings.processes else None
    return {} if told is None else {"agents": told}


def report(readings: Readings, made: Deidentifier) -> dict[str, Any] | None:
    """`told`, with what a model did that plays agents."""
    found = told(readings, spent(made))
    return None if found is None else {**found, **played(made)}


def rows(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The table for a terminal.

    Args:
        report: from `told`.
    """
    from incognote.cli.shell import remedies

    if "names" in report:
        prompt = report["prompt"]
        votes = f", {report['votes']} votes, {report['vote_rule']}" if report["votes"] > 1 else ""
        yield "language model", ", ".join(report["names"])
        yield "  prompt", f"{prompt['name']} {prompt['version']}, {report['passes']} passes{votes}"
    if "names" in report or "agents" not in report:
        yield "  texts by route", _counts(report["texts_by_route"])
        yield "  chunks", f"{report['chunks']:,} read in {report['passes_made']:,} passes"
    yield "  calls", f"{report['calls']:,}{_hits(report)}"
    yield "  tokens", _tokens(report, report["records"])
    yield "  cost", dollars(report["usd"])
    if "names" in report or "agents" not in report:
        yield "  mentions placed", _counts(report["placed"])
    if report["silent"]:
        yield "  nothing named in", f"{report['silent']:,} texts, {report['silent_released']:,} of them released"
    for name, did in report.get("agents", {}).items():
        yield f"  agent {name}", _did(did)
    for code, count in report["unanswered"].items():
        remedy = remedies().get(code, "")
        yield "  chunks not answered", f"{count:,} {code}" + (f": {remedy}" if remedy else "")


def line(taken: Mapping[str, Any], notes: int) -> str:
    """The same on one line, for where the standard output is taken.

    Args:
        taken: from `spent`.
        notes: how many texts were read.
    """
    calls = f"{counted(taken['calls'], 'call')}{_hits(taken)}"
    return f"language model: {counted(notes, 'text')}, {calls}, tokens {_tokens(taken, notes)}, {dollars(taken['usd'])}"


def _did(did: Mapping[str, Any]) -> str:
    """What an agent of relexicalization did."""
    calls = f"{counted(did['calls'], 'call')}, tokens in {did['tokens_in']:,}, out {did['tokens_out']:,}"
    codes = _counts(did["stood_in"])
    return calls + (f"; replaced by the embedded agent: {codes}" if did["stood_in"] else "")


def _hits(taken: Mapping[str, Any]) -> str:
    return f" ({taken['from_recording']:,} more from the recording)" if taken["from_recording"] else ""


def _tokens(taken: Mapping[str, Any], notes: int) -> str:
    tokens_in, tokens_out = taken["tokens_in"], taken["tokens_out"]
    return (
        f"in {tokens_in:,} ({_mean(tokens_in, notes):,.0f} per note), "
        f"out {tokens_out:,} ({_mean(tokens_out, notes):,.0f} per note)"
    )



def _counts(found: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in found.items()) or "none"


def _mean(total: int, count: int) -> float:
    return round(total / count, 1) if count else 0.0

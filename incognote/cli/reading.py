"""Reports of language model usage and cost, for the terminal, for JSON, and for the manifest."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from incognote.runs.units import counted, dollars, passes_shown

if TYPE_CHECKING:
    from incognote.runs.tally import Readings
    from incognote.sdk import Deidentifier


def spent(made: Deidentifier) -> dict[str, Any] | None:
    """Return the usage of the models of a Deidentifier so far; None without a model.

    Returns:
        calls (without answers from the recording), tokens_in, tokens_out, cached (a part of tokens_in), usd (None if a
        price is unknown), and from_recording (number of answers).
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
    """Return the full report as data for JSON, without PHI; None without a model.

    Args:
        taken: the result of `spent`.
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
        "left_out": sorted(readings.left_out),
        "unanswered": dict(sorted(readings.unanswered.items())),
    }


def played(made: Deidentifier) -> dict[str, Any]:
    """Return {"agents": …} if a model runs relexicalization agents, or else an empty dict.

    It is also empty for a run over several processes, which report only their usage.
    """
    tools = made.engine
    counts = tools.relexing.agents.counts() if tools.has_agents and not tools.settings.processes else None
    return {} if counts is None else {"agents": counts}


def report(readings: Readings, made: Deidentifier) -> dict[str, Any] | None:
    """Return the report of `told`, with the counts of agents that a model runs."""
    found = told(readings, spent(made))
    return None if found is None else {**found, **played(made)}


def rows(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the rows of the table for the terminal.

    Args:
        report: the result of `told`.
    """
    from incognote.cli.shell import remedies

    if "names" in report:
        prompt = report["prompt"]
        votes = f", {report['votes']} votes, {report['vote_rule']}" if report["votes"] > 1 else ""
        yield "language model", ", ".join(report["names"])
        yield "  prompt", f"{prompt['name']} {prompt['version']}, {passes_shown(report['passes'])}{votes}"
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
    if report["left_out"]:
        yield "  not supported", omissions(report["left_out"])
    for name, did in report.get("agents", {}).items():
        yield f"  agent {name}", _did(did)
    for code, count in report["unanswered"].items():
        remedy = remedies().get(code, "")
        yield "  chunks not answered", f"{count:,} {code}" + (f": {remedy}" if remedy else "")


def line(taken: Mapping[str, Any], notes: int) -> str:
    """Return the report as one line, for commands that use standard output for results.

    Args:
        taken: the result of `spent`.
        notes: the number of texts that were read.
    """
    calls = f"{counted(taken['calls'], 'call')}{_hits(taken)}"
    return f"language model: {counted(notes, 'text')}, {calls}, tokens {_tokens(taken, notes)}, {dollars(taken['usd'])}"


def omissions(left_out: Collection[str]) -> str:
    """Describe the features that a model's endpoint rejects."""
    words = [name for name in sorted(left_out) if name not in ("json_schema", "response_format")]
    if "response_format" in left_out:
        words.append("response_format (replies are not constrained)")
    elif "json_schema" in left_out:
        words.append("JSON schemas (any JSON object was requested instead)")
    return ", ".join(words)


def _did(did: Mapping[str, Any]) -> str:
    """Describe the calls of a relexicalization agent."""
    calls = f"{counted(did['calls'], 'call')}, tokens in {did['tokens_in']:,}, out {did['tokens_out']:,}"
    codes = _counts(did["stood_in"])
    return calls + (f"; replaced by the embedded agent: {codes}" if did["stood_in"] else "")


def _hits(taken: Mapping[str, Any]) -> str:
    return f" ({taken['from_recording']:,} more from the recording)" if taken["from_recording"] else ""


def _tokens(taken: Mapping[str, Any], notes: int) -> str:
    tokens_in, tokens_out = taken["tokens_in"], taken["tokens_out"]
    cached = f"{taken['cached']:,} cached, " if taken["cached"] else ""
    return (
        f"in {tokens_in:,} ({cached}{_mean(tokens_in, notes):,.0f} per note), "
        f"out {tokens_out:,} ({_mean(tokens_out, notes):,.0f} per note)"
    )



def _counts(found: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in found.items()) or "none"


def _mean(total: int, count: int) -> float:
    return round(total / count, 1) if count else 0.0

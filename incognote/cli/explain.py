"""`incognote index explain`: why the mentions of an identity are one person. It shows no words unless asked."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.key import own_settings
from incognote.cli.reveal import Asked, held, permitted
from incognote.cli.shell import say
from incognote.cli.tables import print_table

if TYPE_CHECKING:
    from incognote.relex.explaining import Explanation
    from incognote.relex.index.nouns import IndexedIdentity
    from incognote.relex.nouns import MentionVariant
    from incognote.settings import Settings


def explain(
    surrogate: Annotated[
        str | None,
        typer.Argument(help="The surrogate as written, such as Kevin Chang.", metavar="SURROGATE", show_default=False),
    ] = None,
    identity: Annotated[
        str | None, typer.Option(help="Explain this identity instead of a surrogate's.", metavar="ID")
    ] = None,
    patient_file: options.PatientFile = None,
    originals: Annotated[
        bool, typer.Option("--originals", help="Also show the words and records. Like `reveal`, this needs --why.")
    ] = False,
    why: Annotated[str, typer.Option(help="The reason, for the audit file. Only with --originals.")] = "",
    who: Annotated[str | None, typer.Option(help="Your name, in addition to the account name.", metavar="NAME")] = None,
    audit: Annotated[
        str | None,
        typer.Option(help="The audit file. Default: reveals.jsonl in the home folder of incognote.", metavar="FILE"),
    ] = None,
    approval: Annotated[
        str | None, typer.Option(help="The id of a request that another person approved.", metavar="ID")
    ] = None,
    index: options.Index = None,
    domain: options.Domain = None,
    policy: Annotated[
        str | None,
        typer.Option(help="The policy whose `reveal` setting applies to --originals.", metavar="NAME|FILE"),
    ] = None,
    as_json: options.AsJson = False,
    config: options.Config = None,
    key_file: options.KeyFile = None,
) -> None:
    """Show the mentions of an identity, and for each one the reason why it is the same person as another.

    Mentions are shown as labels, such as PATIENT 2. With --originals, their words and records are shown too. The same
    rules apply as for `incognote reveal`, and the request is written to the audit file first.

    Example:
        incognote index explain --identity ID
    """
    from incognote.errors import UsageError
    from incognote.relex.cluster.reasons import REASONS

    settings = own_settings(config, key_file, persistent=False, index=index)
    asked = Asked(surrogate, identity, patient_file, domain or settings.domain)
    if originals:
        entry = permitted(settings, asked, why=why, who=who, audit=audit, approval=approval, policy=policy)
        asked = Asked(None, entry.id, None, asked.domain)
    found = asyncio.run(_explained(settings, asked))
    if found is None:
        raise UsageError(
            "No identity has this surrogate or ID. Name the patient with --patient-file, or the domain with --domain."
        )
    entry, told = found
    labels = _labels(told.mentions)
    records = {record: at for at, record in enumerate(dict.fromkeys(v.record for v in told.mentions), 1)}
    shown_by = _rooted(told)
    rows = []
    for one in told.mentions:
        other, reason = shown_by.get(one, (None, ""))
        row = {
            "mention": labels[one],
            **({"words": one.words} if originals else {}),
            "record": one.record if originals else str(records[one.record]),
            "type from": "annotation" if not one.hints.guessed else "detector",
            "text says": one.hints.role,
            "same as": labels[other] if other else "",
            "because": REASONS[reason] if other else "",
        }
        rows.append(row)
    if as_json:
        say("index explain", {"identity": entry.id, "type": entry.type, "mentions": rows})
        return
    print_table(tuple(rows[0]) if rows else ("mention",), [tuple(row.values()) for row in rows])
    typer.echo(_summary(entry, told))


def _rooted(told: Explanation) -> dict[MentionVariant, tuple[MentionVariant, str]]:
    """For each mention but the first of its group, the mention it is joined to on the way to the first, and why."""
    near: dict[MentionVariant, list[tuple[MentionVariant, str]]] = defaultdict(list)
    for join in told.joins:
        near[join.mention].append((join.other, join.reason))
        near[join.other].append((join.mention, join.reason))
    shown_by: dict[MentionVariant, tuple[MentionVariant, str]] = {}
    seen: set[MentionVariant] = set()
    for root in told.mentions:
        waiting = [] if root in seen else [root]
        seen.add(root)
        while waiting:
            one = waiting.pop(0)
            for other, reason in near[one]:
                if other not in seen:
                    seen.add(other)
                    shown_by[other] = one, reason
                    waiting.append(other)
    return shown_by


def _labels(mentions: tuple[MentionVariant, ...]) -> dict[MentionVariant, str]:
    """Number the mentions of each type."""
    counts: Counter[str] = Counter()
    labels = {}
    for one in mentions:
        counts[one.type] += 1
        labels[one] = f"{one.type} {counts[one.type]}"
    return labels


def _summary(entry: IndexedIdentity, told: Explanation) -> str:
    open_ = len(told.mentions) - len(told.joins) - 1
    if entry.hand:
        return "A person merged or split this identity."
    if entry.place.group != "PERSON":
        return "The mentions have the same normal form, such as the same number or address."
    if open_ > 0:
        return f"{open_:,} mentions have no reason of the embedded clusterer. A model, or an earlier state, decided."
    return f"{len(told.mentions):,} mentions, {len(told.joins):,} joins."


async def _explained(settings: Settings, asked: Asked) -> tuple[IndexedIdentity, Explanation] | None:
    from incognote.relex.explaining import explained
    from incognote.relex.index.opening import open_configured

    async with await open_configured(settings) as index:
        entry = await held(index, asked)
        return None if entry is None else (entry, await explained(index, entry))

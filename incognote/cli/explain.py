"""`incognote index explain`: why the mentions of an identity are one person. It shows no words unless asked."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.permitting import AskedIdentity
from incognote.cli.reveal import UNKNOWN, Why, held, permitted
from incognote.cli.shell import say
from incognote.cli.tables import print_table

if TYPE_CHECKING:
    from incognote.relex.explaining import Explanation
    from incognote.relex.index.nouns import IndexedIdentity
    from incognote.relex.nouns import MentionVariant
    from incognote.settings import Settings


@options.takes_all
def explain(
    originals: Annotated[
        bool, typer.Option("--originals", help="Also show the words and records. Like `reveal`, this needs --why.")
    ] = False,
    why: Why = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON. It holds no PHI without --originals.")
    ] = False,
    *,
    asked: AskedIdentity,
) -> None:
    """Show the mentions of an identity, and for each one the reason why it is the same person as another.

    Mentions are shown as labels, such as PATIENT 2. With --originals, their words and records are shown too. The same
    rules apply as for `incognote reveal`, and the request is written to the audit file first.

    Example:
        incognote index explain --identity ID
    """
    from incognote.errors import UsageError
    from incognote.relex.cluster.reasons import REASONS

    settings = asked.settings()
    if originals:
        asked = AskedIdentity(identity=permitted(settings, asked, why).id)
    answer = asyncio.run(_explained(settings, asked))
    if answer is None:
        raise UsageError(UNKNOWN)
    entry, explanation = answer
    labels = _labels(explanation.mentions)
    records = {record: at for at, record in enumerate(dict.fromkeys(v.record for v in explanation.mentions), 1)}
    links = _links(explanation)
    rows = []
    for mention in explanation.mentions:
        other, reason = links.get(mention, (None, ""))
        row = {
            "mention": labels[mention],
            **({"words": mention.words} if originals else {}),
            "record": mention.record if originals else str(records[mention.record]),
            "type from": "annotation" if not mention.hints.guessed else "detector",
            "text says": mention.hints.role,
            "same as": labels[other] if other else "",
            "because": REASONS[reason] if other else "",
        }
        rows.append(row)
    if as_json:
        say("index explain", {"identity": entry.id, "type": entry.type, "mentions": rows})
        return
    print_table(tuple(rows[0]) if rows else ("mention",), [tuple(row.values()) for row in rows])
    typer.echo(_summary(entry, explanation))


def _links(explanation: Explanation) -> dict[MentionVariant, tuple[MentionVariant, str]]:
    """For each mention but the first of its group, the mention it is joined to on the way to the first, and why."""
    near: dict[MentionVariant, list[tuple[MentionVariant, str]]] = defaultdict(list)
    for join in explanation.joins:
        near[join.mention].append((join.other, join.reason))
        near[join.other].append((join.mention, join.reason))
    links: dict[MentionVariant, tuple[MentionVariant, str]] = {}
    seen: set[MentionVariant] = set()
    for root in explanation.mentions:
        waiting = [] if root in seen else [root]
        seen.add(root)
        while waiting:
            mention = waiting.pop(0)
            for other, reason in near[mention]:
                if other not in seen:
                    seen.add(other)
                    links[other] = mention, reason
                    waiting.append(other)
    return links


def _labels(mentions: tuple[MentionVariant, ...]) -> dict[MentionVariant, str]:
    """Number the mentions of each type."""
    counts: Counter[str] = Counter()
    labels = {}
    for mention in mentions:
        counts[mention.type] += 1
        labels[mention] = f"{mention.type} {counts[mention.type]}"
    return labels


def _summary(entry: IndexedIdentity, explanation: Explanation) -> str:
    mentions, joins = len(explanation.mentions), len(explanation.joins)
    unexplained = mentions - joins - 1
    if entry.hand:
        return "A person merged or split this identity."
    if entry.place.group != "PERSON":
        return "The mentions have the same normal form, such as the same number or address."
    if unexplained > 0:
        return f"{unexplained:,} joined by a model or an earlier run. The embedded clusterer has no reason for them."
    return f"{mentions:,} mention{'s' * (mentions != 1)}, {joins:,} join{'s' * (joins != 1)}."


async def _explained(settings: Settings, asked: AskedIdentity) -> tuple[IndexedIdentity, Explanation] | None:
    from incognote.relex.explaining import explained
    from incognote.relex.index.opening import open_configured

    async with await open_configured(settings) as index:
        entry = await held(index, settings.domain, asked)
        return None if entry is None else (entry, await explained(index, entry))

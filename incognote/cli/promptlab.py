"""`incognote prompt examples`: few-shot examples drawn from an annotated pool."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.prompt import Name, app
from incognote.cli.shell import say

if TYPE_CHECKING:
    from incognote.evaluation.corpus import Gold
    from incognote.evaluation.lab.picking import Found


@app.command("examples")
def examples(
    name: Name,
    pool: Annotated[str, typer.Option(help="Annotated development texts.", metavar="FILE", show_default=False)],
    against: Annotated[
        list[str],
        typer.Option(
            help="The documents that the prompt will be scored on; no example may quote them. Repeatable.",
            metavar="FILE",
            show_default=False,
        ),
    ],
    k: Annotated[int, typer.Option("--k", help="How many.", min=1, max=64, metavar="N")] = 4,
    strategy: Annotated[str, typer.Option(help="random, similar, hardest or covering.", metavar="NAME")] = "covering",
    out: Annotated[str, typer.Option(help="The overlay to write.", metavar="FILE.toml")] = "examples.toml",
    like: Annotated[
        str | None, typer.Option(help="similar: texts to be near to; default: the pool.", metavar="FILE")
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(help="similar: `embedded`, or `sentence-transformers:MODEL`; default: TF-IDF.", metavar="NAME"),
    ] = None,
    pred: Annotated[
        str | None,
        typer.Option(help="hardest: findings in the pool; default: what the rules find.", metavar="FILE"),
    ] = None,
    words: Annotated[int, typer.Option(help="The most words of an example.", min=16, max=400, metavar="N")] = 60,
    seed: Annotated[int, typer.Option(help="random: what is drawn.", metavar="N")] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Write an overlay with k examples from an annotated pool.

    The pool is never a test set, and an example that shares eight words running with a document to be scored is not
    taken. The overlay holds words of notes: it is PHI unless the pool is synthetic.
    """
    from incognote.errors import UnknownName
    from incognote.evaluation.experiments import digest
    from incognote.evaluation.lab.leaks import refuse_leak
    from incognote.evaluation.lab.overlays import based, write
    from incognote.evaluation.lab.picking import STRATEGIES, picked, unseen
    from incognote.evaluation.lab.pool import annotated, candidates, texts_of
    from incognote.prompts.loader import load

    chosen = next((each for each in STRATEGIES if each == strategy), None)
    if chosen is None:
        raise UnknownName("strategy", strategy, STRATEGIES)
    load(name)
    gold = annotated(Path(pool))
    scored = [text for file in against for text in texts_of(Path(file))]
    offered = unseen(candidates(gold, words), scored, k)
    opened = None
    if embedder is not None:
        from incognote.embedding import open_embedder

        opened = open_embedder(embedder)
    near = texts_of(Path(like)) if like else [document.text for document in gold]
    taken = picked(
        chosen, offered, k, gold=gold, found=lambda: _found(gold, pool, pred), like=near, embedder=opened, seed=seed
    )
    place = Path(out)
    write(
        place,
        based(name, place),
        f"{k} examples chosen by {strategy}; words of notes",
        examples=[one.example for one in taken],
        provenance={
            "strategy": strategy,
            "seed": seed,
            "pool": Path(pool).name,
            "pool_sha256": digest.of_path(Path(pool)),
            "against_sha256": [digest.of_path(Path(file)) for file in against],
        },
    )
    made = load(str(place))
    refuse_leak(made, scored)
    types = sorted({type_ for one in taken for _, _, type_ in one.example.found})
    if as_json:
        say("prompt", {"examples": len(taken), "offered": len(offered), "types": types, "version": made.version})
        return
    typer.echo(f"{place.name}: {len(taken)} of {len(offered):,} stretches; types shown: {', '.join(types) or 'none'}")
    typer.echo(f"version {made.version}; it holds words of notes: PHI unless {Path(pool).name} is synthetic")


def _found(gold: list[Gold], pool: str, pred: str | None) -> Found:
    """What was found in the pool: read from a file, or by the rules."""
    from incognote.evaluation.corpus import Label, Pair, pairs
    from incognote.sdk import Deidentifier

    if pred is not None:
        by_id = {pair.id: pair.found for pair in pairs(pool, pred) if isinstance(pair, Pair)}
        return [by_id[document.id] for document in gold]
    with Deidentifier(detectors=("rules",)) as made:
        found = made.detect([document.text for document in gold])
    return [[Label(span.start, span.end, span.type) for span in spans] for spans in found]

"""`incognote prompt examples` and `propose`: improve a prompt with annotated texts."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incognote.cli import options
from incognote.cli.prompt import Name, app
from incognote.cli.shell import say
from incognote.cli.tables import bars
from incognote.runs.units import dollars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from incognote.evaluation.corpus import Gold
    from incognote.evaluation.lab.picking import Found


@app.command("examples")
def examples(
    name: Name,
    pool: Annotated[str, typer.Option(help="Annotated texts for development.", metavar="FILE", show_default=False)],
    against: Annotated[
        list[str],
        typer.Option(
            help="Documents that you will score the prompt on. No example may quote them. Repeatable.",
            metavar="FILE",
            show_default=False,
        ),
    ],
    k: Annotated[int, typer.Option("--k", help="How many examples.", min=1, max=64, metavar="N")] = 4,
    strategy: Annotated[
        str, typer.Option(help="How to choose: random, similar, hardest, or covering.", metavar="NAME")
    ] = "covering",
    out: Annotated[str, typer.Option(help="The overlay to write.", metavar="FILE.toml")] = "examples.toml",
    like: Annotated[
        str | None, typer.Option(help="For `similar`: the texts to be close to. Default: the pool.", metavar="FILE")
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(help="For `similar`: embedded, or sentence-transformers:MODEL. Default: TF-IDF.", metavar="NAME"),
    ] = None,
    pred: Annotated[
        str | None,
        typer.Option(help="For `hardest`: predictions for the pool. Default: what the rules find.", metavar="FILE"),
    ] = None,
    words: Annotated[int, typer.Option(help="Maximum words of an example.", min=16, max=400, metavar="N")] = 60,
    seed: Annotated[int, typer.Option(help="For `random`: the seed.", metavar="N")] = 0,
    policy: options.Policy = None,
    as_json: options.AsJson = False,
) -> None:
    """Write an overlay with k examples from annotated texts.

    Never use a test set as the pool. An example that shares eight consecutive words with a document to be scored is not
    used. The overlay quotes notes: it holds PHI unless the pool is synthetic.

    Example:
        incognote prompt examples extract/v3 --pool pool.jsonl --against dev.jsonl --k 4
    """
    from incognote.errors import UnknownName, UsageError
    from incognote.evaluation.experiments.cell import hash_of_path
    from incognote.evaluation.lab.growing import relative_base, write_overlay
    from incognote.evaluation.lab.lint import refuse_leak, refuse_test
    from incognote.evaluation.lab.picking import STRATEGIES, picked, unseen
    from incognote.evaluation.lab.pool import annotated, candidates, texts_of
    from incognote.prompts.loader import load
    from incognote.schemas.policy import load_policy

    chosen = next((each for each in STRATEGIES if each == strategy), None)
    if chosen is None:
        raise UnknownName("strategy", strategy, STRATEGIES)
    place = Path(out)
    if place.exists():
        raise UsageError(f"--out: {place.name} already exists. Choose another file.")
    load_policy(policy or "strict")  # it can define its own types
    load(name)
    gold = annotated(Path(pool))
    scored = [text for file in against for text in texts_of(Path(file))]
    offered = unseen(candidates(gold, words), scored, k)
    opened = None
    if embedder is not None:
        from incognote.embedding import open_embedder

        opened = open_embedder(embedder)
    if like:
        refuse_test(Path(like))
    near = texts_of(Path(like)) if like else [document.text for document in gold]
    taken = picked(
        chosen, offered, k, gold=gold, found=lambda: _found(gold, pool, pred), like=near, embedder=opened, seed=seed
    )
    write_overlay(
        place,
        relative_base(name, place),
        f"{k} examples chosen by {strategy}; words of notes",
        examples=[one.example for one in taken],
        provenance={
            "strategy": strategy,
            "seed": seed,
            "pool": Path(pool).name,
            "pool_sha256": hash_of_path(Path(pool)),
            "against_sha256": [hash_of_path(Path(file)) for file in against],
        },
    )
    prompt = load(str(place))
    refuse_leak(prompt, scored)
    types = sorted({type_ for one in taken for _, _, type_ in one.example.found})
    if as_json:
        say("prompt", {"examples": len(taken), "offered": len(offered), "types": types, "version": prompt.version})
        return
    typer.echo(f"{place.name}: {len(taken)} of {len(offered):,} stretches; types shown: {', '.join(types) or 'none'}")
    typer.echo(f"version {prompt.version}. It quotes notes: treat it as PHI unless {Path(pool).name} is synthetic.")


def _found(gold: list[Gold], pool: str, pred: str | None) -> Found:
    """Return the predictions for the pool, from a file or from the rules."""
    from incognote.evaluation.corpus import LabeledSpan, Pair, pairs
    from incognote.sdk import Deidentifier

    if pred is not None:
        by_id = {pair.id: pair.found for pair in pairs(pool, pred) if isinstance(pair, Pair)}
        return [by_id[document.id] for document in gold]
    with Deidentifier(detectors=("rules",)) as made:
        found = made.detect([document.text for document in gold])
    return [[LabeledSpan(span.start, span.end, span.type) for span in spans] for spans in found]


@app.command("propose")
def propose(
    name: Name,
    gold: Annotated[str, typer.Option(help="Annotated texts for development.", metavar="FILE", show_default=False)],
    model: Annotated[
        str,
        typer.Option(
            help="The model that reads the texts and proposes changes.", metavar="VENDOR/NAME", show_default=False
        ),
    ],
    budget_usd: Annotated[
        float,
        typer.Option(help="Maximum cost, over all runs in the folder.", min=0.01, metavar="X", show_default=False),
    ],
    rounds: Annotated[int, typer.Option(help="Maximum number of proposals to try.", min=1, max=50, metavar="R")] = 3,
    allow: Annotated[float, typer.Option(help="How many points other types may lose.", min=0, metavar="POINTS")] = 1.0,
    out: Annotated[
        str | None,
        typer.Option(
            help="Where to write the ledger, overlays, and replies. Default: PROMPT.proposals.", metavar="FOLDER"
        ),
    ] = None,
    synthetic: Annotated[
        bool,
        typer.Option(
            "--synthetic", help="The texts are invented, so replies are stored in clear and no key is needed."
        ),
    ] = False,
    policy: options.Policy = None,
    detectors: options.Detectors = None,
    api_base: options.ApiBase = None,
    passes: options.Passes = None,
    chunk_words: options.ChunkWords = None,
    seed: Annotated[int, typer.Option(help="Random seed of the split into halves.", metavar="N")] = 0,
    yes: options.Spend = False,
    config: options.Config = None,
    as_json: options.AsJson = False,
) -> None:
    """Let a model rewrite the guideline of the worst type, and accept it only if a paired test on unseen texts does.

    One half of the texts shows the errors; the other half decides. If interrupted, run the same command again. Nothing
    is paid for twice.

    Example:
        incognote prompt propose extract/v3 --gold dev.jsonl --model openai/gpt-4o-mini --budget-usd 5
    """
    from dataclasses import asdict

    from incognote.evaluation.lab.pool import annotated
    from incognote.evaluation.lab.rounds import RoundsTerms, estimate, run
    from incognote.evaluation.lab.runner import ModelRequestOptions, PromptRunner
    from incognote.settings import CHUNK_WORDS

    documents = annotated(Path(gold))
    place = Path(out) if out is not None else Path(f"{Path(name.replace('/', '-')).stem}.proposals")
    how = ModelRequestOptions(
        model, policy or "strict", tuple(options.split(detectors)) or ("rules", "llm"), api_base, passes or 1,
        chunk_words or CHUNK_WORDS, synthetic, budget_usd, config,
    )  # fmt: skip
    terms = RoundsTerms(name, rounds, allow, seed)
    with PromptRunner(place, how) as runner:
        guess = estimate(runner, terms, documents)
        if not as_json:
            typer.echo(
                f"at most {guess.calls:,} calls, {guess.tokens_in:,} input tokens, {guess.tokens_out:,} output "
                f"tokens, {dollars(guess.usd)}, minus what is already recorded. Paid before: "
                f"{dollars(runner.before.usd)}."
            )
        if not yes and guess.usd != 0:
            typer.confirm("Go on?", abort=True, err=True)
        with _watched("texts read") as advance:
            outcome = run(runner, terms, documents, watch=advance)
    if as_json:
        accepted = None if outcome.accepted is None else str(outcome.accepted)
        say("prompt", {"estimate": asdict(guess), "rows": list(outcome.rows), "accepted": accepted,
                       "paid": asdict(outcome.paid), "total": asdict(outcome.total)})  # fmt: skip
        return
    _proposals(outcome.rows)
    typer.echo(
        f"Cost of this run: {outcome.paid.calls:,} calls, {dollars(outcome.paid.usd)}. Cost of all runs: "
        f"{outcome.total.calls:,} calls, {dollars(outcome.total.usd)}."
    )  # fmt: skip
    typer.echo(f"accepted: {outcome.accepted}" if outcome.accepted else "No proposal was accepted.")


def _proposals(rows: Sequence[Mapping[str, Any]]) -> None:
    from incognote.cli.tables import print_table

    shown = []
    for row in rows:
        made = row["trial"]
        gain = "" if made is None else f"{made['gain']:+.2f} points of {made['aim']}, p = {made['adjusted']:.3f}"
        loss = "" if made is None else f"{made['loss']:+.2f} of {made['other']}, {made['loss_high']:.2f} at most"
        answer = "accepted" if row["accepted"] else ", ".join(row["refused"])
        shown.append((str(row["round"]), row["type"], f"{row['missed']} / {row['wrong']}", gain, loss, answer))
    print_table(("round", "type", "missed / wrong", "gain", "loss", "answer"), shown)


@contextmanager
def _watched(what: str) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on standard error if it is a terminal."""
    from rich.progress import MofNCompleteColumn, TextColumn, TimeElapsedColumn

    with bars(TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn()) as progress:
        bar = progress.add_task(what, total=None)
        yield lambda count: progress.advance(bar, count)

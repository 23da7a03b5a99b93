"""`incognote distill`: the steps from a synthetic corpus to the embedded detector."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.help import App
from incognote.cli.shell import say
from incognote.cli.tables import bars

if TYPE_CHECKING:
    from incognote.evaluation.experiments.plan import UsageEstimate
    from incognote.evaluation.lab.runner import ModelRequestOptions
    from incognote.llm.prices import Price
    from incognote.llm.recording import Recorded
    from incognote_training.config import Annotate
    from incognote_training.corpus.document import Document
    from incognote_training.corpus.translation import Translation

app = App(help="Make the embedded detector: corpus, selection, annotation, training.")
Config = Annotated[
    str | None, typer.Option(help="Settings of all steps (TOML). Options take precedence.", metavar="FILE")
]
Corpus = Annotated[str, typer.Argument(metavar="CORPUS", help="Documents, as `synth` writes them.", show_default=False)]
Out = Annotated[str, typer.Option("--out", "-o", help="The file to write.", metavar="FILE", show_default=False)]
Many = Annotated[int | None, typer.Option("-n", help="Number of documents.", min=1, metavar="N")]
Seed = Annotated[int | None, typer.Option(help="The same seed makes the same file.", metavar="N")]


@app.command("synth")
def synth_(
    out: Out,
    overwrite: options.Overwrite = False,
    n: Many = None,
    seed: Seed = None,
    prose: Annotated[
        str | None, typer.Option(help="A folder of real clinical prose to insert identifiers into.", metavar="FOLDER")
    ] = None,
    apart: Annotated[
        list[str] | None,
        typer.Option(
            help="Annotated notes. No document may share eight consecutive words with them; repeatable.", metavar="FILE"
        ),
    ] = None,
    sheet: Annotated[str | None, typer.Option(help="Also write the figures, as Markdown.", metavar="FILE.md")] = None,
    config: Config = None,
    as_json: options.AsJson = False,
) -> None:
    """Make training notes with gold spans. They are synthetic: a score on them says nothing about real notes."""
    from incognote.files.atomic import require_writable, write_atomic
    from incognote_training import annotate
    from incognote_training import config as settings
    from incognote_training.corpus import overlap
    from incognote_training.corpus.making import make, page

    for place in filter(None, (out, sheet)):
        require_writable(Path(place), overwrite=overwrite)
    wanted = settings.overridden(settings.read(config).synth, n=n, seed=seed, prose=prose)
    with _watched("synth", wanted.n) as watch:
        figures = make(wanted, out, apart or (), watch)
    if sheet is not None:
        shared = overlap.shared(annotate.read(out))
        write_atomic(Path(sheet), page(figures, shared, wanted).encode())
    if as_json:
        say("distill", figures)
        return
    typer.echo(
        f"{figures['documents']:,} documents, {figures['words']:,} words, {figures['spans']:,} spans; "
        f"{100 * figures['clean']:.1f}% without PHI"
    )


@app.command("variants")
def variants_(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder to write.", metavar="FOLDER", show_default=False)
    ],
    language: Annotated[
        list[str] | None, typer.Option(help="ar, de, es, or fr; repeatable. Default: all four.", metavar="CODE")
    ] = None,
    copies: Annotated[int, typer.Option(help="Copies of each text with other identifiers.", min=0, metavar="N")] = 6,
    more: Annotated[
        list[Path] | None,
        typer.Option(help="MEDDOCAN or the EDS-Pseudo templates, as JSON lines; repeatable.", metavar="FILE"),
    ] = None,
    seed: Seed = 1,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Make training texts in other languages: handwritten and translated ones, and copies with other identifiers.

    Writes corpus.jsonl, development.jsonl (texts held back for calibration), and words.txt (the vocabulary).
    """
    from dataclasses import replace

    from incognote.files.atomic import require_writable, write_atomic
    from incognote_training.corpus import variants
    from incognote_training.corpus.translations import translated

    out.mkdir(parents=True, exist_ok=True)
    names = ("corpus.jsonl", "development.jsonl", "words.txt")
    for name in names:
        require_writable(out / name, overwrite=overwrite)
    corpus = variants.handwritten(language or variants.CODES)
    translations = translated(language or variants.CODES, seed or 0)
    corpus = replace(corpus, training=(*corpus.training, *translations))
    others = [document for path in more or () for document in variants.open_corpus(path)]
    documents = list(variants.training(corpus, others, copies, seed or 0))
    words = variants.vocabulary([*corpus.training, *others])
    texts = (documents, corpus.development)
    contents = [*("".join(document.line() for document in each) for each in texts), "\n".join(words) + "\n"]
    for name, content in zip(names, contents, strict=True):
        write_atomic(out / name, content.encode())
    figures = {"documents": len(documents), "development": len(corpus.development), "words": len(words)}
    if as_json:
        say("distill", figures)
        return
    typer.echo(
        f"{figures['documents']:,} documents, {figures['development']:,} for calibration, {figures['words']:,} words"
    )


@app.command("select")
def select_(
    corpus: Corpus,
    out: Out,
    overwrite: options.Overwrite = False,
    n: Many = None,
    seed: Seed = None,
    config: Config = None,
    as_json: options.AsJson = False,
) -> None:
    """Choose documents: most of them stratified by style and source, a tenth outliers of CIPHER's 14 features."""
    from incognote.files.atomic import AtomicFile, require_writable
    from incognote_training import annotate, selection
    from incognote_training import config as settings

    require_writable(Path(out), overwrite=overwrite)
    wanted = settings.overridden(settings.read(config).select, n=n, seed=seed)
    documents = list(annotate.read(corpus))
    values = selection.features([one.text for one in documents])
    strata = [(one.source, "" if one.source == "handwritten" else one.style) for one in documents]
    chosen = selection.select(
        values, strata, min(wanted.n, len(documents)), share=wanted.outliers, z=wanted.z, seed=wanted.seed
    )
    with AtomicFile(Path(out)) as file:
        for number in chosen:
            file.write(documents[number].line().encode())
    beyond = int(selection.outliers(values, wanted.z).sum()) if documents else 0
    figures = {"documents": len(documents), "chosen": len(chosen), "outliers": beyond, "strata": len(set(strata))}
    if as_json:
        say("distill", figures)
        return
    typer.echo(
        f"{len(chosen):,} of {len(documents):,} documents chosen; {beyond:,} outliers, {figures['strata']:,} strata"
    )


@app.command("annotate")
def annotate_(
    corpus: Corpus,
    out: Out,
    overwrite: options.Overwrite = False,
    model: Annotated[
        str | None,
        typer.Option(help="vendor/model of the annotators. Default: gold and our rules.", metavar="VENDOR/MODEL"),
    ] = None,
    api_base: Annotated[str | None, typer.Option(help="The model's address.", metavar="URL")] = None,
    k: Annotated[int | None, typer.Option("-k", help="Number of annotators.", min=1, max=64)] = None,
    synthetic: Annotated[
        bool, typer.Option("--synthetic", help="The documents are made up, so replies may be recorded unencrypted.")
    ] = False,
    budget_usd: Annotated[float | None, typer.Option(help="Maximum to spend.", min=0, metavar="USD")] = None,
    yes: options.Spend = False,
    estimate: options.Estimate = False,
    config: Config = None,
    as_json: options.AsJson = False,
) -> None:
    """Annotate documents with K samples of a language model, or with gold and our rules. Votes stay a distribution.

    After a kill, the same command continues, and no answer is paid for twice.
    """
    from incognote.evaluation.lab.runner import ModelRequestOptions
    from incognote.files.atomic import AtomicFile, require_writable
    from incognote_training import annotate
    from incognote_training import config as settings

    require_writable(Path(out), overwrite=overwrite)
    told = settings.overridden(settings.read(config).annotate, k=k)
    documents = list(annotate.read(corpus))
    if model is not None:
        how = ModelRequestOptions(model, api_base=api_base, synthetic=synthetic, budget_usd=budget_usd)
        figures = _asked(documents, Path(out), told, how, yes=yes, only=estimate, quiet=as_json)
    else:
        with _watched("annotate", len(documents)) as watch, AtomicFile(Path(out)) as file:
            for number, line in enumerate(annotate.with_rules(documents, told.rules), 1):
                file.write(line.encode())
                watch(number)
        figures = {"documents": len(documents)}
    if as_json:
        say("distill", figures)
    else:
        typer.echo(", ".join(f"{value:,} {name}" for name, value in figures.items()))


def _asked(
    documents: list[Document],
    out: Path,
    told: Annotate,
    how: ModelRequestOptions,
    *,
    yes: bool,
    only: bool,
    quiet: bool,
) -> dict[str, int]:
    """Show the estimated cost, then let the annotators write the output."""
    from incognote.agents.runtime import Runtime
    from incognote.extraction.asking import Budget
    from incognote.schemas.policy import load_policy
    from incognote_training import annotate

    policy, prompt = load_policy(how.policy), how.settings().prompt
    facts = _estimated(
        how, lambda price: annotate.cost(documents, prompt, policy, told.k, price), yes=yes, only=only, quiet=quiet
    )
    if facts is not None:
        return facts
    with _recorded(how, out) as inner, _watched("annotate", len(documents)) as watch:
        annotators = annotate.Annotators(inner, prompt, policy, told.k, told.temperature, Budget(usd=how.budget_usd))

        async def work() -> dict[str, int]:
            try:
                return dict(
                    await annotate.annotate(documents, out, annotators, concurrency=told.concurrency, watch=watch)
                )
            finally:
                await inner.aclose()

        return Runtime.shared().run(work())


def _estimated(
    how: ModelRequestOptions, cost: Callable[[Price | None], UsageEstimate], *, yes: bool, only: bool, quiet: bool
) -> dict[str, int] | None:
    """Show the estimated usage, and ask whether to continue. Return it, and ask nothing, if only it is wanted.

    Raises:
        SettingError: a budget is set, but no price is known.
    """
    from incognote.errors import SettingError
    from incognote.llm.opening import price_of

    price = price_of(how.spec())
    if how.budget_usd is not None and price is None:
        raise SettingError(f"budget_usd: no price is known for {how.model}. Name a price table (setting `prices`)")
    guess = cost(price)
    if not quiet:
        money = "price unknown" if guess.usd is None else f"{guess.usd:,.2f} US$"
        typer.echo(f"estimate: {guess.calls:,} calls, tokens in {guess.tokens_in:,}, out {guess.tokens_out:,}, {money}")
    if only:
        return {"documents": 0, "calls": guess.calls, "tokens in": guess.tokens_in, "tokens out": guess.tokens_out}
    if not yes and guess.usd != 0:
        typer.confirm("Continue?", abort=True, err=True)
    return None


@contextmanager
def _recorded(how: ModelRequestOptions, out: Path) -> Iterator[Recorded]:
    """Open the model. Its replies are recorded beside the output, encrypted unless the documents are synthetic."""
    from incognote.llm.opening import open_model
    from incognote.llm.recording import Recorded, Recording

    keyring = None if how.synthetic else how.settings().keyring(persistent=True)
    place = out.with_name(out.name + (".replies.jsonl" if how.synthetic else ".replies.sealed"))
    recording = Recording(place, keyring, plain=how.synthetic)
    try:
        yield Recorded(open_model(how.spec()), recording)
    finally:
        recording.close()


@app.command("translate")
def translate_(
    corpus: Annotated[
        str, typer.Option(help="English documents, as `synth` writes them.", metavar="FILE", show_default=False)
    ],
    language: Annotated[str, typer.Option(help="ar, de, es, or fr.", metavar="CODE", show_default=False)],
    out: Annotated[str | None, typer.Option("--out", "-o", help="The file to write.", metavar="FILE")] = None,
    model: Annotated[
        str | None, typer.Option(help="vendor/model of the translator.", metavar="VENDOR/MODEL", show_default=False)
    ] = None,
    replies: Annotated[
        str | None, typer.Option(help="Replies instead of a model: JSON lines with id and reply.", metavar="FILE")
    ] = None,
    prompts: Annotated[
        str | None,
        typer.Option(help="Only write the prompts, as JSON lines with id, system, and user.", metavar="FILE"),
    ] = None,
    api_base: Annotated[str | None, typer.Option(help="The model's address.", metavar="URL")] = None,
    synthetic: Annotated[
        bool, typer.Option("--synthetic", help="The documents are made up, so replies may be recorded unencrypted.")
    ] = False,
    budget_usd: Annotated[float | None, typer.Option(help="Maximum to spend.", min=0, metavar="USD")] = None,
    seed: Seed = 1,
    overwrite: options.Overwrite = False,
    yes: options.Spend = False,
    estimate: options.Estimate = False,
    config: Config = None,
    as_json: options.AsJson = False,
) -> None:
    """Translate annotated English documents and replace their identifiers by values of the other language.

    Translations that lost, doubled, or invented the word for an identifier are rejected. After a kill, the same command
    continues, and no answer is paid for twice.
    """
    from incognote.errors import UsageError
    from incognote.evaluation.lab.runner import ModelRequestOptions
    from incognote.files.atomic import require_writable, write_atomic
    from incognote_training import annotate
    from incognote_training import config as settings
    from incognote_training.corpus import translation

    if sum(each is not None for each in (model, replies, prompts)) != 1 or (out is None) != (prompts is not None):
        raise UsageError("name --out with one of --model and --replies, or only --prompts")
    target = Path(out or prompts or "")
    require_writable(target, overwrite=overwrite)
    work = translation.Translation(annotate.read(corpus), language, seed or 0)
    if prompts is not None:
        write_atomic(target, "".join(translation.prompt_line(note, language) for note in work.notes).encode())
        if as_json:
            say("distill", {"prompts": len(work.notes), "rejected": dict(work.rejected)})
        else:
            typer.echo(f"{len(work.notes):,} prompts")
        return
    if model is not None:
        how = ModelRequestOptions(model, api_base=api_base, synthetic=synthetic, budget_usd=budget_usd)
        concurrency = settings.read(config).annotate.concurrency
        answers = _translations(work, target, how, concurrency, yes=yes, only=estimate, quiet=as_json)
    else:
        answers = translation.read_replies(replies or "")
    if answers is None:
        return
    write_atomic(target, "".join(document.line() for document in work.filled(answers)).encode())
    figures = work.figures()
    if as_json:
        say("distill", figures)
        return
    typer.echo(f"{figures['translated']:,} of {figures['documents']:,} documents translated")
    for name in ("rejected", "type words"):
        typer.echo(f"{name}: " + (", ".join(f"{each} {n:,}" for each, n in figures[name].items()) or "none"))


def _translations(
    work: Translation, out: Path, how: ModelRequestOptions, concurrency: int, *, yes: bool, only: bool, quiet: bool
) -> dict[str, str] | None:
    """Show the estimated cost, then ask the model. Return its replies by document, or None if only the cost is asked.

    Raises:
        SettingError: a budget is set, but no price is known.
        ModelProblem: the model did not answer. The replies so far are recorded.
    """
    from incognote.agents.runtime import Runtime
    from incognote.extraction.asking import Budget
    from incognote_training.corpus import translation

    facts = _estimated(
        how, lambda price: translation.cost(work.notes, work.code, price), yes=yes, only=only, quiet=quiet
    )
    if facts is not None:
        if quiet:
            say("distill", facts)
        return None
    with _recorded(how, out) as inner, _watched("translate", len(work.notes)) as watch:

        async def asked() -> dict[str, str]:
            budget = Budget(usd=how.budget_usd)
            try:
                return await translation.ask(
                    work.notes, work.code, inner, budget=budget, concurrency=concurrency, watch=watch
                )
            finally:
                await inner.aclose()

        return Runtime.shared().run(asked())


@contextmanager
def _watched(name: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error, if it is a terminal. Yields a function that takes the number done."""
    with bars() as progress:
        bar = progress.add_task(name, total=total)
        yield lambda done: progress.update(bar, completed=done)

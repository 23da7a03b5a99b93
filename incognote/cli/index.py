"""`incognote index`: manage the surrogate index. No command prints original values."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from incognote.cli import options
from incognote.cli.explain import explain
from incognote.cli.help import App
from incognote.cli.shell import say

if TYPE_CHECKING:
    from incognote.relex.index.base import SurrogateIndex
    from incognote.relex.index.nouns import Repair
    from incognote.settings import Settings

T = TypeVar("T")
app = App(help="Manage the surrogate index: create, export, import, repair, explain.")

Outputs = Annotated[str | None, typer.Option(help="Where to write the list of affected outputs.", metavar="FILE")]
PatientFile = Annotated[
    str | None,
    typer.Option(
        "--patient-file",
        help="A file with the patient's name or id on one line, as in the records. Case, spacing, and Unicode form "
             "are ignored.",
        metavar="FILE",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class AskedIndex:
    """The index that a command uses, and its output format. Each field is the option of that name."""

    index: options.Index = None
    as_json: options.AsJson = False
    config: options.Config = None
    key_file: options.KeyFile = None


@app.command()
@options.takes_all
def create(*, asked: AskedIndex) -> None:
    """Create an index. To set options, add them after `?` in the URL; see docs/surrogate-index.md.

    Example:
        incognote index create --index sqlite:///surrogates.db
    """
    _stats("index create", asked, create=True)


@app.command()
@options.takes_all
def stats(*, asked: AskedIndex) -> None:
    """Show how many identities the index holds.

    Example:
        incognote index stats --index sqlite:///surrogates.db
    """
    _stats("index stats", asked, create=False)


@app.command()
@options.takes_all
def export(
    file: Annotated[str, typer.Argument(help="The file to create.", metavar="FILE", show_default=False)],
    *,
    asked: AskedIndex,
) -> None:
    """Export the whole index to a file, encrypted with the key. Stop all workers first.

    New identities that are written during the export can be missing from it.

    Example:
        incognote index export backup.idx --index sqlite:///surrogates.db
    """
    from pathlib import Path

    from incognote.relex.index import moving

    with _ticking("writing") as tick:
        count = _with(asked, lambda opened: moving.export(opened, Path(file), tick))
    _tell("index export", {"documents": count}, f"{count:,} documents written", asked.as_json)


@app.command("import")
@options.takes_all
def import_(
    file: Annotated[str, typer.Argument(help="An exported file.", metavar="FILE", show_default=False)],
    *,
    asked: AskedIndex,
) -> None:
    """Import an export into an empty index under the same key. If interrupted, run the same command again.

    Example:
        incognote index import backup.idx --index sqlite:///copy.db
    """
    from pathlib import Path

    from incognote.relex.index import moving

    with _ticking("reading") as tick:
        count = _with(asked, lambda opened: moving.take_in(opened, Path(file), tick))
    _tell("index import", {"documents": count}, f"{count:,} documents read", asked.as_json)


@app.command()
@options.takes_all
def rekey(
    new_key_file: Annotated[
        str, typer.Option(help="The file with the new key.", metavar="FILE", show_default=False)
    ],
    *,
    asked: AskedIndex,
) -> None:
    """Encrypt the whole index under another key. If interrupted, run the same command again.

    Until it is finished, no other process can use the index.

    Example:
        incognote index rekey --new-key-file new.key --index sqlite:///surrogates.db
    """
    from incognote.keys import Keyring
    from incognote.relex.index.opening import password_of
    from incognote.relex.index.opening import rekey as changed

    settings = settings_of(asked.index, asked.config, asked.key_file)
    new = Keyring.read(new_key_file)
    old = settings.keyring(persistent=True)
    with _ticking("encrypting") as tick:
        count = asyncio.run(changed(_named(settings), old, new, password=password_of(settings), tick=tick))
    message = f"{count:,} documents encrypted with key {new.id}. The old key no longer opens the index."
    _tell("index rekey", {"documents": count, "key": new.id}, message, asked.as_json)


@app.command()
@options.takes_all
def merge(
    ids: Annotated[list[str], typer.Argument(help="Two or more identity ids.", metavar="ID...", show_default=False)],
    outputs: Outputs = None,
    *,
    asked: AskedIndex,
) -> None:
    """Merge several identities into the oldest one. Outputs that show a merged surrogate are counted and listed.

    Example:
        incognote index merge ID1 ID2 --outputs affected.txt
    """
    done = _with(asked, lambda opened: opened.merge(ids))
    _repaired("index merge", done, outputs, asked.as_json)


@app.command()
@options.takes_all
def split(
    identity: Annotated[str, typer.Argument(help="The identity to split.", metavar="ID", show_default=False)],
    proposal: Annotated[
        str,
        typer.Option(
            help='A JSON file: {"variants": [...], "surrogate": {...}, "whole": "..."}. Optional: "type", '
                 '"attributes", "original", "pool".',
            metavar="FILE",
            show_default=False,
        ),
    ],
    outputs: Outputs = None,
    *,
    asked: AskedIndex,
) -> None:
    """Move some variants of an identity to a new identity with its own surrogate.

    Example:
        incognote index split ID --proposal split.json
    """
    from incognote.errors import UsageError
    from incognote.relex.index.nouns import SurrogateTaken

    words = _proposal(proposal)

    async def divide(opened: SurrogateIndex) -> Any:
        from incognote.relex.index.nouns import SurrogateProposal

        found = await opened.get([identity])
        if identity not in found:
            raise UsageError("There is no identity with this id. Copy the id from an output of `incognote relex`.")
        whole = found[identity]
        return await opened.split(identity, SurrogateProposal(place=whole.place, **{"type": whole.type, **words}))

    done = _with(asked, divide)
    if isinstance(done, SurrogateTaken):
        raise UsageError("whole: another identity already has this surrogate. Choose another one.")
    _repaired("index split", done, outputs, asked.as_json)


@app.command()
@options.takes_all
def forget(
    patient_file: PatientFile = None,
    image: Annotated[
        str | None,
        typer.Option(
            help="The number of an image, instead of a patient: delete what was removed from it.", metavar="ID",
            show_default=False,
        ),
    ] = None,
    domain: Annotated[
        str | None, typer.Option(help="Only this domain. Default: all domains of the index.", metavar="NAME")
    ] = None,
    yes: options.Yes = False,
    *,
    asked: AskedIndex,
) -> None:
    """Delete everything about a patient, query the index again as `reveal` does, and print the answer.

    Backups and snapshots are not changed. Exit code 1: something is left. Exit code 3: the index does not know the
    patient or the image.

    Example:
        incognote index forget --patient-file patient.txt
        incognote index forget --image 568b1e75e6c18e0697671cd3
    """
    from dataclasses import asdict

    from incognote.cli.shell import FAILURE, HELD, warn
    from incognote.errors import UsageError
    from incognote.relex.index.forgetting import forget_patient

    if (patient_file is None) == (image is None):
        raise UsageError("Name either --patient-file FILE or --image ID.")
    if image is not None:
        _forget_image(asked, image.strip().lower(), domain, yes=yes)
        return
    patient = options.EngineOptions(patient_file=patient_file).subject() or ""
    if not yes and not typer.confirm("Permanently delete all surrogates of this patient?"):
        raise typer.Exit
    named = None if domain is None else (domain,)
    done = _with(asked, lambda opened: forget_patient(opened, patient, named))
    receipts = [{"domain": name, **asdict(one)} for name, one in zip(done.domains, done.receipts, strict=True)]
    summary = {
        "found": done.found, "deleted": done.deleted, "left": done.left, "revealed_before": done.revealed_before,
        "revealed_after": done.revealed_after, "known": bool(done.found),
    }  # fmt: skip
    lines = [f"{word}: {value}" for one in (*receipts, summary) for word, value in one.items()]
    _tell("index forget", {**summary, "receipts": receipts}, "\n".join(lines), asked.as_json)
    if done.fault:
        warn(done.fault)
        raise typer.Exit(FAILURE)
    if not done.found:
        warn("The index does not know this patient. Check how the records spell the name or id, and check --index.")
        raise typer.Exit(HELD)


def _forget_image(asked: AskedIndex, image: str, domain: str | None, *, yes: bool) -> None:
    from incognote.cli.shell import HELD, warn
    from incognote.relex.vault import forget_image

    if not yes and not typer.confirm("Permanently delete what was removed from this image?"):
        raise typer.Exit

    async def delete(opened: SurrogateIndex) -> int:
        names = await opened.domains() if domain is None else (domain,)
        return sum([await forget_image(opened, name, image) for name in names])

    deleted = _with(asked, delete)
    _tell("index forget", {"deleted": deleted, "known": bool(deleted)}, f"deleted: {deleted}", asked.as_json)
    if not deleted:
        warn("The index does not know this image. Check the number and --index.")
        raise typer.Exit(HELD)


app.command()(explain)


def _stats(command: str, asked: AskedIndex, *, create: bool) -> None:
    from dataclasses import asdict

    from incognote.cli.tables import print_table

    found = _with(asked, lambda opened: opened.stats(), create=create)
    data = asdict(found)
    data["identities"] = [
        {"domain": domain, "group": group, "count": count} for (domain, group), count in found.identities.items()
    ]
    if asked.as_json:
        say(command, data)
        return
    rows = [(name, f"{value:,}" if isinstance(value, int) else str(value)) for name, value in data.items()]
    rows = [row for row in rows if row[0] != "identities"]
    rows += [(f"{domain}, {group}", f"{count:,}") for (domain, group), count in found.identities.items()]
    print_table(("", ""), rows)


def _repaired(command: str, done: Repair, outputs: str | None, as_json: bool) -> None:
    """Report a repair. Output ids can identify patients, so they go to a file that only its owner can read."""
    from incognote.cli.shell import write_list

    if outputs is not None:
        write_list(outputs, done.outputs, "--outputs")
    data = {"identity": done.identity.id, "gone": list(done.gone), "outputs": len(done.outputs)}
    more = "" if outputs or not done.outputs else ". To list them, run the same command with --outputs FILE"
    _tell(command, data, f"Kept {done.identity.id}. Outputs to process again: {len(done.outputs):,}{more}.", as_json)


def _proposal(path: str) -> dict[str, Any]:
    """Read a proposal file.

    Raises:
        UsageError: the file is not a valid proposal.
    """
    import json
    from pathlib import Path

    from incognote.errors import UsageError

    known = {"variants", "surrogate", "whole", "type", "attributes", "original", "pool"}
    try:
        proposal = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"--proposal: {path} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise UsageError(f"--proposal: {path} is not valid JSON.") from None
    if not isinstance(proposal, dict) or not {"variants", "surrogate", "whole"} <= proposal.keys() <= known:
        raise UsageError(
            "--proposal must have variants, surrogate, and whole. Optional: type, attributes, original, pool."
        )
    texts = isinstance(proposal["variants"], list) and all(isinstance(one, str) for one in proposal["variants"])
    if not texts or not isinstance(proposal["surrogate"], dict) or not isinstance(proposal["whole"], str):
        raise UsageError("--proposal: variants must be a list of strings, surrogate an object, and whole a string.")
    return {**proposal, "variants": tuple(proposal["variants"])}


def settings_of(index: str | None, config: str | None, key_file: str | None, *, create: bool = False) -> Settings:
    """Return the settings, with the index and the key if they are given."""
    from incognote.cli.key import own_settings

    return own_settings(config, key_file, persistent=create, index=index)


def _named(settings: Settings) -> str:
    from incognote.errors import SettingError

    if settings.index is None:
        raise SettingError(
            "No index is configured. Set INCOGNOTE_INDEX or --index to sqlite:///FILE or "
            "opensearch://USER@HOST:PORT/PREFIX."
        )
    return settings.index


def _with(asked: AskedIndex, work: Callable[[SurrogateIndex], Awaitable[T]], *, create: bool = False) -> T:
    """Open the configured index and return the result of `work` on it."""
    from incognote.relex.index.opening import open_configured

    settings = settings_of(asked.index, asked.config, asked.key_file, create=create)

    async def whole() -> T:
        async with await open_configured(settings, create=create) as opened:
            return await work(opened)

    return asyncio.run(whole())


@contextmanager
def _ticking(what: str) -> Iterator[Callable[[int], None]]:
    """Show a counter on standard error if it is a terminal."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn

    columns = SpinnerColumn(), TextColumn("{task.description} {task.completed:,.0f} documents")
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda count: progress.advance(task, count)


def _tell(command: str, data: dict[str, Any], words: str, as_json: bool) -> None:
    if as_json:
        say(command, data)
    else:
        typer.echo(words)

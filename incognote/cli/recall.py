"""`incognote recall`, `forget`, and `optout`: withdraw outputs, delete a patient's data, and manage opt-outs."""

from __future__ import annotations

import asyncio
import sys
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Annotated, cast

import typer

from incognote.cli import options
from incognote.cli.help import App
from incognote.cli.key import own_settings
from incognote.cli.shell import say, warn
from incognote.runs.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from incognote.ledger import Ledger, LedgerEntry
    from incognote.runs.location import Location
    from incognote.service.recall import ForgetReceipt, Incident
    from incognote.settings import Settings

optout = App(help="Manage opt-outs: records of these patients are refused.")

By = Annotated[
    str, typer.Option(help="Your name, for the audit log.", metavar="NAME", show_default=False)
]
DestinationUrl = Annotated[
    str, typer.Option(help="Where the workers write.", metavar="FOLDER|URL", show_default=False)
]
Subject = Annotated[
    str | None,
    typer.Option(
        help="A file with the patient's id on one line. Without it, you are asked.", metavar="FILE",
        show_default=False,
    ),
]  # fmt: skip


def recall(
    *,
    ledger: options.LedgerUrl,
    destination: DestinationUrl,
    by: By,
    patient: Annotated[
        bool, typer.Option("--patient", help="Recall all outputs of one patient. You are asked for the id.")
    ] = False,
    contains: Annotated[
        bool, typer.Option("--contains", help="Recall all outputs that contain some words. You are asked for them.")
    ] = False,
    words_file: Annotated[
        str | None, typer.Option(help="Read the patient's id, or the words, from a file instead.", metavar="FILE")
    ] = None,
    made_by: Annotated[
        str | None,
        typer.Option(
            help="Recall all outputs made with this version: of a policy, schema, prompt, model, detector, code, or "
            "release.",
            metavar="VERSION",
        ),
    ] = None,
    requeue: Annotated[
        bool,
        typer.Option(
            "--requeue", help="Also process the records again in their own release. A new release always does."
        ),
    ] = False,
    reports: Annotated[
        str | None,
        typer.Option(
            help="Where to write the report. Default: `incidents` in the home folder of incognote.", metavar="FOLDER"
        ),
    ] = None,
    yes: options.Yes = False,
    as_json: options.AsJson = False,
    config: options.Config = None,
    key_file: options.KeyFile = None,
) -> None:
    """Recall released outputs.

    Tombstones tell the destination what to delete, the ledger marks the outputs, and a report without PHI is written.
    You enter what to search for at a prompt or in a file, so that it appears in no argument, history, or log. A search
    for words needs read access to the destination. At the end, the same search runs again. Exit code 1: it still finds
    released outputs. Exit code 3: the ledger has no record of the patient.

    Example:
        incognote recall --patient --ledger sqlite:///ledger.db --destination released --by ada.park
    """
    from functools import partial
    from pathlib import Path

    from incognote.cli.databases import open_tombstones
    from incognote.cli.shell import FAILURE, HELD
    from incognote.errors import UsageError
    from incognote.ledger import Ledger
    from incognote.service.audit import AuditLog
    from incognote.service.monitoring import audit_folder
    from incognote.service.recall import made_by as of_version
    from incognote.service.recall import of_patient, report_text, with_words
    from incognote.service.recall import recall as recalled

    if [patient, contains, made_by is not None].count(True) != 1:
        raise UsageError("Name one of --patient, --contains, and --made-by VERSION.")
    settings = own_settings(config, key_file)
    keyring = settings.keyring(persistent=True)
    place, where = open_tombstones(destination)
    if contains and where is None:
        raise UsageError("--contains reads shards, not tables. Search the table with SQL, or use --patient.")
    absent: set[str] = set()
    known, before = True, 0
    with closing(Ledger(ledger, keyring, create=False)) as book:
        find: Callable[[], Iterable[LedgerEntry]]
        if made_by is not None:
            find, how = partial(of_version, book, made_by), "version"
        elif patient:
            whom = _sought(words_file, "Patient")
            find, how = partial(of_patient, book, whom), "patient"
            of_whom = list(book.entries(subject=book.subject(whom)))
            known = bool(of_whom)
            before = sum(entry.state == "tombstoned" and entry.shard is not None for entry in of_whom)
        else:
            words = _sought(words_file, "Words")
            find, how = partial(with_words, book, cast("Location", where), words, absent.add), "words"
        affected = list(find())
        if requeue:
            named = {entry.release for entry in affected}
            other = {release.name for release in book.releases() if release.key_id not in (None, keyring.id)}
            if changed := sorted(named & other):
                raise UsageError(
                    f"--requeue: the key was changed after {', '.join(changed)}, so no worker can join. Recall "
                    "without --requeue, and start a worker with a new release name."
                )
        if absent:
            warn(
                f"{counted(len(absent), 'shard')} not in the destination: they were moved, or are not placed yet. "
                "Their contents were not searched. Search again after the workers have placed them, and search the "
                "new place."
            )
        if affected and not yes and not typer.confirm(f"Recall {len(affected):,} outputs?"):
            raise typer.Exit
        audit = AuditLog(audit_folder(settings), keyring)
        incident = recalled(
            book, place, audit, affected, find, by=by, how=how, made_by=made_by, requeue=requeue  # type: ignore[arg-type]  # one of three words
        )  # fmt: skip
    report = incident.write(Path(reports) if reports else settings.home / "incidents")
    if as_json:
        data = {"incident": incident.id, "outputs": dict(incident.outputs), "tombstones": incident.tombstones,
                "requeued": incident.requeued, "left": incident.left, "known": known, "marked_before": before,
                "shards_absent": len(absent),
                "report": str(report)}  # fmt: skip
        say("recall", data)
    else:
        typer.echo(report_text(incident))
        typer.echo(f"Written to {report}", err=True)
    if before:
        warn(
            f"{before:,} outputs of this patient were recalled or forgotten before and are not counted here. To tell "
            "a destination about them, run: incognote forget --destination DESTINATION"
        )
    if incident.left:
        warn(
            f"{incident.left:,} outputs are still released: they were released during the recall. Run the same "
            "command again."
        )
    if not (listed := where is None or _listed(where, incident)):
        warn("The destination does not have the complete list of what to delete. Run the same command again.")
    if incident.left or not listed:
        raise typer.Exit(FAILURE)
    if not known:
        warn(
            "The ledger has no record of this patient. Check how the records spell the name or id, and check "
            "--ledger."
        )
        raise typer.Exit(HELD)


def _listed(where: Location, incident: Incident) -> bool:
    """Whether the destination's list of what to delete is complete; True if the list cannot be read from here."""
    from incognote.errors import IncognoteError
    from incognote.service.recall.finding import shard_bytes

    if incident.tombstones is None:
        return True
    try:
        data = shard_bytes(where, incident.tombstones)
    except IncognoteError:
        return True
    return data is not None and data.count(b"\n") == incident.count


def forget(
    *,
    by: By,
    patient_file: Subject = None,
    words_file: Annotated[
        str | None,
        typer.Option(
            help="Names and numbers of the patient, one per line. Recorded model answers that contain one are deleted.",
            metavar="FILE",
        ),
    ] = None,
    ledger: options.AnyLedgerUrl = None,
    destination: Annotated[
        str | None,
        typer.Option(help="Where the workers write. It receives the list of what to delete.", metavar="FOLDER|URL"),
    ] = None,
    quarantine: Annotated[
        list[str] | None,
        typer.Option(help="A quarantine folder, or a folder of them. Repeatable.", metavar="FOLDER"),
    ] = None,
    yes: options.Yes = False,
    as_json: options.AsJson = False,
    config: options.Config = None,
    key_file: options.KeyFile = None,
) -> None:
    """Delete what all stores hold about a patient.

    The stores are ledger, index, recording, quarantine, and review queue. The patient is also added to the opt-outs.
    The index, with all its domains, and the recording are those of the settings. Name every other store: a store that
    you do not name is not searched. Each store is queried again afterwards, and its receipt reports the result. Exit
    code 1: something is left. Exit code 3: no store knows the patient.

    Example:
        incognote forget --ledger sqlite:///ledger.db --quarantine held --by ada.park
    """
    from dataclasses import asdict

    from incognote.cli.shell import FAILURE, HELD
    from incognote.cli.tables import print_table
    from incognote.service.recall import unknown

    settings = own_settings(config, key_file)
    subject = _sought(patient_file, "Patient")
    words = _lines(words_file)
    if not yes and not typer.confirm("Permanently delete all data of this patient?"):
        raise typer.Exit
    with ExitStack() as stack:
        receipts = asyncio.run(_forgotten(stack, settings, subject, by, words, ledger, destination, quarantine or []))
    if as_json:
        say("forget", {"receipts": [asdict(receipt) for receipt in receipts], "known": not unknown(receipts)})
    else:
        rows = [(one.store, f"{one.found:,}", f"{one.deleted:,}", f"{one.after:,}", one.left) for one in receipts]
        print_table(("store", "found", "deleted", "found after", "left"), rows)
    faults = [f"{one.store}: {one.fault}" for one in receipts if one.fault]
    for fault in faults:
        warn(fault)
    if faults:
        raise typer.Exit(FAILURE)
    if unknown(receipts):
        warn(
            "No store knows this patient. Check how the records spell the name or id, and that every store is "
            "named. The patient was added to the opt-outs."
        )
        raise typer.Exit(HELD)


async def _forgotten(
    stack: ExitStack, settings: Settings, subject: str, by: str, words: list[str], ledger: str | None,
    destination: str | None, quarantines: list[str],
) -> list[ForgetReceipt]:  # fmt: skip
    from pathlib import Path

    from incognote.cli.databases import open_tombstones
    from incognote.files.quarantine import Quarantine
    from incognote.ledger import Ledger
    from incognote.llm.recording import Recording
    from incognote.relex.index.opening import open_configured
    from incognote.service.api.jobs import Jobs
    from incognote.service.audit import AuditLog
    from incognote.service.monitoring import audit_folder, database_of
    from incognote.service.optouts import OptOuts
    from incognote.service.recall import Forgetter
    from incognote.service.review import ReviewQueue

    keyring, database = settings.keyring(persistent=True), database_of(settings)
    folders = []
    for named in map(Path, quarantines):
        folders.append(named)
        if named.is_dir():
            folders += [child for child in sorted(named.iterdir()) if child.is_dir()]
        else:
            warn("--quarantine: the folder does not exist. This is correct if nothing was ever held.")
    book: Ledger | None = stack.enter_context(closing(Ledger(ledger, keyring, create=False))) if ledger else None
    recording = Recording(settings.recording, keyring, create=False) if settings.recording else None
    if recording is not None:
        stack.callback(recording.close)
    index = await open_configured(settings) if settings.index else None
    try:
        forgetter = Forgetter(
            AuditLog(audit_folder(settings), keyring),
            stack.enter_context(closing(OptOuts(database, keyring))),
            book,
            open_tombstones(destination)[0] if destination else None,
            stack.enter_context(closing(ReviewQueue(database, keyring))),
            stack.enter_context(closing(Jobs(database, keyring, settings.service.api_lease))),
            [Quarantine(folder, keyring) for folder in folders],
            index,
            None,
            recording,
        )
        return list(await forgetter.forget(subject, by, words))
    finally:
        if index is not None:
            await index.aclose()


@optout.command()
def add(by: By, patient_file: Subject = None, config: options.Config = None, key_file: options.KeyFile = None) -> None:
    """Refuse the records of a patient from now on. For earlier outputs, use `incognote recall --patient`.

    Example:
        incognote optout add --by ada.park
    """
    _changed(_sought(patient_file, "Patient"), by, config, key_file, enter=True)


@optout.command()
def remove(
    by: By, patient_file: Subject = None, config: options.Config = None, key_file: options.KeyFile = None
) -> None:
    """Withdraw an opt-out. Refused records wait for a new release or `incognote quarantine retry`.

    Example:
        incognote optout remove --by ada.park
    """
    _changed(_sought(patient_file, "Patient"), by, config, key_file, enter=False)


@optout.command("list")
def list_(as_json: options.AsJson = False, config: options.Config = None, key_file: options.KeyFile = None) -> None:
    """List the keyed names of patients who opted out. They do not reveal who is meant.

    Example:
        incognote optout list
    """
    from dataclasses import asdict

    from incognote.cli.tables import print_table
    from incognote.service.monitoring import existing_database_of
    from incognote.service.optouts import OptOuts

    settings = own_settings(config, key_file)
    with closing(OptOuts(existing_database_of(settings), settings.keyring(persistent=True))) as opened:
        found = opened.items()
    if as_json:
        say("optout list", {"subjects": [asdict(one) for one in found]})
        return
    print_table(("subject", "since", "by"), [(one.subject, one.since, one.by) for one in found])


def _changed(patient: str, by: str, config: str | None, key_file: str | None, *, enter: bool) -> None:
    from incognote.service.audit import AuditLog
    from incognote.service.monitoring import audit_folder, database_of
    from incognote.service.optouts import OptOuts

    settings = own_settings(config, key_file)
    keyring = settings.keyring(persistent=True)
    with closing(OptOuts(database_of(settings), keyring)) as opened:
        audit = AuditLog(audit_folder(settings), keyring)
        audit.append("optout.added" if enter else "optout.removed", subject=opened.key(patient), by=by)
        done = opened.add(patient, by) if enter else opened.remove(patient)
    words = ("was added", "already exists") if enter else ("was withdrawn", "is not on the list")
    typer.echo(f"The opt-out {words[0] if done else words[1]}.")


def _sought(file: str | None, what: str) -> str:
    """Read the search text from a file, or from a prompt without echo.

    Raises:
        UsageError: the search text is missing, or the file is not one line of UTF-8.
    """
    from incognote.errors import UsageError

    if file is None:
        found: str = typer.prompt(what, hide_input=True) if sys.stdin.isatty() else sys.stdin.readline()
        if not found.strip():
            raise UsageError(f"Name the {what.lower()}: use --{what.lower()}-file FILE, or enter it in a terminal.")
        return found.strip()
    lines = _lines(file)
    if len(lines) != 1:
        raise UsageError("The file must hold what to search for on one line, and nothing else.")
    return lines[0]


def _lines(file: str | None) -> list[str]:
    from pathlib import Path

    from incognote.errors import UsageError

    if file is None:
        return []
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{file} is not UTF-8 text. Convert it.") from None
    return [line.strip() for line in text.splitlines() if line.strip()]

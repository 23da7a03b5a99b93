"""`incognote reveal` and `reveals`: show the original behind a surrogate, and approve such requests.

Each access is written to the audit file first.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.help import App
from incognote.cli.key import own_settings
from incognote.cli.shell import HELD, say, warn
from incognote.cli.tables import print_table

if TYPE_CHECKING:
    from incognote.relex.index.base import SurrogateIndex
    from incognote.relex.index.nouns import IndexedIdentity
    from incognote.service.audit import AuditLog
    from incognote.service.reveals import Reveals
    from incognote.settings import Settings

UNKNOWN = (
    "No identity has this surrogate or ID. Name the patient with --patient-file, or the domain with --domain."
)
Why = Annotated[str, typer.Option("--why", help="The reason, for the audit file.", show_default=False)]


@dataclass(frozen=True, repr=False)  # a surrogate can be a real person's name
class AskedIdentity:
    """The identity that a command asks about, and who asks. Each field is the option or argument of that name.

    The identity is named by its ID, or by a surrogate of a patient or of the domain's staff.
    """

    surrogate: Annotated[
        str | None,
        typer.Argument(
            help="The surrogate as an output shows it, such as Kevin Chang or Dr. Chang.",
            metavar="SURROGATE",
            show_default=False,
        ),
    ] = None
    identity: Annotated[
        str | None, typer.Option(help="The identity from the output's spans, instead of a surrogate.", metavar="ID")
    ] = None
    patient_file: Annotated[
        str | None,
        typer.Option(
            help="A file with the id of the patient on one line. Without it, only staff are searched.", metavar="FILE"
        ),
    ] = None
    who: Annotated[str | None, typer.Option(help="Your name, in addition to the account name.", metavar="NAME")] = None
    audit: Annotated[
        str | None,
        typer.Option(help="The audit file. Default: reveals.jsonl in the home folder of incognote.", metavar="FILE"),
    ] = None
    approval: Annotated[
        str | None,
        typer.Option(
            help="The id of a request that another person approved. See `incognote reveals`.", metavar="ID"
        ),
    ] = None
    index: options.Index = None
    domain: Annotated[
        str | None, typer.Option(help="The domain that shares surrogates. Default: from the settings.", metavar="NAME")
    ] = None
    policy: Annotated[
        str | None,
        typer.Option(
            help="The policy whose `reveal` setting applies. Default: the policy in the settings, or strict.",
            metavar="NAME|FILE",
        ),
    ] = None
    config: options.Config = None
    key_file: options.KeyFile = None

    def settings(self) -> Settings:
        """Return the settings with these options.

        Raises:
            UsageError: not exactly one of the surrogate and the ID is given.
        """
        from incognote.errors import UsageError

        if (self.surrogate is None) == (self.identity is None):
            raise UsageError("Name either a surrogate or --identity ID.")
        return own_settings(self.config, self.key_file, index=self.index, domain=self.domain)

    @property
    def scope(self) -> str:
        """The patient's scope; "" for staff."""
        from incognote.nouns import patient_scope

        subject = options.EngineOptions(patient_file=self.patient_file).subject()
        return patient_scope(subject) if subject else ""


@options.takes_all
def reveal(
    why: Why,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON, with the original.")] = False,
    *,
    asked: AskedIdentity,
) -> None:
    """Show the original behind a surrogate.

    With --patient-file it searches among the names of that patient, otherwise among those of staff. You need the index
    and its key. The time, your name, the surrogate, and the reason are written to the audit file first. If that fails,
    nothing is shown. A policy with `reveal = false` shows nothing, and neither does an index made under one. With
    `reveal_approvals = 2` in the settings, the first call is a request. After another person approves it, repeat the
    call with --approval. It works once.

    Example:
        incognote reveal "Kevin Chang" --why "call back about a lab result" --patient-file patient.txt
    """
    entry = permitted(asked.settings(), asked, why)
    if as_json:
        say("reveal", {"identity": entry.id, "type": entry.type, "surrogate": entry.whole, "original": entry.original})
    else:
        typer.echo(entry.original)


def permitted(settings: Settings, asked: AskedIdentity, why: str) -> IndexedIdentity:
    """Return the identity if its original may be shown. The request is in the audit file before this returns.

    Raises:
        Exit: another person must approve the request first.
        UsageError: there is no reason, the audit file cannot be written, or no identity has this surrogate.
        PolicyProblem: the policy does not allow it.
    """
    from incognote.errors import PolicyProblem, UsageError
    from incognote.schemas.policy import load_policy
    from incognote.service.monitoring import account, noted

    surrogate, identity = asked.surrogate, asked.identity
    if not why.strip():
        raise UsageError("--why must give a reason.")
    scope, keyring = asked.scope, settings.keyring(persistent=True)
    log = Path(asked.audit).expanduser() if asked.audit else settings.home / "reveals.jsonl"
    of = "patient" if scope else "staff"
    record = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "account": account(),
        "who": asked.who,
        "why": " ".join(why.split()),
        "index": settings.index,
        "key": keyring.id,
        "asked": {"identity": identity} if identity else {"surrogate": surrogate, "of": of},
    }
    rules = load_policy(asked.policy or settings.policy)
    if not rules.relex.reveal:
        write_down(log, {**record, "shown": False, "because": f"policy {rules.name}"})
        raise PolicyProblem(f"The policy {rules.name} has reveal = false, so nothing is shown.")
    question: dict[str, object] = {"surrogate": surrogate, "identity": identity, "domain": settings.domain}
    item = _agreed(settings, question, scope, why, asked.approval)
    try:
        entry = asyncio.run(_entry(settings, asked))
    except UsageError:
        write_down(log, {**record, "shown": False, "because": "several match"})
        raise
    hidden = entry is not None and entry.attributes.get("reveal") == "no"
    shown = entry is not None and not hidden and entry.original is not None
    write_down(log, {**record, "identity": entry.id if entry else None, "shown": shown})
    outcome = "shown" if shown else "not-shown"
    noted(settings, keyring, "original.revealed", outcome=outcome, **item)
    if hidden:
        raise PolicyProblem("This surrogate was made under a policy with reveal = false, so nothing is shown.")
    if entry is None:
        raise UsageError(UNKNOWN)
    return entry


def _agreed(
    settings: Settings, question: dict[str, object], scope: str, why: str, approval: str | None
) -> dict[str, str]:
    """Use an approval, if the settings require one, and return its entry for the audit log.

    Raises:
        Exit: there is no approval yet, so a request was created.
        UsageError: the approval is for another request, or the request was not approved.
    """
    from incognote.errors import UsageError

    if settings.reveal_approvals < 2:
        if approval is not None:
            raise UsageError("--approval is not needed: reveal_approvals is 1. Remove it.")
        return {}
    from incognote.service.audit import AuditLog
    from incognote.service.monitoring import account, audit_folder
    from incognote.service.reveals import open_reveals

    keyring = settings.keyring(persistent=True)
    question = {"what": "original", "index": settings.index, **question}
    with closing(open_reveals(settings, keyring)) as reveals:
        log = AuditLog(audit_folder(settings), keyring)
        if approval is not None:
            return {"item": reveals.take(approval, question, account(), hidden=scope).id}
        request = reveals.ask(question, " ".join(why.split()), account(), hidden=scope)
        log.append("reveal.requested", item=request.id, by=account())
    warn(
        f"Two people must agree. Another person must run: incognote reveals approve {request.id}. Then run this "
        f"command again with --approval {request.id}, before {request.ends}."
    )
    raise typer.Exit(HELD)


def write_down(log: Path, record: dict[str, object]) -> None:
    """Append one line to the audit file and flush it to disk.

    Raises:
        UsageError: the file cannot be written.
    """
    from incognote.errors import UsageError

    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        raise UsageError(f"--audit: the file cannot be written ({error.strerror}), so nothing is shown.") from None


async def _entry(settings: Settings, asked: AskedIdentity) -> IndexedIdentity | None:
    from incognote.relex.index.opening import open_configured

    async with await open_configured(settings) as index:
        return await held(index, settings.domain, asked)


async def held(index: SurrogateIndex, domain: str, asked: AskedIdentity) -> IndexedIdentity | None:
    """Return the identity from an open index; None if there is none.

    A name may be written as in an output: with a title, initials, or a possessive, or only a part of it.

    Raises:
        UsageError: several surrogates may be written in this way.
    """
    from incognote.errors import UsageError

    if asked.identity is not None:
        return (await index.get([asked.identity])).get(asked.identity)
    written = asked.surrogate or ""
    exact = await index.holder(domain, asked.scope, written)
    if exact is not None:
        return exact
    _, wholes = await index.of_scope(domain, asked.scope)
    matches = {whole for whole in wholes if written_for(written, whole)}
    if len(matches) > 1:
        raise UsageError(
            f"{len(matches):,} surrogates can be written like this. Give more of the name, such as given name and "
            "surname, or use --identity with the identity from the output's spans."
        )
    return await index.holder(domain, asked.scope, matches.pop()) if matches else None


def written_for(written: str, whole: str) -> bool:
    """Return True if a surrogate may be written like this: every name shown is the surrogate's, or its initial.

    Two initials alone are too little.
    """
    from incognote.relex.names.likeness import compared, lettered

    (full, *_) = compared(whole)
    for name in compared(written):
        if lettered(name) or not (name.given or name.surname):
            continue
        given = name.given in ("", full.given) or (len(name.given) == 1 and full.given.startswith(name.given))
        if given and (not name.surname or set(name.surname) & set(full.surname)):
            return True
    return False


app = App(help="List and approve requests to reveal, if two people must agree.")


@app.command("list")
def list_(as_json: options.AsJson = False, config: options.Config = None, key_file: options.KeyFile = None) -> None:
    """List the open requests: who asks, for what, and why.

    Example:
        incognote reveals list
    """
    with _opened(config, key_file) as (reveals, _):
        requests = reveals.items()
    if as_json:
        say("reveals list", {"requests": [asdict(request) for request in requests]})
        return
    rows = []
    for request in requests:
        question = {name: str(value) for name, value in request.about["question"].items() if value is not None}
        words = ", ".join(f"{name}: {value}" for name, value in question.items())
        rows.append((request.id, request.by, request.ends, request.approved_by or "", words, request.about["why"]))
    print_table(("request", "by", "ends", "approved by", "asks for", "why"), rows)


@app.command()
def approve(
    request: Annotated[str, typer.Argument(help="The id of the request, from `reveals list`.", show_default=False)],
    config: options.Config = None,
    key_file: options.KeyFile = None,
) -> None:
    """Approve the request of another person, who can then use it once.

    Example:
        incognote reveals approve 7c1e
    """
    from incognote.service.monitoring import account

    with _opened(config, key_file) as (reveals, audit):
        asked = reveals.may_approve(request, account())
        audit.append("reveal.approved", item=asked.id, by=account())
        reveals.approve(request, account())
    typer.echo(f"The request {asked.id} of {asked.by} is approved until {asked.ends}, for one use.")


@contextmanager
def _opened(config: str | None, key_file: str | None) -> Iterator[tuple[Reveals, AuditLog]]:
    from incognote.service.audit import AuditLog
    from incognote.service.monitoring import audit_folder, existing_database_of
    from incognote.service.reveals import open_reveals

    settings = own_settings(config, key_file)
    existing_database_of(settings)
    keyring = settings.keyring(persistent=True)
    with closing(open_reveals(settings, keyring)) as reveals:
        yield reveals, AuditLog(audit_folder(settings), keyring)

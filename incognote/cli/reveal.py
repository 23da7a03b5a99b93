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

def reveal(
    why: Annotated[str, typer.Option(help="The reason, for the audit file.", show_default=False)],
    surrogate: Annotated[
        str | None,
        typer.Argument(
            help="The surrogate as an output shows it, such as Kevin Chang or Dr. Chang.",
            metavar="SURROGATE",
            show_default=False,
        ),
    ] = None,
    identity: Annotated[
        str | None, typer.Option(help="Search for this identity instead of a surrogate.", metavar="ID")
    ] = None,
    patient_file: options.PatientFile = None,
    who: Annotated[str | None, typer.Option(help="Your name, in addition to the account name.", metavar="NAME")] = None,
    audit: Annotated[
        str | None,
        typer.Option(help="The audit file. Default: reveals.jsonl in the home folder of incognote.", metavar="FILE"),
    ] = None,
    approval: Annotated[
        str | None,
        typer.Option(
            help="The id of a request that another person approved. See `incognote reveals`.",
            metavar="ID",
        ),
    ] = None,
    index: options.Index = None,
    domain: options.Domain = None,
    policy: Annotated[
        str | None,
        typer.Option(
            help="The policy whose `reveal` setting applies. Default: the policy in the settings, or strict.",
            metavar="NAME|FILE",
        ),
    ] = None,
    as_json: options.AsJson = False,
    config: options.Config = None,
    key_file: options.KeyFile = None,
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
    settings = own_settings(config, key_file, persistent=False, index=index)
    asked = Asked(surrogate, identity, patient_file, domain or settings.domain)
    found = permitted(settings, asked, why=why, who=who, audit=audit, approval=approval, policy=policy)
    if as_json:
        say("reveal", {"identity": found.id, "type": found.type, "surrogate": found.whole, "original": found.original})
    else:
        typer.echo(found.original)


@dataclass(frozen=True, slots=True)
class Asked:
    """The identity that a command asks about: by its id, or by a surrogate of a patient or of the domain's staff.

    Raises:
        UsageError: neither or both are given.
    """

    surrogate: str | None
    identity: str | None
    patient_file: str | None
    domain: str

    def __post_init__(self) -> None:
        from incognote.errors import UsageError

        if (self.surrogate is None) == (self.identity is None):
            raise UsageError("Name either a surrogate or --identity ID.")

    @property
    def scope(self) -> str:
        """The patient's scope; "" for staff."""
        from incognote.nouns import patient_scope

        subject = options.EngineOptions(patient_file=self.patient_file).subject()
        return patient_scope(subject) if subject else ""


def permitted(
    settings: Settings,
    asked: Asked,
    *,
    why: str,
    who: str | None,
    audit: str | None,
    approval: str | None,
    policy: str | None,
) -> IndexedIdentity:
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
    scope = asked.scope
    log = Path(audit).expanduser() if audit else settings.home / "reveals.jsonl"
    of = "patient" if scope else "staff"
    entry = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "account": account(),
        "who": who,
        "why": " ".join(why.split()),
        "index": settings.index,
        "key": settings.keyring(persistent=True).id,
        "asked": {"identity": identity} if identity else {"surrogate": surrogate, "of": of},
    }
    rules = load_policy(policy or settings.policy)
    if not rules.relex.reveal:
        write_down(log, {**entry, "shown": False, "because": f"policy {rules.name}"})
        raise PolicyProblem(f"The policy {rules.name} has reveal = false, so nothing is shown.")
    question: dict[str, object] = {"surrogate": surrogate, "identity": identity, "domain": asked.domain}
    item = _agreed(settings, question, scope, why, approval)
    try:
        found = asyncio.run(_found(settings, asked))
    except UsageError:
        write_down(log, {**entry, "shown": False, "because": "several match"})
        raise
    hidden = found is not None and found.attributes.get("reveal") == "no"
    shown = found is not None and not hidden and found.original is not None
    write_down(log, {**entry, "identity": found.id if found else None, "shown": shown})
    outcome = "shown" if shown else "not-shown"
    noted(settings, settings.keyring(persistent=True), "original.revealed", outcome=outcome, **item)
    if hidden:
        raise PolicyProblem("This surrogate was made under a policy with reveal = false, so nothing is shown.")
    if found is None:
        raise UsageError(
            "No identity has this surrogate. Name the patient with --patient-file, or the domain with --domain."
        )
    return found


def _agreed(
    settings: Settings, question: dict[str, object], scope: str, why: str, approval: str | None
) -> dict[str, str]:
    """Use an approval, if the settings require one, and return its entry for the audit log.

    Raises:
        Exit: there is no approval yet, so a request was created.
        UsageError: the approval is for another request, or the request was not approved.
    """
    from contextlib import closing

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
        made = reveals.ask(question, " ".join(why.split()), account(), hidden=scope)
        log.append("reveal.requested", item=made.id, by=account())
    warn(
        f"Two people must agree. Another person must run: incognote reveals approve {made.id}. Then run this command "
        f"again with --approval {made.id}, before {made.ends}."
    )  # fmt: skip
    raise typer.Exit(HELD)


def write_down(log: Path, told: dict[str, object]) -> None:
    """Append one line to the audit file and flush it to disk.

    Raises:
        UsageError: the file cannot be written.
    """
    from incognote.errors import UsageError

    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(json.dumps(told, ensure_ascii=False) + "\n")
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        raise UsageError(f"--audit: the file cannot be written ({error.strerror}), so nothing is shown.") from None


async def _found(settings: Settings, asked: Asked) -> IndexedIdentity | None:
    from incognote.relex.index.opening import open_configured

    async with await open_configured(settings) as index:
        return await held(index, asked)


async def held(index: SurrogateIndex, asked: Asked) -> IndexedIdentity | None:
    """Return the identity from an open index; None if there is none.

    A name may be written as in an output: with a title, initials, or a possessive, or only a part of it.

    Raises:
        UsageError: several surrogates may be written in this way.
    """
    from incognote.errors import UsageError

    if asked.identity is not None:
        return (await index.get([asked.identity])).get(asked.identity)
    written = asked.surrogate or ""
    exact = await index.holder(asked.domain, asked.scope, written)
    if exact is not None:
        return exact
    _, wholes = await index.of_scope(asked.domain, asked.scope)
    found = {whole for whole in wholes if written_for(written, whole)}
    if len(found) > 1:
        raise UsageError(
            f"{len(found):,} surrogates can be written like this. Give more of the name, such as given name and "
            "surname, or use --identity with the identity from the output's spans."
        )
    return await index.holder(asked.domain, asked.scope, found.pop()) if found else None


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
        found = reveals.items()
    if as_json:
        say("reveals list", {"requests": [asdict(one) for one in found]})
        return
    rows = []
    for one in found:
        asked = {name: str(value) for name, value in one.about["question"].items() if value is not None}
        words = ", ".join(f"{name}: {value}" for name, value in asked.items())
        rows.append((one.id, one.by, one.ends, one.approved_by or "", words, one.about["why"]))
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
        one = reveals.may_approve(request, account())
        audit.append("reveal.approved", item=one.id, by=account())
        reveals.approve(request, account())
    typer.echo(f"The request {one.id} of {one.by} is approved until {one.ends}, for one use.")


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

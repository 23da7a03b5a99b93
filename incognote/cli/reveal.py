"""`incognote reveal` and `reveals`: show the original behind a surrogate, and approve such requests.

Each access is written to the audit file first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.help import App
from incognote.cli.key import own_settings
from incognote.cli.permitting import AskedIdentity, permitted_request
from incognote.cli.shell import say
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


@options.takes_all
def reveal(
    why: Why,
    image: Annotated[
        str | None,
        typer.Option(help="The number of an image: list what was removed from it.", metavar="ID", show_default=False),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            help="With --image: a new folder for pictures of what was removed.", metavar="FOLDER", show_default=False
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON, with the original.")] = False,
    *,
    asked: AskedIdentity,
) -> None:
    """Show the original behind a surrogate, or what was removed from an image.

    With --patient-file it searches among the names of that patient, otherwise among those of staff. You need the index
    and its key. The time, your name, the surrogate, and the reason are written to the audit file first. If that fails,
    nothing is shown. A policy with `reveal = false` shows nothing, and neither does an index made under one. With
    `reveal_approvals = 2` in the settings, the first call is a request. After another person approves it, repeat it
    with --approval.

    With --image, it lists what was removed from an image.

    Example:
        incognote reveal "Kevin Chang" --why "call back about a lab result" --patient-file patient.txt
        incognote reveal --image 568b1e75e6c18e0697671cd3 --why "wrong patient on a form"
    """
    if image is not None:
        from incognote.cli.revealimage import reveal_image

        reveal_image(asked, image, why, out, as_json=as_json)
        return
    if out is not None:
        from incognote.errors import UsageError

        raise UsageError("--out is only for --image ID. Remove it.")
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
    from incognote.service.reveals import write_down

    surrogate, identity = asked.surrogate, asked.identity
    of = "patient" if asked.scope else "staff"
    about: dict[str, object] = {"identity": identity} if identity else {"surrogate": surrogate, "of": of}
    question: dict[str, object] = {"surrogate": surrogate, "identity": identity, "domain": settings.domain}
    request = permitted_request(settings, asked, why, about, question)
    try:
        entry = asyncio.run(_entry(settings, asked))
    except UsageError:
        write_down(request.log, {**request.record, "shown": False, "because": "several match"})
        raise
    hidden = entry is not None and entry.attributes.get("reveal") == "no"
    shown = entry is not None and not hidden and entry.original is not None
    request.written("original.revealed", shown=shown, identity=entry.id if entry else None)
    if hidden:
        raise PolicyProblem("This surrogate was made under a policy with reveal = false, so nothing is shown.")
    if entry is None:
        raise UsageError(UNKNOWN)
    return entry


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

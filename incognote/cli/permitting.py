"""Who may reveal: the options of a question, the policy, the approval of another person, and the audit file."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.key import own_settings
from incognote.cli.shell import HELD, warn

if TYPE_CHECKING:
    from incognote.settings import Settings


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

    def settings(self, image: str | None = None) -> Settings:
        """Return the settings with these options.

        Args:
            image: the number of an image, if the command asks for one.

        Raises:
            UsageError: not exactly one of the surrogate, the ID, and the number is given.
        """
        from incognote.errors import UsageError

        if sum(one is not None for one in (self.surrogate, self.identity, image)) != 1:
            raise UsageError("Name either a surrogate or --identity ID, or for an image only --image ID.")
        if image is not None and self.patient_file is not None:
            raise UsageError("--patient-file is for a surrogate. Remove it, since --image ID is enough.")
        return own_settings(self.config, self.key_file, index=self.index, domain=self.domain)

    @property
    def scope(self) -> str:
        """The patient's scope; "" for staff."""
        from incognote.nouns import patient_scope

        subject = options.EngineOptions(patient_file=self.patient_file).subject()
        return patient_scope(subject) if subject else ""


@dataclass(frozen=True, repr=False)
class PermittedRequest:
    """A request that may be answered after `written`.

    Args:
        log: the audit file.
        record: the entry, without the answer.
        item: facts about the approval that was used.
    """

    settings: Settings
    log: Path
    record: dict[str, object]
    item: dict[str, str]

    def written(self, event: str, *, shown: bool, image: str | None = None, **facts: str | None) -> None:
        """Write the request to the audit file, and then to the audit log, with the number of an image.

        Args:
            facts: more for the audit file.

        Raises:
            UsageError, IncognoteError: it cannot be written, and nothing may be shown.
        """
        from incognote.service.monitoring import noted
        from incognote.service.reveals import write_down

        write_down(self.log, {**self.record, **facts, "shown": shown})
        told = {"outcome": "shown" if shown else "not-shown", **self.item, **({"image": image} if image else {})}
        noted(self.settings, self.settings.keyring(persistent=True), event, **told)


def permitted_request(
    settings: Settings, asked: AskedIdentity, why: str, about: dict[str, object], question: dict[str, object]
) -> PermittedRequest:
    """Return the request if the policy allows it and, if two people must agree, another person approved it.

    Args:
        about: what is asked, for the audit file.
        question: what is asked, for the person who approves it.

    Raises:
        Exit: another person must approve the request first.
        UsageError: there is no reason, the approval is for another request, or the audit file cannot be written.
        PolicyProblem: the policy does not allow it.
    """
    from incognote.errors import PolicyProblem, UsageError
    from incognote.schemas.policy import load_policy
    from incognote.service.monitoring import account
    from incognote.service.reveals import write_down

    if not why.strip():
        raise UsageError("--why must give a reason.")
    scope = asked.scope
    log = Path(asked.audit).expanduser() if asked.audit else settings.home / "reveals.jsonl"
    record: dict[str, object] = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "account": account(),
        "who": asked.who,
        "why": " ".join(why.split()),
        "index": settings.index,
        "key": settings.keyring(persistent=True).id,
        "asked": about,
    }
    rules = load_policy(asked.policy or settings.policy)
    if not rules.relex.reveal:
        write_down(log, {**record, "shown": False, "because": f"policy {rules.name}"})
        raise PolicyProblem(f"The policy {rules.name} has reveal = false, so nothing is shown.")
    return PermittedRequest(settings, log, record, _agreed(settings, question, scope, why, asked.approval))


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

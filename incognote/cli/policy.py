"""`incognote policy`: list, check, and explain policies."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.help import App
from incognote.cli.shell import FAILURE, say
from incognote.cli.tables import print_rows, print_table

if TYPE_CHECKING:
    from incognote.operators.explain import Row

app = App(help="List, check, and explain policies.")

_USUAL = 0.5  # the default threshold
Which = Annotated[
    str, typer.Argument(metavar="NAME|FILE", help="A shipped policy or a policy file.", show_default=False)
]


@app.command("list")
def list_(as_json: options.AsJson = False) -> None:
    """List the shipped policies.

    Example:
        incognote policy list
    """
    from incognote.schemas.policy import load_policy, shipped_policies

    policies = [load_policy(name) for name in shipped_policies()]
    data = [{"name": p.name, "label": p.label, "version": p.version, "about": p.about} for p in policies]
    rows = [(p.name, p.label or "none", p.about) for p in policies]
    print_rows("policy list", {"policies": data}, ("name", "legal label", "about"), rows, as_json=as_json)


@app.command()
def lint(which: Which, as_json: options.AsJson = False) -> None:
    """Check a policy for contradictions, also with its legal label.

    Example:
        incognote policy lint strict
    """
    from incognote.schemas.policy import claimable, read_policy
    from incognote.schemas.policy import lint as faults_of

    policy = read_policy(which)
    faults = faults_of(policy)
    labels = () if faults else claimable(policy)
    if as_json:
        rows = [{"code": f.code, "type": f.type, "message": f.message} for f in faults]
        data = {"policy": policy.name, "version": policy.version, "faults": rows, "claimable": list(labels)}
        say("policy lint", data)
    elif faults:
        for fault in faults:
            typer.echo(f"{fault.code}: {fault.message}")
        typer.echo(f"{len(faults)} fault{'s' * (len(faults) != 1)} in {policy.name}")
    else:
        typer.echo(f"{policy.name} {policy.version}: valid" + (f", claims {policy.label}" if policy.label else ""))
        if not policy.label and labels:
            typer.echo(
                f"It claims no legal label. Its operators for free text are compatible with: {', '.join(labels)}"
            )
    if faults:
        raise typer.Exit(FAILURE)


@app.command()
def explain(
    which: Which,
    entity_type: Annotated[
        str | None, typer.Argument(metavar="TYPE", help="Show only this entity type.", show_default=False)
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show what a policy does with each entity type, and where it says so.

    Example:
        incognote policy explain strict
    """
    from incognote.operators.explain import explain as rows_of
    from incognote.schemas.catalogue import catalogue
    from incognote.schemas.policy import load_policy

    policy = load_policy(which)
    wanted = catalogue()[entity_type].name if entity_type else None
    rows = [row for row in rows_of(policy) if wanted in (None, row.type)]
    if as_json:
        head = {"policy": policy.name, "version": policy.version, "label": policy.label, "on_review": policy.on_review}
        types = [{**asdict(row), "params": dict(row.params)} for row in rows]
        say("policy explain", {**head, "needs_subject": policy.needs_subject, "types": types})
        return
    typer.echo(f"{policy.name} {policy.version}: {policy.about}")
    typer.echo(
        f"Legal label: {policy.label or 'none'}. Doubtful findings: "
        + (
            "the record is held for review."
            if policy.on_review == "hold"
            else "the whole line is masked, then checked again."
        )
        + (" Dates are shifted per patient, so records need a patient." if policy.needs_subject else "")
    )
    print_table(
        ("type", "HIPAA", "handled as", "operator", "example (invented)"),
        [(row.type, row.hipaa, row.served_as or "", _becomes(row), f"{row.example} -> {row.result}") for row in rows],
    )


def _becomes(row: Row) -> str:
    if row.operator is None:
        return "unchanged: the policy does not handle it"
    params = ", ".join(f"{name} {value}" for name, value in row.params.items() if value not in ("", False))
    score = f", from a score of {row.threshold:g}" if row.threshold != _USUAL else ""
    return row.operator + (f" ({params})" if params else "") + score

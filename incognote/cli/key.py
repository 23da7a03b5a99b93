"""`incognote key`, and the key a run finds or makes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incognote.cli.shell import warn

if TYPE_CHECKING:
    from incognote.settings import Settings

app = typer.Typer(help="The master key.", no_args_is_help=True)

LOSS = (
    "Keep a copy in a safe place: without it nobody can open the quarantine, repeat hashes and date shifts, "
    "or find an input's output."
)


@app.command("new")
def new(
    path: Annotated[
        str | None, typer.Argument(help="Where; default: the place where incognote looks by itself.")
    ] = None,
) -> None:
    """Make a new master key in a file that only you can read. An existing file is never replaced."""
    from incognote.errors import UsageError
    from incognote.keys import Keyring
    from incognote.settings import home

    target = Path(path).expanduser() if path else home() / "master.key"
    try:
        key = Keyring.write_new(target)
    except FileExistsError:
        raise UsageError("there is a file already: name another, or move it away; what it made needs it") from None
    except OSError as error:
        raise UsageError(f"the key file cannot be written: {error.strerror}") from None
    typer.echo(f"Key {key.id} written to {target}")
    typer.echo(LOSS)
    if path:
        typer.echo(f"Use it with --key-file {target} or INCOGNOTE_KEY_FILE={target}")


def key_file(settings: Settings, *, persistent: bool) -> Path | None:
    """The key file of one's own that a run uses where no key is configured; None where one is, or none is needed.

    Args:
        persistent: make one where there is none, and say so.
    """
    from incognote.keys import Keyring

    if settings.key_sources:
        return None
    own = settings.home / "master.key"
    if own.exists():
        return own
    if not persistent:
        return None
    try:
        key = Keyring.write_new(own)
    except FileExistsError:
        return own  # another run was quicker
    except OSError as error:
        from incognote.errors import KeyMissing

        raise KeyMissing(f"no key is configured and none can be made ({error.strerror}): use --key-file") from None
    warn(f"no key is configured: made key {key.id} in {own}. {LOSS}")
    return own


def own_settings(config: str | None, key: str | None, *, persistent: bool = False, **more: Any) -> Settings:
    """The settings, with the key where incognote looks by itself if none is configured.

    Args:
        config, key: the files that were named.
        persistent: make a key where there is none, and say so.
        more: settings that were given besides.
    """
    from incognote.settings import Settings

    settings = Settings.load(config, key_file=key, **more)
    own = key_file(settings, persistent=persistent)
    return settings if own is None else settings.model_copy(update={"key_file": own})

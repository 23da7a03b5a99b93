"""`incognote serve`: start the REST API, the try page, and the review page."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incognote.cli import options
from incognote.cli.shell import warn

if TYPE_CHECKING:
    from incognote.sdk import Deidentifier

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@options.takes_all
def serve(
    ctx: typer.Context,
    host: Annotated[str, typer.Option(help="The address to listen on.", metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port. 0 chooses a free one.", min=0, max=65535)] = 8000,
    certificate: Annotated[
        str | None, typer.Option(help="A TLS certificate (PEM). Needs --certificate-key.", metavar="FILE")
    ] = None,
    certificate_key: Annotated[
        str | None, typer.Option(help="The private key of the certificate (PEM).", metavar="FILE")
    ] = None,
    *,
    asked: options.EngineOptions,
    models: options.ModelOptions,
) -> None:
    """Start the REST API, the try page (/), and the review page (/review).

    No configuration is needed. Open the printed address and paste a note. As long as there is no API key, the server
    listens on this computer only, and requests need a temporary token. The printed address contains it, and so does a
    file that only you can read. It does not have the roles approve and reveal. Make keys for other people and
    programs with `incognote key api new NAME --role submit`.

    Example:
        incognote serve --port 8000
    """
    import secrets
    import socket
    import sys

    from incognote.cli.engine import engine, settings_of
    from incognote.errors import MissingExtra, UsageError
    from incognote.files.atomic import write_atomic

    if asked.patient is not None or asked.patient_file is not None:
        raise UsageError(
            "--patient and --patient-file cannot be used with serve, because each request names its own patient. "
            "Remove the option."
        )
    if (certificate is None) != (certificate_key is None):
        raise UsageError("--certificate and --certificate-key must be used together.")
    try:
        import uvicorn

        from incognote.service.api.app import application
        from incognote.service.api.connections import limited_connections
        from incognote.service.api.context import ApiContext
    except ImportError:
        raise MissingExtra("service", "the REST API") from None
    from incognote.service.telemetry import telemetry_of

    made = engine(asked, models, persistent=True)
    ctx.with_resource(made)
    made.ready()
    telemetry = telemetry_of(made.engine.settings.service)
    ctx.call_on_close(telemetry.close)
    given: dict[str, Any] = {"config": asked.config, **settings_of(asked, models, {}), **_key(made)}
    context = ApiContext(made, telemetry, given)
    ctx.call_on_close(context.close)
    local = host in LOOPBACK
    token = secrets.token_urlsafe(32) if local and not context.keys.any() else None
    if not local and not context.keys.any():
        raise UsageError(
            "To serve other computers, create an API key first: incognote key api new NAME --role submit"
        )
    if not local and certificate is None:
        warn("The connection is not encrypted. Use --certificate, or run a TLS proxy on this computer.")
    limits = made.engine.settings.service
    config = uvicorn.Config(
        application(context, token=token), host, port, log_config=None, access_log=False, server_header=False,
        date_header=False, proxy_headers=False, ssl_certfile=certificate, ssl_keyfile=certificate_key, ws="none",
        timeout_graceful_shutdown=20, http=limited_connections(limits.api_seconds / 6, limits.api_connections),
    )  # fmt: skip
    try:
        config.load()
    except OSError as error:  # an unreadable file, or SSLError: load() reads only the certificate and its key
        why = error.strerror or type(error).__name__
        raise UsageError(f"The certificate cannot be used: {why}. Check --certificate and --certificate-key.") from None
    server = uvicorn.Server(config)
    telemetry.take_over()
    try:  # clients can connect once the address is printed
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        sockets = [socket.create_server((host, port), family=family, backlog=config.backlog)]
    except OSError as error:
        why = str(error.strerror).partition(" (")[0]  # drops the address that Python adds
        raise UsageError(f"Cannot listen on {host}, port {port}: {why}. Use another --host or --port.") from None
    taken = sockets[0].getsockname()[1]
    scheme = "https" if certificate else "http"
    shown = f"[{host}]" if ":" in host else host
    url, more = f"{scheme}://{shown}:{taken}", "with an API key"
    if token is not None:
        file = made.engine.settings.home / f"serve-{taken}.token"
        write_atomic(file, token.encode() + b"\n", private=True)
        ctx.call_on_close(lambda: file.unlink(missing_ok=True))
        more = f"with the token in {file}"
        if sys.stderr.isatty():  # keeps the token out of logs
            url, more = f"{url}/#token={token}", "on this computer"
    typer.echo(f"Open {url} {more}. Press Ctrl+C to stop.", err=True)
    with suppress(KeyboardInterrupt):  # uvicorn raises the signal again after its shutdown
        server.run(sockets=sockets)


def _key(made: Deidentifier) -> dict[str, Any]:
    """Return the key file that was found or created, so that a second engine uses the same key."""
    file = made.engine.settings.key_file
    return {} if file is None else {"key_file": file}

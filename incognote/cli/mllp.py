"""`incognote mllp`: receive HL7 v2 messages from an interface engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.shell import warn

if TYPE_CHECKING:
    from incognote.service.mllp import MllpListener


def mllp(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Where to store messages. Only you may read it.")],
    host: Annotated[str, typer.Option(help="The address to listen on.", metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port. 0 chooses a free one.", min=0, max=65535)] = 2575,
    peer: Annotated[
        list[str] | None,
        typer.Option(help="Who may connect: an address or network. Default: this computer.", metavar="NETWORK"),
    ] = None,
    certificate: Annotated[
        str | None, typer.Option(help="A TLS certificate (PEM). Needs --certificate-key.", metavar="FILE")
    ] = None,
    certificate_key: Annotated[
        str | None, typer.Option(help="The private key of the certificate (PEM).", metavar="FILE")
    ] = None,
    client_authority: Annotated[
        str | None, typer.Option(help="Accept only clients with a certificate of this authority (PEM).", metavar="FILE")
    ] = None,
    config: options.Config = None,
    key_file: options.KeyFile = None,
) -> None:
    """Receive HL7 v2 messages by MLLP for a worker.

    Each message becomes a file of a folder, which `incognote worker` reads as its source.

    A message is acknowledged (AA) when it is on the disk. The same message is stored once, even if it is sent again.
    AE means that the message could not be stored and should be sent again. AR means that it is not HL7 v2, has no
    control ID, or is too large. Press Ctrl+C to stop.

    Example:
        incognote mllp received --port 2575 --peer 10.20.0.0/16 --host 0.0.0.0
    """
    import asyncio
    from ipaddress import ip_network

    from incognote.cli.heldfolder import own_keyring
    from incognote.cli.serve import LOOPBACK
    from incognote.errors import UsageError
    from incognote.service.mllp import MllpListener, Spool, tls_context

    if (certificate is None) != (certificate_key is None) or (client_authority and certificate is None):
        raise UsageError("--certificate and --certificate-key must be used together, also with --client-authority.")
    if host not in LOOPBACK and not peer:
        raise UsageError("To receive messages from other computers, name them: --peer 10.20.0.0/16")
    try:
        peers = [ip_network(one) for one in peer or ("127.0.0.0/8", "::1/128")]
    except ValueError:
        raise UsageError("--peer must be an address or a network such as 10.20.0.0/16.") from None
    tls = None
    if certificate and certificate_key:
        try:
            clients = Path(client_authority) if client_authority else None
            tls = tls_context(Path(certificate), Path(certificate_key), clients)
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise UsageError(f"The certificate cannot be used: {why}. Check the files.") from None
    elif host not in LOOPBACK:
        warn("The connection is not encrypted. Use --certificate, or run a TLS proxy on this computer.")
    spool = Spool(Path(folder), own_keyring(config, key_file))
    listener = MllpListener(spool, peers, tls=tls)
    try:
        asyncio.run(_until_stopped(listener, host, port))
    except OSError as error:
        why = str(error.strerror).partition(" (")[0]  # drops the address that Python adds
        raise UsageError(f"Cannot listen on {host}, port {port}: {why}. Use another --host or --port.") from None
    finally:
        spool.close()
    done = listener.received
    typer.echo(
        f"{done.stored:,} stored, {done.duplicates:,} received again, {done.failed:,} not stored, "
        f"{done.rejected:,} rejected; {done.refused:,} connections refused, {done.broken:,} broken"
    )


async def _until_stopped(listener: MllpListener, host: str, port: int) -> None:
    import asyncio
    import signal

    stopping = asyncio.Event()
    taken = await listener.start(host, port)
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    typer.echo(f"Receiving on {host}, port {taken}. Press Ctrl+C to stop.", err=True)
    try:
        await stopping.wait()
    finally:
        await listener.stop()

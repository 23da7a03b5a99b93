"""A real PostgreSQL server in a temporary folder, on a free loopback port. It is removed at the end.

pytest-postgresql is not used. Its release 10.0 starts `initdb` as the caller, and `initdb` refuses to run as root, as
in CI: the only test failed before it began. It also cannot stop a server the way a power failure does.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from incognote.errors import UsageError

_PLACES = ("/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt")
_USER = "incognote"
_STARTING = 60.0
_FAST = ("fsync=off", "full_page_writes=off", "shared_buffers=32MB", "max_connections=100", "log_min_messages=fatal")


def programs() -> Path | None:
    """The folder of the server's programs, or None if PostgreSQL is not installed."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    return next((path.parent for place in _PLACES for path in sorted(Path(place).glob("*/bin/initdb"))), None)


class LocalPostgres:
    """A context manager that starts the server and removes it:

        with LocalPostgres() as base:
            Ledger(base.url, keyring)

    PostgreSQL refuses to run as root, so it runs as `nobody` if the caller is root.

    Raises:
        UsageError: PostgreSQL is not installed, or does not start.
    """

    def __init__(self) -> None:
        there = programs()
        if there is None:
            raise UsageError("PostgreSQL is not installed: install the server package (postgresql)")
        self._programs = there
        self._folder = Path(tempfile.mkdtemp(prefix="incognote-pg-"))
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            self._as = {"user": "nobody", "group": _group(), "extra_groups": []}
        if self._as:
            shutil.chown(self._folder, "nobody", _group())
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._run("initdb", "-D", str(self._data), "-U", _USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        here = (f"port={self._port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={self._folder}")
        with (self._data / "postgresql.conf").open("a") as conf:
            for one in (*_FAST, *here):
                name, _, value = one.partition("=")
                conf.write(f"{name} = '{value}'\n")

    @property
    def url(self) -> str:
        """The URL of the database."""
        return f"postgresql://{_USER}@127.0.0.1:{self._port}/postgres"

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def start(self) -> Self:
        """Start the server. After a stop, it uses the same port and the same data."""
        self._run("pg_ctl", "-D", str(self._data), "-w", "-l", str(self._folder / "log"), "start")
        return self

    def stop(self, *, at_once: bool = False) -> None:
        """Stop the server.

        Args:
            at_once: stop as in a power failure, so that the next start recovers.
        """
        mode = "immediate" if at_once else "fast"
        self._run("pg_ctl", "-D", str(self._data), "-w", "-m", mode, "stop")

    def restart(self, *, at_once: bool = False) -> None:
        """Stop and start the server."""
        self.stop(at_once=at_once)
        self.start()

    def empty(self) -> None:
        """Drop all tables. A separate database for each test would cost 7 MB."""
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")

    def close(self) -> None:
        """Stop the server and remove its files."""
        held = self._data / "postmaster.pid"
        if held.exists():
            try:
                os.kill(int(held.read_text().split()[0]), signal.SIGINT)
                self._run("pg_ctl", "-D", str(self._data), "-w", "-m", "immediate", "stop", check=False)
            except (OSError, ValueError):
                pass  # it has just ended on its own
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, program: str, *arguments: str, check: bool = True) -> None:
        done = subprocess.run(  # noqa: S603 -- PostgreSQL's own programs
            [str(self._programs / program), *arguments], cwd=self._folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=_STARTING, check=False, **self._as,
        )  # fmt: skip
        if check and done.returncode:
            raise UsageError(f"PostgreSQL's {program} failed ({done.returncode})")


def _group() -> str:
    import grp
    import pwd

    return grp.getgrgid(pwd.getpwnam("nobody").pw_gid).gr_name

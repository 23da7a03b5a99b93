"""Run the real command line as separate processes, and read what Linux reports about them while they run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from incognote.keys import Keyring


@dataclass(frozen=True)
class Ended:
    """The result of a process, with its processor seconds and its peak memory in MB (2**20 bytes)."""

    code: int
    data: dict[str, Any]
    seconds: float
    cpu_seconds: float
    peak_mb: int


class Running:
    """One command of incognote, from its start to its end.

    Args:
        home: the folder of its key and of its output, in one file per stream.
        words: the command and its arguments.
        service: settings of the table `[service]`.
    """

    def __init__(self, home: Path, *words: object, service: dict[str, Any] | None = None) -> None:
        home.mkdir(exist_ok=True)
        if not (home / "master.key").exists():
            Keyring.write_new(home / "master.key")
        name = f"{words[0]}-{time.monotonic_ns()}"
        self._out, self.log = home / f"{name}.out", home / f"{name}.log"
        environment = {key: value for key, value in os.environ.items() if not key.startswith("INCOGNOTE_")}
        settings = {"INCOGNOTE_HOME": str(home), "INCOGNOTE_SERVICE": json.dumps(service or {})}
        self._began, self._peak = time.monotonic(), 0.0
        self._ended: Ended | None = None
        with self._out.open("wb") as out, self.log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 -- our own command
                [sys.executable, "-m", "incognote", *map(str, words)],
                stdout=out, stderr=log, env={**environment, **settings},
            )  # fmt: skip

    @property
    def lives(self) -> bool:
        """Whether it is running. Poll it often, because each call updates the peak memory."""
        if self._ended is not None:
            return False
        self._peak = max(self._peak, self._status("VmHWM"))
        done, status, used = os.wait4(self._process.pid, os.WNOHANG)
        if not done:
            return True
        code = self._process.returncode = os.waitstatus_to_exitcode(status)
        output = self._out.read_text(encoding="utf-8").strip()
        data = json.loads(output)["data"] if output and code in (0, 3) else {}
        self._ended = Ended(
            code, data, round(time.monotonic() - self._began, 1), round(used.ru_utime + used.ru_stime, 1),
            round(self._peak),
        )  # fmt: skip
        return False

    @property
    def token(self) -> str:
        """The token of a server that was started without API keys, once it is serving."""
        (file,) = self.log.parent.glob("serve-*.token")
        return file.read_text(encoding="ascii").strip()

    def ends(self) -> Ended:
        """Wait for the process to end.

        Raises:
            AssertionError: its exit code is not one that our commands should return. The message is the end of its log.
        """
        while self.lives:
            time.sleep(0.05)
        assert self._ended is not None  # it is not running
        if self._ended.code not in (0, 3):
            raise AssertionError(self.log.read_text(encoding="utf-8")[-2000:])
        return self._ended

    def stop(self) -> Ended:
        """Ask the process to stop, and wait for its end."""
        if self.lives:
            os.kill(self._process.pid, signal.SIGTERM)
        return self.ends()

    @property
    def resident_mb(self) -> float:
        """The memory that it uses now."""
        return self._status("VmRSS")

    @property
    def cpu_seconds(self) -> float:
        """The processor seconds that it has used so far."""
        with open(f"/proc/{self._process.pid}/stat", encoding="ascii", errors="replace") as file:
            user, system = file.read().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    @property
    def descriptors(self) -> tuple[int, int]:
        """The number of files and the number of sockets that it has open."""
        kinds = [self._kind(name) for name in os.listdir(f"/proc/{self._process.pid}/fd")]
        return kinds.count("file"), kinds.count("socket")

    def _kind(self, descriptor: str) -> str:
        try:
            found = os.readlink(f"/proc/{self._process.pid}/fd/{descriptor}")
        except FileNotFoundError:
            return "closed since"
        return "socket" if found.startswith("socket:") else "file"

    def _status(self, name: str) -> float:
        with open(f"/proc/{self._process.pid}/status", encoding="ascii", errors="replace") as lines:
            return next((int(line.split()[1]) / 2**10 for line in lines if line.startswith(name)), 0.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.lives:  # a test failed
            os.kill(self._process.pid, signal.SIGKILL)
            while self.lives:
                time.sleep(0.01)

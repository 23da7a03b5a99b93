"""A peer in a process of its own, with an interpreter of its own.

Texts go in through a pipe, one JSON object per line, and the findings come back the same way. No text is in an argument
or an environment variable. Whatever a peer prints is discarded, because it may quote what it read.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from incognote.errors import UnknownName
from incognote.evaluation.formats.document import LabeledSpan
from incognote.evaluation.formats.names import ours
from incognote_benchmarks.peers.base import Absent, Detected, PeerFailed

PEERS: Mapping[str, tuple[str, str]] = {
    "incognote": ("ours", "incognote"),
    "incognote-rules": ("ours", "incognote"),
    "incognote-fast": ("ours", "incognote"),
    "presidio": ("presidio", "presidio-analyzer"),
    "presidio-patterns": ("presidio", "presidio-analyzer"),
    "philter": ("philter", "philter-ucsf nltk chardet numpy"),
    "scrubadub": ("scrubadub", "scrubadub"),
    "datafog": ("datafog", "datafog"),
}
"""For each peer, its adapter in `workers/` and its pip packages."""

_HOME = "incognote_benchmarks.peers.workers"
# One thread, or processor time would depend more on the machine than on the peer. No network access.
_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
    "DATAFOG_NO_TELEMETRY": "1",
}
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "SYSTEMROOT", "TEMP", "TMP")


class Process:
    """A peer behind a worker.

    Args:
        name: one of PEERS, or the name in the table for your own adapter.
        python: the interpreter that has the peer; ours by default.
        settings: for the adapter: `model`, a spaCy model's name or folder.
        adapter: a file like those of `workers/`.
        scheme: the table of `names.toml` for its types; the adapter's name by default.

    Raises:
        UnknownName: there is no such peer and no adapter is given.
    """

    def __init__(
        self,
        name: str,
        python: str | Path | None = None,
        settings: Mapping[str, str] | None = None,
        *,
        adapter: Path | None = None,
        scheme: str | None = None,
    ) -> None:
        if adapter is None and name not in PEERS:
            raise UnknownName("peer", name, dict(PEERS))
        self.name, self.version, self.about = name, "", ""
        self._python, self._adapter = str(python or sys.executable), adapter
        self._settings = {**(settings or {}), "peer": name}
        self._scheme = scheme or (PEERS[name][0] if name in PEERS else "presidio")

    def __repr__(self) -> str:
        return f"Process({self.name!r})"

    def detect(self, texts: Sequence[str]) -> Detected:
        """See `Peer`."""
        said, rows, took = self._answers(self._run(texts), len(texts))
        self.version, self.about = str(said["version"]), str(said["about"])
        cpu = float(took["cpu_seconds"])
        return Detected(
            labels=tuple(None if "error" in row else self._labels(row["spans"]) for row in rows),
            characters_per_second=sum(map(len, texts)) / cpu if cpu > 0 else None,
            peak_mb=took["peak_mb"],
            ready_seconds=float(said["ready_seconds"]),
        )

    def _run(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        asked = "".join(json.dumps({"text": text}) + "\n" for text in texts)
        with ExitStack() as stack:
            home = files(_HOME)
            serve = stack.enter_context(as_file(home.joinpath("serve.py")))
            memory = stack.enter_context(as_file(files("incognote_benchmarks.detection").joinpath("memory.py")))
            name = f"{PEERS[self.name][0]}.py" if self._adapter is None else ""
            adapter = self._adapter or stack.enter_context(as_file(home.joinpath(name)))
            environment = {**{k: os.environ[k] for k in _KEPT if k in os.environ}, **_ENVIRONMENT}
            try:
                done = subprocess.run(  # noqa: S603 -- the caller chose the interpreter; texts go through the pipe
                    [self._python, "-IB", str(serve), str(adapter), json.dumps(self._settings), str(memory)],
                    input=asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
                    encoding="utf-8", check=False,
                )  # fmt: skip
            except OSError as error:
                raise Absent(f"{self.name}: its interpreter cannot be run ({type(error).__name__})") from None
        try:
            rows: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
        except ValueError:
            raise PeerFailed(f"{self.name}: its worker's answer is not JSON lines") from None
        if done.returncode or not rows:
            raise PeerFailed(f"{self.name}: its process ended with {done.returncode} before it answered")
        return rows

    def _answers(
        self, rows: list[dict[str, Any]], texts: int
    ) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
        if "absent" in rows[0]:
            package = PEERS[self.name][1] if self.name in PEERS else "its package"
            raise Absent(
                f"{self.name} did not run: {rows[0]['absent']}. Install it apart from incognote's "
                f"dependencies (pip install {package}) and name that interpreter: --peer {self.name}=PYTHON"
            )
        if len(rows) != texts + 2 or "version" not in rows[0] or "cpu_seconds" not in rows[-1]:
            raise PeerFailed(f"{self.name}: {max(0, len(rows) - 2)} answers to {texts} texts")
        return rows[0], rows[1:-1], rows[-1]

    def _labels(self, spans: Sequence[Sequence[Any]]) -> tuple[LabeledSpan, ...]:
        return tuple(LabeledSpan(int(start), int(end), _named(self._scheme, str(type_))) for start, end, type_ in spans)


def _named(scheme: str, theirs: str) -> str:
    """Our type for a peer's name, through presidio's name."""
    folded = theirs.upper()
    return ours(_tables().get(scheme, {}).get(folded, folded), "presidio" if scheme != "ours" else "")


@cache
def _tables() -> dict[str, dict[str, str]]:
    return tomllib.loads(files("incognote_benchmarks.peers").joinpath("names.toml").read_text(encoding="utf-8"))

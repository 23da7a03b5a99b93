"""A real OpenSearch node on the local machine, shared by all processes of a test run."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

START = Path(__file__).parents[2] / "scripts" / "opensearch" / "start.sh"
_WHOLE_RUN = 1500  # seconds: other processes may still be working long after this one has run out of tests
_PATIENCE = 240  # seconds to wait for a node; the first one has to be built


class Node:
    """A node with its own data folder, which can be killed and restarted on the same data."""

    def __init__(self, folder: Path, stdin: int | None = None) -> None:
        self.folder = folder
        self.port = _free_port()
        self._stdin = stdin
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """The host and port."""
        return f"localhost:{self.port}"

    def start(self) -> None:
        """Start the node and wait until it serves its data."""
        self.folder.mkdir(parents=True, exist_ok=True)
        log = self.folder.parent / f"{self.folder.name}.log"
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                ["bash", START, self.folder, str(self.port)],
                stdin=subprocess.PIPE if self._stdin is None else self._stdin,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        until = time.monotonic() + _PATIENCE
        while not self._serves():
            if self._process.poll() is not None:
                told = log.read_text(errors="replace")
                if "Could not transfer" in told or "Could not resolve" in told or "Unknown host" in told:
                    pytest.skip("the jars of the OpenSearch node cannot be fetched")
                raise RuntimeError(f"the node did not start:\n{told[-2000:]}")
            assert time.monotonic() < until, "the node does not come"
            time.sleep(0.1)

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stdin:
            self._process.stdin.close()

    def wait(self) -> None:
        """Wait until it has ended, which happens when no process of the test run holds its standard input open."""
        assert self._process is not None
        self._process.wait(timeout=_WHOLE_RUN)

    def _serves(self) -> bool:
        url = f"http://{self.address}/_cluster/health?wait_for_status=yellow&timeout=5s"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return answer.status == 200
        except OSError:
            return False


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def needs_java() -> None:
    """Skip if a node cannot be started."""
    for program in ("java", "mvn"):
        if shutil.which(program) is None:
            pytest.skip(f"an OpenSearch node needs {program}")


@pytest.fixture(scope="session")
def opensearch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The node's host and port. It runs as long as a process of the test run holds its pipe open."""
    pytest.importorskip("opensearchpy", reason="the extra `opensearch` is not installed")
    needs_java()
    base = tmp_path_factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    pipe, said = root / "opensearch.pipe", root / "opensearch.json"
    node = None
    with (root / "opensearch.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if said.exists():
            hold = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        else:
            os.mkfifo(pipe)
            hold = os.open(pipe, os.O_RDWR)
            read = os.open(pipe, os.O_RDONLY)
            node = Node(root / "opensearch", read)
            try:
                node.start()
            except BaseException:
                os.close(hold)
                pipe.unlink()
                raise
            finally:
                os.close(read)
            said.write_text(json.dumps({"address": node.address}))
    yield json.loads(said.read_text())["address"]
    os.close(hold)
    if node is not None:
        node.wait()


@pytest.fixture
def own_node(tmp_path: Path) -> Iterator[Node]:
    """A node that a test may kill."""
    pytest.importorskip("opensearchpy", reason="the extra `opensearch` is not installed")
    needs_java()
    node = Node(tmp_path / "node")
    node.start()
    yield node
    with contextlib.suppress(ProcessLookupError):
        node.kill()

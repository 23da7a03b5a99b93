"""A standalone cluster of Spark on this machine: a master and workers as processes on 127.0.0.1. All ends with it.

    python -m incognote_benchmarks.spark.cluster --workers 2 --key-file KEY

prints the URL of the master and runs until it is interrupted.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from incognote.errors import MissingExtra, UsageError

_STARTING = 120.0
_MASTER = re.compile(r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
_REGISTERED = "Successfully registered with master"
_PAGE = re.compile(r"Bound \w+ to [\w.:]+, and started at (http://\S+)")


def spark_home() -> Path:
    """Return the folder of Spark within the installed pyspark.

    Raises:
        MissingExtra: pyspark is not installed.
        UsageError: Java is not installed.
    """
    try:
        import pyspark
    except ImportError:
        raise MissingExtra("spark", "a cluster of Spark") from None
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        raise UsageError("Spark needs Java: install a Java runtime (17 or later), or set JAVA_HOME")
    return Path(pyspark.__file__).parent


class LocalCluster:
    """A context manager that starts a master and workers, and ends them.

    Args:
        workers: each has one core, so it runs one Python worker.
        environment: variables of the workers, such as INCOGNOTE_KEY_FILE.
        memory: the memory of each worker, as Spark writes it.

    Attributes:
        url: the URL of the master.
        folder: the files of the workers: their logs, and what they write while a job runs.

    Raises:
        MissingExtra, UsageError: pyspark or Java is not installed, or a process does not start.
    """

    def __init__(self, workers: int = 2, environment: Mapping[str, str] | None = None, *, memory: str = "1g") -> None:
        self._home = spark_home()
        self.folder = Path(tempfile.mkdtemp(prefix="incognote-spark-"))
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("INCOGNOTE_")},
            "SPARK_HOME": str(self._home),
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_NO_DAEMONIZE": "1",
            "PYSPARK_PYTHON": sys.executable,
            **(environment or {}),
        }
        self._workers, self._memory = workers, memory
        self._running: list[subprocess.Popen[bytes]] = []
        self._logs: list[Path] = []
        self.url = ""

    def start(self) -> Self:
        """Start the master and then the workers."""
        master = self._start("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0",
                             "--webui-port", "0")  # fmt: skip
        self.url = self._wait(master, _MASTER)
        logs = [
            self._start(f"worker{number}", "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--cores",
                        "1", "--memory", self._memory, "--webui-port", "0", "--work-dir",
                        str(self.folder / f"work{number}"), self.url)
            for number in range(self._workers)
        ]  # fmt: skip
        for log in logs:
            self._wait(log, re.compile(f"({_REGISTERED})"))
        return self

    @property
    def pages(self) -> list[str]:
        """The addresses of the web pages of the master and the workers."""
        found = [page for log in self._logs for page in _PAGE.findall(log.read_text(errors="replace"))]
        return sorted({re.sub(r"//[^:/]+:", "//127.0.0.1:", page) for page in found})

    def executors(self) -> list[int]:
        """Return the process ids of the executors that run now."""
        mine = {process.pid for process in self._running}
        return sorted(pid for pid in below(mine) if b"CoarseGrainedExecutorBackend" in _command(pid))

    def python_workers(self) -> list[int]:
        """Return the process ids of the Python processes of the executors."""
        return sorted(pid for pid in below(set(self.executors())) if b"pyspark" in _command(pid))

    def kill_executor(self) -> int:
        """Kill one executor at once, as a failing machine does. Return its process id.

        Raises:
            UsageError: none runs.
        """
        running = self.executors()
        if not running:
            raise UsageError("no executor runs: start a job first")
        os.kill(running[0], signal.SIGKILL)
        return running[0]

    def close(self) -> None:
        """End all processes and remove their files."""
        for process in reversed(self._running):
            process.terminate()
        for process in self._running:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, name: str, *words: str) -> Path:
        log = self.folder / f"{name}.log"
        with log.open("wb") as out:
            self._running.append(
                subprocess.Popen(  # noqa: S603 -- Spark's own program
                    [str(self._home / "bin" / "spark-class"), *words], stdout=out, stderr=out, cwd=self.folder,
                    env=self._environment,
                )
            )  # fmt: skip
        self._logs.append(log)
        return log

    def _wait(self, log: Path, pattern: re.Pattern[str]) -> str:
        end = time.monotonic() + _STARTING
        while time.monotonic() < end:
            found = pattern.search(log.read_text(errors="replace"))
            if found is not None:
                return found[1]
            if any(process.poll() is not None for process in self._running):
                break
            time.sleep(0.1)
        raise UsageError(f"Spark did not start. The end of its log: {log.read_text(errors='replace')[-500:]}")

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


def below(parents: set[int]) -> set[int]:
    """Return the process ids of all descendants of some processes."""
    children: dict[int, list[int]] = {}
    for pid, parent in _processes():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    waiting = list(parents)
    while waiting:
        for child in children.get(waiting.pop(), ()):
            found.add(child)
            waiting.append(child)
    return found


def _processes() -> Iterator[tuple[int, int]]:
    for path in Path("/proc").glob("[0-9]*"):
        try:
            yield int(path.name), int((path / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has just ended


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def resident_mb(pid: int) -> float:
    """Return the memory that a process uses now; 0 if it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as lines:
            return next((int(line.split()[1]) / 2**10 for line in lines if line.startswith("VmRSS")), 0.0)
    except OSError:
        return 0.0


def main(out: IO[str] = sys.stdout) -> None:
    """Start a cluster and wait."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="1g", help="of each worker")
    parser.add_argument("--key-file", type=Path, help="INCOGNOTE_KEY_FILE of the workers")
    asked = parser.parse_args()
    environment = {"INCOGNOTE_KEY_FILE": str(asked.key_file.resolve())} if asked.key_file else {}
    with LocalCluster(asked.workers, environment, memory=asked.memory) as cluster:
        out.write(f"{cluster.url}\n")
        out.flush()
        try:
            signal.pause()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()

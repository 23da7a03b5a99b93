"""The Deidentifier of a Python worker: opened once after Spark forked the process, then used by all of its tasks."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incognote.errors import IncognoteError, KeyMissing, SettingError
from incognote.keys import Keyring
from incognote.settings import Settings

if TYPE_CHECKING:
    from incognote.files.quarantine import Quarantine
    from incognote.sdk import Deidentifier
    from incognote.spark.monitor import Monitor

PARTITION = "partition"
"""The value of `index` for an index of each Python worker's own, in a private folder that is removed with it."""


class WorkerFailed(Exception):
    """A task failed. The message has no value from a record, since Spark writes it to its log."""


@dataclass(frozen=True)
class WorkerSettings:
    """What a worker needs to open a Deidentifier. It travels with the job, so it holds no secret.

    Args:
        words: settings in plain values.
        config: the path of a settings file on the workers.
        several: whether the workers may run on several machines.
        quarantine: the folder for held records; None if they are not kept.
    """

    words: Mapping[str, Any]
    config: str | None
    several: bool
    quarantine: str | None = None

    @classmethod
    def of(
        cls, words: Mapping[str, Any], config: str | Path | None, quarantine: str | Path | None, *, several: bool
    ) -> WorkerSettings:
        """Return the settings in plain values. None counts as not given."""
        given = {name: _plain(value) for name, value in words.items() if value is not None}
        held = None if quarantine is None else str(quarantine)
        return cls(dict(sorted(given.items())), None if config is None else str(config), several, held)

    def load(self) -> Settings:
        """Return the settings as they are on this machine, with its environment and files.

        Raises:
            SettingError: a setting is not valid, or a SQLite file is named where there are several machines.
        """
        words = dict(self.words)
        if words.get("index") == PARTITION:
            del words["index"]
        settings = Settings.load(self.config, **words)
        self.check_places(settings)
        return settings

    def check_places(self, settings: Settings) -> None:
        """Refuse an index or a service's database that is a file where there are several machines.

        Raises:
            SettingError: one of them is.
        """
        from incognote.spark.monitor import database

        self.check_url("index", settings.index)
        self.check_url("service.database", database(settings))

    def check_url(self, name: str, url: str | None) -> None:
        """Refuse a database that is a file where there are several machines.

        Raises:
            SettingError: it is one.
        """
        if self.several and url is not None and url.startswith("sqlite:"):
            server = "opensearch://HOST:9200/NAME" if name == "index" else "postgresql://USER@HOST/NAME"
            raise SettingError(
                f"{name}: a SQLite file serves one machine, and this Spark has a cluster. Use {server}."
            )

    @property
    def partitioned(self) -> bool:
        """Whether each Python worker has an index of its own."""
        return self.words.get("index") == PARTITION

    @property
    def name(self) -> str:
        """The same for equal settings."""
        return repr((self.words, self.config, self.several, self.quarantine))


@dataclass
class _Opened:
    pid: int
    made: Deidentifier
    quarantine: Quarantine | None
    monitor: Monitor
    warm: bool = False


_OPENED: dict[str, _Opened] = {}


def opened(settings: WorkerSettings) -> tuple[Deidentifier, Quarantine | None, Monitor]:
    """Return this process's Deidentifier, quarantine, and Monitor for some settings.

    Raises:
        KeyMissing: this process finds no persistent key.
        SentinelsMissed: too few identifiers of the first sentinel notes were found.
        IncognoteError: the configuration cannot work.
    """
    found = _OPENED.get(settings.name)
    if found is None or found.pid != os.getpid():
        found = _OPENED[settings.name] = _open(settings)
    return found.made, found.quarantine, found.monitor


def warmed(settings: WorkerSettings) -> None:
    """Leave the tables that are loaded by now out of garbage collection. Call it after the first records."""
    found = _OPENED[settings.name]
    if not found.warm:
        gc.freeze()
        found.warm = True


def _open(settings: WorkerSettings) -> _Opened:
    from incognote.agents.processes import GC_THRESHOLD, SWITCH_SECONDS
    from incognote.files.quarantine import Quarantine
    from incognote.sdk import Deidentifier
    from incognote.spark.monitor import Monitor

    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(GC_THRESHOLD)
    keyring = keyring_of(settings.load())
    words = dict(settings.words)
    if settings.partitioned:
        words["index"] = _own_index(keyring)
    made = Deidentifier(words.pop("policy", None), config=settings.config, model=words.pop("model", None),
                        detectors=words.pop("detectors", None), **words)  # fmt: skip
    made.ready()
    held = None if settings.quarantine is None else Quarantine(settings.quarantine, made.engine.keyring)
    monitor = Monitor(made)
    monitor.first()
    return _Opened(os.getpid(), made, held, monitor)


def keyring_of(settings: Settings) -> Keyring:
    """Return the persistent key of this process.

    Raises:
        KeyMissing: there is none.
    """
    try:
        return settings.keyring(persistent=True)
    except KeyMissing:
        raise KeyMissing(
            "A Python worker of Spark finds no key. Set INCOGNOTE_KEY_FILE in the environment of each worker "
            "(conf/spark-env.sh), or pass key_file=. If you have no key yet, create one with `incognote key new`."
        ) from None


def _own_index(keyring: Keyring) -> str:
    """Create an index in a private folder of this process. Return its address. Its originals are encrypted."""
    import atexit
    import shutil
    import tempfile

    from incognote.agents.runtime import Runtime
    from incognote.relex.index.opening import open_index

    folder = tempfile.mkdtemp(prefix="incognote-index-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    url = f"sqlite:///{folder}/index.db"

    async def create() -> None:
        await (await open_index(url, keyring, create=True)).aclose()

    Runtime.shared().run(create())
    return url


@contextmanager
def without_values() -> Iterator[None]:
    """Raise errors of a task in a form that Spark may write to its log.

    Raises:
        WorkerFailed: with the message of our own error, which has no value; or else with the name of the error's class.
    """
    try:
        yield
    except IncognoteError as error:
        said = f"{type(error).__name__}: {error}"
    except Exception as error:  # its message could quote a record
        said = f"{type(error).__name__} in a task. The records of the task are unchanged; Spark tries them again."
    else:
        return
    raise WorkerFailed(said) from None  # a traceback shows no other error


def _plain(value: Any) -> Any:
    """Return a setting as a value that can be compared and sent."""
    if isinstance(value, Path):
        return str(value)
    return tuple(map(_plain, value)) if isinstance(value, list | tuple | set | frozenset) else value

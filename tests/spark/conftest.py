"""A session of Spark on this machine, shared by the tests; a key; and what Spark writes without encryption."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from incognote.errors import MissingExtra
from incognote.keys import Keyring

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


CANARY = "Quarringtonshire"
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of Java for a program that runs for a short time."""
_OF_PYSPARK = (
    "PySpark does not yet fully support pandas",
    "unclosed <socket:ResourceWarning",
    "Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ignore the warnings of pyspark: about the version of pandas, and about sockets that it leaves open."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            for warning in _OF_PYSPARK:
                item.add_marker(pytest.mark.filterwarnings(f"ignore:{warning}"))


def require_spark() -> None:
    """Skip the test without pyspark or Java.

    Raises:
        MissingExtra: pyspark is not installed.
    """
    try:
        import pyspark  # noqa: F401 -- only whether it is installed
    except ImportError:
        raise MissingExtra("spark", "this test") from None
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        pytest.skip("Java is not installed")


@contextmanager
def session(folder: Path, *, encrypted: bool) -> Iterator[SparkSession]:
    """A session on two cores of this machine."""
    require_spark()
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("JAVA_TOOL_OPTIONS", QUICK)
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.task.maxFailures": "1",
        "spark.ui.showConsoleProgress": "false",
        "spark.shuffle.compress": "false",
        "spark.executorEnv.INCOGNOTE_HOME": str(folder / "home"),
        "spark.io.encryption.enabled": str(encrypted).lower(),
    }
    builder = SparkSession.builder.master("local[2]").appName("tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    try:
        yield made
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made.stop()
            gc.collect()  # its sockets are closed here, and not in another test


@pytest.fixture(scope="session")
def exchanged_in_clear(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of rows with the canary that a session without encryption exchanged. It ran in the same JVM before."""
    folder = tmp_path_factory.mktemp("clear")
    with session(folder, encrypted=False) as made:
        rows = made.createDataFrame([(f"{CANARY} Clinic, {number}",) for number in range(8)], "note string")
        rows.repartition(2).write.format("noop").mode("overwrite").save()
        return exchanged(folder / "local")


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory, exchanged_in_clear: dict[str, bytes]) -> Iterator[SparkSession]:
    """A session whose workers have no key in their environment."""
    with session(tmp_path_factory.mktemp("spark"), encrypted=True) as made:
        yield made


def exchanged(folder: Path) -> dict[str, bytes]:
    """Return the files that Spark wrote while it exchanged rows, by their paths."""
    found: dict[str, bytes] = {}
    for path in folder.rglob("*"):
        with suppress(OSError):  # it has just been removed
            if path.is_file():
                found[str(path)] = path.read_bytes()
    return found


@pytest.fixture(scope="session")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the master key."""
    path = tmp_path_factory.mktemp("key") / "master.key"
    Keyring.write_new(path)
    return path

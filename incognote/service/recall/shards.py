"""Reading the lab's shards again, by somebody who may: the worker cannot."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

from incognote.errors import IncognoteError
from incognote.service.sinks.place import Place, told


def shard_bytes(lab: Place, name: str) -> bytes | None:
    """A shard as it stands in the lab; None where it is gone.

    Raises:
        IncognoteError: the lab does not let it be read.
    """
    try:
        if lab.store is None:
            return (Path(lab.root) / name).read_bytes()
        lab.store.invalidate_cache()
        data: bytes = lab.store.cat_file(f"{lab.root}/{name}")
        return data
    except FileNotFoundError:
        return None
    except Exception as error:  # a store's message can quote names; whatever it is, the lab was not read
        raise IncognoteError(
            f"the lab cannot be read ({told(error)}): run this with the rights of somebody who may read it"
        ) from None


def records(name: str, data: bytes) -> list[str]:
    """The records of a shard, each as the text of its values, in their order.

    Of a table whose notes are pieces of several rows these are rows, more than records.

    Raises:
        IncognoteError: the bytes are not what the name says.
    """
    try:
        if name.endswith(".parquet"):
            return _parquet(data)
        if name.endswith(".gz"):
            name, data = name.removesuffix(".gz"), gzip.decompress(data)
        elif name.endswith(".zst"):
            import zstandard

            name, data = name.removesuffix(".zst"), zstandard.ZstdDecompressor().stream_reader(data).read()
        text = data.decode()
        if name.endswith(".jsonl"):
            return [_values(json.loads(line)) for line in text.split("\n") if line]
        rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if name.endswith(".tsv") else ",")
        return [" ".join(row) for row in rows][1:]
    except (ValueError, OSError, EOFError, csv.Error):
        raise IncognoteError(
            "a shard of the lab is not as it was written: compare it with its hash in the ledger"
        ) from None


def _values(value: Any) -> str:
    """All strings and numbers of a JSON value; its keys behind them, so that a name in two fields stands together."""
    values: list[str] = []
    names: list[str] = []
    _take(value, values, names)
    return " ".join([*values, *names])


def _take(value: Any, values: list[str], names: list[str]) -> None:
    if isinstance(value, dict):
        names += value
        for one in value.values():
            _take(one, values, names)
    elif isinstance(value, list):
        for one in value:
            _take(one, values, names)
    elif value is not None:
        values.append(str(value))


def _parquet(data: bytes) -> list[str]:
    from pyarrow import parquet

    return [_values(row) for row in parquet.read_table(io.BytesIO(data)).to_pylist()]

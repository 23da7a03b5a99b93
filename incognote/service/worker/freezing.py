"""What a named release freezes: all that decides an output, in names and hashes; no PHI."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

from incognote.errors import UsageError
from incognote.files.inputs import RecordDefaults
from incognote.formats.tables import Layout
from incognote.ledger import Ledger, Release
from incognote.runs.shards import Form, Packing

if TYPE_CHECKING:
    from incognote.runs.destination import Destination
    from incognote.sdk import Deidentifier

_SETTINGS = ("domain", "data_type", "max_characters", "encoder_point", "encoder_fast", "detectors")


def frozen(
    made: Deidentifier, *, layout: Layout | None, words: RecordDefaults, form: Form, packing: Packing, part_bytes: int
) -> dict[str, Any]:
    """What outputs of one release have in common.

    Args:
        part_bytes: how a file is divided; a record without an id is known by its place in its part.
    """
    from incognote.agents.manifest import incognote_version

    tools = made.engine
    layout_told = layout.words() if layout else None
    return {
        "incognote": incognote_version(),
        "code": code(),
        "policy": {"name": tools.policy.name, "version": tools.policy.version},
        "schemas": {schema.data_type: schema.version for schema in tools.registry.all()},
        "detectors": dict(tools.versions),
        "models": tools.reader.facts() if tools.reader is not None else None,
        "key": {"id": tools.keyring.id, "check": tools.keyring.check},
        "settings": {
            **{name: getattr(tools.settings, name) for name in _SETTINGS},
            "known": tools.mac_id("|".join(f"{known.type} {known.value}" for known in words.known)),
        },
        "tables": layout_told,
        "shards": {"form": form, "packing": packing, "part_bytes": part_bytes},
    }


def begun(ledger: Ledger, destination: Destination, name: str, parts: Mapping[str, Any]) -> Release:
    """The release of a name, frozen now or before.

    Raises:
        UsageError: as `Ledger.freeze`; or the destination holds a release of that name and this ledger does not know
            it: all of it would be written a second time.
    """

    def known() -> bool:
        return any(one.name == name for one in ledger.releases())

    # asked twice: a worker that began meanwhile may have written by then
    if not known() and destination.holds(name) and not known():
        raise UsageError(
            f"the destination holds a release {name!r} that this ledger does not know: name the ledger that made it, "
            "or a new release"
        )
    return ledger.freeze(name, parts)


@cache
def code() -> str:
    """A hash of this package's files: code and data, as they are installed."""
    total = hashlib.sha256()
    for path, file in sorted(_files(files("incognote"), "")):
        total.update(path.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()[:16]


def _files(folder: Traversable, under: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.name == "__pycache__":
            continue
        if entry.is_dir():
            yield from _files(entry, f"{under}{entry.name}/")
        else:
            yield under + entry.name, entry

"""What a named release freezes: everything that decides an output, in names and hashes, without PHI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from incognote.errors import UsageError
from incognote.files.inputs import RecordDefaults
from incognote.formats.tables import Layout
from incognote.ledger import Ledger, Release
from incognote.runs.freezing import deciding
from incognote.runs.shards import Form, Packing

if TYPE_CHECKING:
    from incognote.runs.destination import Destination
    from incognote.sdk import Deidentifier


def frozen(
    made: Deidentifier, *, layout: Layout | None, words: RecordDefaults, form: Form, packing: Packing, part_bytes: int
) -> dict[str, Any]:
    """Return everything that the outputs of one release have in common.

    Args:
        part_bytes: the size of a file's parts. A record without an id is identified by its position in its part.
    """
    shards = {"form": form, "packing": packing, "part_bytes": part_bytes}
    return {**deciding(made, layout=layout, words=words), "shards": shards}


def begun(ledger: Ledger, destination: Destination, name: str, parts: Mapping[str, Any]) -> Release:
    """Return the release with a name, frozen now or before.

    Raises:
        UsageError: as in `Ledger.freeze`. Or the destination contains a release of that name that this ledger does not
            know, so all of it would be written a second time.
    """

    def known() -> bool:
        return any(one.name == name for one in ledger.releases())

    # checked twice: a worker that started meanwhile may have written by then
    if not known() and destination.holds(name) and not known():
        raise UsageError(
            f"The destination holds a release {name!r} that this ledger does not know. Name the ledger that made it, "
            "or choose a new release name."
        )
    return ledger.freeze(name, parts)

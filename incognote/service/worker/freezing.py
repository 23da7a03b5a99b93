"""What a named release freezes: everything that decides an output, in names and hashes, without PHI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incognote.files.inputs import RecordDefaults
from incognote.formats.tables import Layout
from incognote.runs.freezing import deciding
from incognote.runs.shards import Form, Packing

if TYPE_CHECKING:
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

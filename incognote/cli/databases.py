"""Open the source and the destination of a worker, each a folder, a store, or a table of a database."""

from __future__ import annotations

from collections.abc import Mapping

from incognote.cli.options import DatabaseOptions
from incognote.errors import UsageError
from incognote.formats.tables import Layout
from incognote.runs.destination import Destination, TombstonePlace, open_destination
from incognote.runs.location import Location, open_location
from incognote.runs.source import RecordSource, WatchedSource
from incognote.runs.sql import TableDatabase, is_database


def databases_of(
    source: str, destination: str, told: DatabaseOptions
) -> tuple[TableDatabase | None, TableDatabase | None]:
    """Return the databases of the source and the destination; None for each that is a folder or a store.

    Raises:
        UsageError: an option is missing, or does not fit the places.
    """
    if not is_database(source):
        if any(value is not None for value in vars(told).values()) or is_database(destination):
            raise UsageError(
                "--table, --key, --watermark, --overlap, --into, and a destination in a database need a SOURCE in a "
                "database: sqlite:///FILE or postgresql://USER@HOST/NAME."
            )
        return None, None
    if told.table is None:
        raise UsageError("--table: name the table or view of the database to read.")
    if told.overlap is not None and told.watermark is None:
        raise UsageError("--overlap needs --watermark.")
    if not is_database(destination) and told.into is not None:
        raise UsageError("--into names a table, but --destination is not a database.")
    into = TableDatabase(destination, "--destination", writes=True) if is_database(destination) else None
    return TableDatabase(source, "SOURCE"), into


def open_tombstones(destination: str) -> tuple[TombstonePlace, Location | None]:
    """Open the destination of a recall. Return also its location; None for a database.

    Raises:
        UsageError: the URL cannot be used.
    """
    if is_database(destination):
        from incognote.runs.sqldestination import TableTombstones

        return TableTombstones(TableDatabase(destination, "--destination", writes=True)), None
    where = open_location(destination)
    return open_destination(where), where


def open_places(
    places: Mapping[str, Location | None], from_table: TableDatabase | None, into_table: TableDatabase | None,
    told: DatabaseOptions, layout: Layout | None, *, rest: float, shown: str, files: bool,
) -> tuple[RecordSource, Destination]:  # fmt: skip
    """Open the source and the destination.

    Args:
        places: the locations of folders and stores.
        from_table, into_table: from `databases_of`.
        files: whether the options for files in the destination have their defaults.

    Raises:
        UsageError, SchemaViolation: a table cannot be used. SourceUnavailable, Unwritable: a place does not answer.
    """
    where, to = places["the source"], places["the destination"]
    if from_table is None or told.table is None:
        assert where is not None  # it is no database
        source: RecordSource = WatchedSource(where, rest=rest, shown=shown)
    else:
        from incognote.runs.sqlsource import SqlSource

        source = SqlSource(
            from_table, told.table, layout, key=told.key, watermark=told.watermark, overlap=told.overlap
        )
        if into_table is not None:
            from incognote.runs.sqldestination import SqlDestination

            if not files:
                raise UsageError("--shards and --packing are for files. Remove them, or choose a folder.")
            name = told.into or told.table
            if (from_table.shown, told.table) == (into_table.shown, name):
                raise UsageError("--destination is the source table. Name another one with --into.")
            table = SqlDestination(into_table, name, source.rows, source.table)
            source.fit(table.columns)
            return source, table
    assert to is not None  # it is no database
    return source, open_destination(to, places.get("the staging place"))

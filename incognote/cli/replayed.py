"""The inputs of a run that is replayed: they must be the same, and for a retry only the retried records are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from incognote.cli.showing import visible
from incognote.errors import UsageError
from incognote.files.digests import InputDigests, record_digest
from incognote.files.holding import input_of, told_of
from incognote.files.inputs import Input
from incognote.files.outputs import hashed_name
from incognote.files.sources import Source
from incognote.runs.units import counted

if TYPE_CHECKING:
    from incognote.sdk import Deidentifier

_MOST = 10  # maximum number of paths in one message


def require_same(were: Sequence[str | None], files: Sequence[Source], made: Deidentifier, *, whole: bool) -> bool:
    """Require that the inputs are those of the run, before anything is written.

    An input that could be read only once, such as the standard input, cannot be compared.

    Args:
        were: the digests in the manifest, in the order of the run.
        whole: require all inputs of the run. Otherwise some of them are enough.

    Returns:
        Whether records may have shared requests with records of inputs that are missing.

    Raises:
        UsageError: an input has changed, was not read by the run, or is missing, or the order differs.
    """
    digests = InputDigests(files, made.engine.mac_id)
    here = [digests.of(source) for source in files]
    others = [source for source, digest in zip(files, here, strict=True) if digest is not None and digest not in were]
    if len(others) > were.count(None):
        paths = "".join(f"\n  {visible(source.shown)}" for source in others[:_MOST])
        more = f"\n  and {len(others) - _MOST:,} more" if len(others) > _MOST else ""
        raise UsageError(
            "The run cannot be repeated, and nothing was written. These inputs have changed since the run, or it did "
            f"not read them:{paths}{more}"
        )
    missing = [digest for digest in were if digest is not None and digest not in here]
    if whole and missing and not others:
        raise UsageError(
            f"The run cannot be repeated, and nothing was written. {counted(len(missing), 'input')} of the run "
            f"{'is' if len(missing) == 1 else 'are'} missing. Name the same files and folders as for the run."
        )
    if whole and made.engine.shares and not others and list(filter(None, here)) != list(filter(None, were)):
        raise UsageError(
            "The run cannot be repeated, and nothing was written. The inputs are in another order than in the run. "
            "Name them in the same order."
        )
    return bool(missing) and made.engine.shares


def in_order_of_retry(files: Sequence[Source], made: Deidentifier) -> list[Source]:
    """Return the inputs in the order in which a retry reads held records.

    Raises:
        UsageError: an input can be read only once.
    """
    if any(source.single_pass and not source.unread for source in files):
        raise UsageError("A replay of a retry reads its inputs twice. Name files and folders, not standard input.")
    return sorted(files, key=lambda source: hashed_name(source, made.engine.keyring))


def retried_inputs(
    made: Deidentifier, read: Callable[[], Iterable[Input]], digests: Sequence[str]
) -> Iterator[Input]:
    """Yield the retried records, as the quarantine restored them.

    Args:
        read: reads all inputs.
        digests: the digests of the retried records.

    Raises:
        UsageError: a record is missing, at the end.
    """
    wanted = set(digests)
    for one in read():
        if not one.not_read and (digest := record_digest(one, made.engine.mac_id)) in wanted:
            wanted.discard(digest)
            told = told_of(one)
            again = input_of(one.data or b"", told, one.position, one.source.kind, made.engine.registry.get)
            yield again if one.error is None else replace(again, error=one.error)
    if wanted:
        raise UsageError(
            f"The retry cannot be repeated. {counted(len(wanted), 'record')} that it read "
            f"{'is' if len(wanted) == 1 else 'are'} not in the inputs. Name the inputs of the first run, unchanged."
        )

"""`incognote reveal --image`: list what was removed from an image, and write the pixels that were there."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incognote.cli.permitting import AskedIdentity, permitted_request
from incognote.cli.shell import say, warn
from incognote.cli.showing import visible
from incognote.cli.tables import print_table
from incognote.errors import UsageError

if TYPE_CHECKING:
    from incognote.relex.vault import RemovedBox, RemovedPart
    from incognote.settings import Settings

UNKNOWN = "The index has no image of this number. Name the domain with --domain, or check the number and --index."
_NUMBER = re.compile("[0-9a-f]{24}")


def reveal_image(asked: AskedIdentity, image: str, why: str, out: str | None, *, as_json: bool) -> None:
    """Show what was removed from an image. The request is in the audit file first.

    Args:
        out: a new folder for pictures of it.

    Raises:
        Exit: another person must approve the request first.
        UsageError: there is no reason, the audit file or the folder cannot be written, or there is no such image.
        PolicyProblem: the policy does not allow it.
    """
    number = image.strip().lower()
    if not _NUMBER.fullmatch(number):
        raise UsageError("--image: the number of an image has 24 digits from 0 to 9 and a to f.")
    settings = asked.settings(image)
    folder = Path(out).expanduser() if out is not None else None
    if folder is not None and folder.exists():
        raise UsageError("--out: the folder exists. Name a new one.")
    question: dict[str, object] = {"image": number, "domain": settings.domain}
    request = permitted_request(settings, asked, why, {"image": number}, question)
    parts = asyncio.run(_parts(settings, number))
    request.written("image.revealed", shown=bool(parts), image=number)
    if not parts:
        raise UsageError(UNKNOWN)
    names = _names(parts) if folder is not None else {}
    if folder is not None:
        _write(folder, names)
    if as_json:
        rows = [part.as_dict() for part in parts]
        for row, part in zip(rows, parts, strict=True):
            for told, box in zip(row["boxes"], part.boxes, strict=True):
                told |= {"file": names[box]} if box in names else {}
        say("reveal", {"image": number, "parts": rows})
        return
    print_table(("page", "box", "type", "words", *(("file",) if names else ())), list(_rows(parts, names)))
    if folder is not None and not names:
        warn('No pixels of this image are kept. To keep them of other images, set vault = "pixels" in the policy.')


async def _parts(settings: Settings, image: str) -> tuple[RemovedPart, ...]:
    from incognote.relex.index.opening import open_configured
    from incognote.relex.vault import removed_from

    async with await open_configured(settings) as index:
        return await removed_from(index, settings.domain, image)


def _names(parts: tuple[RemovedPart, ...]) -> dict[RemovedBox, str]:
    """Return the name of the file of each box with pixels."""
    boxes = dict.fromkeys(box for part in parts for box in part.boxes if box.png is not None)
    return {box: f"page{box.page}-{number}.png" for number, box in enumerate(boxes, 1)}


def _rows(parts: tuple[RemovedPart, ...], names: dict[RemovedBox, str]) -> Any:
    for part in parts:
        for box in part.boxes:
            place = f"{box.x0},{box.y0} to {box.x1},{box.y1}"
            words = visible(" ".join(part.words.split()))
            yield str(box.page), place, part.type, words, *((names.get(box, ""),) if names else ())


def _write(folder: Path, names: dict[RemovedBox, str]) -> None:
    """Write the pixels into a new folder that only its owner can read.

    Raises:
        UsageError: it cannot be written.
    """
    from incognote.files.atomic import write_atomic

    try:
        folder.mkdir(mode=0o700, parents=True)
        for box, name in names.items():
            write_atomic(folder / name, box.png or b"", private=True)
    except OSError as error:
        raise UsageError(f"--out: the folder cannot be written: {error.strerror}.") from None

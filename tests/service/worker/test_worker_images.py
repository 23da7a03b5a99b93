"""Images in a worker whose policy has a vault: kept before they are released, returned while the index is away."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from incognote.formats.images import reading
from incognote.pages.nouns import Word
from incognote.relex.index.opening import open_index
from incognote.relex.vault import RemovedPart, removed_from
from incognote.service.review import ReviewQueue
from incognote.service.worker.hooks import Hooks

SEEN = ("Seen", "by", "Dr.", "Emily", "Carter", "today.")
POLICY = 'name = "ours"\nextends = "strict"\n[pages]\nvault = true\n'


@pytest.fixture
def words(house: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A blank page in the source, on which `SEEN` is read, and the settings of a worker with a vault."""
    read = tuple(Word(each, (20 + 70 * n, 20, 80 + 70 * n, 38), 0.95) for n, each in enumerate(SEEN))
    found = reading.PageReading(read, read, (), (), 0.95)
    monkeypatch.setattr(reading, "reading_of", lambda pixels, dpi: found)
    out = io.BytesIO()
    Image.fromarray(np.full((60, 600), 255, np.uint8)).save(out, "PNG")
    house.put("Emily Carter.png", out.getvalue())
    (tmp_path / "ours.toml").write_text(POLICY)
    index = f"sqlite:///{tmp_path / 'index.db'}"

    async def create() -> None:
        await (await open_index(index, house.keyring, create=True)).aclose()

    asyncio.run(create())
    return {"policy": str(tmp_path / "ours.toml"), "index": index}


def kept(house: Any, words: dict[str, str], image: str) -> tuple[RemovedPart, ...]:
    async def look() -> tuple[RemovedPart, ...]:
        async with await open_index(words["index"], house.keyring) as index:
            return await removed_from(index, "default", image)

    return asyncio.run(look())


def number(house: Any) -> str:
    """The number in the name of the only output."""
    (path,) = (house.destination / "r1").glob("*.png")
    _, image, suffix = path.name.split(".")
    assert suffix == "png"
    return str(image)


def test_the_name_of_an_image_has_the_number_under_which_its_removed_parts_are_kept(
    house: Any, words: dict[str, str]
) -> None:
    assert house.run(**words).states == {"released": 1}
    (part,) = kept(house, words, number(house))
    assert (part.type, part.words) == ("CLINICIAN", "Emily Carter")
    assert house.whole()


def test_while_the_index_is_away_the_worker_waits_and_releases_no_image(
    house: Any, words: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "index.db").rename(tmp_path / "away.db")
    seen: list[bool] = []

    def tell(event: str, **facts: object) -> None:
        if event == "worker.paused":
            seen.append(any(house.destination.rglob("*.png")))
            (tmp_path / "away.db").rename(tmp_path / "index.db")

    house.run(house.worker(hooks=Hooks(tell=tell), **words))
    assert seen == [False]
    assert house.counts() == {"released": 1}
    assert len(kept(house, words, number(house))) == 1


def test_after_a_review_the_vault_has_what_was_approved(
    house: Any, words: dict[str, str], queue: ReviewQueue, approve: Callable[[str], None], tmp_path: Path
) -> None:
    doubtful = '[types.CLINICIAN]\noperator = "label"\nthreshold = 1.0\n'
    (tmp_path / "ours.toml").write_text(POLICY.replace("[pages]", f"doubt = 0.05\n{doubtful}[pages]"))
    assert house.run(house.worker(hooks=Hooks(reviews=queue), **words)).states == {"review": 1}
    (entry,) = queue.list(None)
    approve(entry.id)
    house.run(house.worker(hooks=Hooks(reviews=queue), **words))
    assert house.counts() == {"released": 1}
    (part,) = kept(house, words, number(house))
    assert part.words == "Emily Carter"

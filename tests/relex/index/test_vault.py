"""What was removed from images, in each kind of index, and after a change of the key, an export, and forgetting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import SettingError
from incognote.keys import Keyring
from incognote.relex.index import moving
from incognote.relex.index.base import SurrogateIndex
from incognote.relex.index.forgetting import forget_patient
from incognote.relex.vault import RemovedBox, RemovedPart, forget_image, image_number, keep_removed, removed_from

from .conftest import all_docs

Make = Callable[..., Any]
NAME = RemovedPart("PERSON", "Zoë\nQuartermain", (RemovedBox(1, 10, 20, 90, 40), RemovedBox(1, 10, 44, 60, 64)))
CODE = RemovedPart("BARCODE", "", (RemovedBox(2, 5, 5, 50, 50, b"\x89PNG pixels"),))
IMAGE = "0123456789abcdef01234567"


async def keep(index: SurrogateIndex, *parts: RemovedPart, record: str = "r1", patient: str | None = "7") -> None:
    await keep_removed(index, "clinic", IMAGE, record, patient, parts)


async def test_parts_come_back_as_they_were_kept_in_the_order_of_the_pages(index: SurrogateIndex) -> None:
    await keep(index, CODE, NAME)
    assert await removed_from(index, "clinic", IMAGE) == (NAME, CODE)
    assert await removed_from(index, "elsewhere", IMAGE) == ()
    assert await removed_from(index, "clinic", IMAGE[::-1]) == ()


async def test_a_record_that_is_processed_again_takes_its_own_place(index: SurrogateIndex) -> None:
    await keep(index, NAME, CODE)
    await keep(index, NAME)
    assert await removed_from(index, "clinic", IMAGE) == (NAME,)
    await keep(index, replace(CODE, boxes=(replace(CODE.boxes[0], png=b"new"),)))
    (part,) = await removed_from(index, "clinic", IMAGE)
    assert part.boxes[0].png == b"new"


async def test_records_with_the_same_image_show_each_part_once(index: SurrogateIndex) -> None:
    await keep(index, NAME)
    await keep(index, NAME, CODE, record="r2", patient="8")
    assert await removed_from(index, "clinic", IMAGE) == (NAME, CODE)


async def test_many_cut_outs_are_written_in_several_batches(index: SurrogateIndex) -> None:
    many = [replace(CODE, boxes=(RemovedBox(n, 0, 0, 9, 9, b"%d" % n),)) for n in range(1, 121)]
    await keep(index, *many)
    assert await removed_from(index, "clinic", IMAGE) == tuple(many)
    assert (await index.stats()).images == 1


async def test_nothing_that_was_removed_and_no_number_is_in_plain_text(index: SurrogateIndex) -> None:
    await keep(index, NAME, CODE)
    shown = [f"{doc} {doc.body!r}" for doc in await all_docs(index)]
    assert shown
    words = ("Quartermain", "BARCODE", "PNG", IMAGE, "patient:7", "r1")
    assert not [word for word in words if word in "".join(shown)]


async def test_a_patient_is_forgotten_with_the_images_and_others_stay(index: SurrogateIndex) -> None:
    await keep(index, NAME, CODE)
    await keep_removed(index, "clinic", IMAGE[::-1], "r3", "8", (CODE,))
    told = await forget_patient(index, " 7 ")
    assert (told.found, told.deleted, told.left, told.fault) == (2, 2, 0, "")
    assert (told.revealed_before, told.revealed_after) == (1, 0)
    assert await removed_from(index, "clinic", IMAGE) == ()
    assert await removed_from(index, "clinic", IMAGE[::-1]) == (CODE,)


async def test_an_image_is_forgotten_by_its_number(index: SurrogateIndex) -> None:
    await keep(index, NAME, CODE, patient=None)
    await keep_removed(index, "clinic", IMAGE[::-1], "r3", None, (CODE,))
    assert await forget_image(index, "clinic", IMAGE) == 2
    assert await removed_from(index, "clinic", IMAGE) == ()
    assert await forget_image(index, "clinic", IMAGE) == 0
    assert await removed_from(index, "clinic", IMAGE[::-1]) == (CODE,)


async def test_another_key_opens_the_same_numbers(make: Make, vendor: str, other_key: Keyring) -> None:
    index = await make(vendor)
    await keep(index, NAME, CODE)
    await moving.rekey(index, other_key)
    again = await make(vendor, key=other_key, url=index.url)
    assert await removed_from(again, "clinic", IMAGE) == (NAME, CODE)
    assert (await again.stats()).images == 1
    assert (await forget_patient(again, "7")).deleted == 2


async def test_an_export_holds_the_images(make: Make, vendor: str, tmp_path: Path) -> None:
    index, copy = await make(vendor), await make(vendor)
    await keep(index, NAME, CODE)
    await moving.export(index, tmp_path / "all")
    assert b"Quartermain" not in (tmp_path / "all").read_bytes()
    await moving.take_in(copy, tmp_path / "all")
    assert await removed_from(copy, "clinic", IMAGE) == (NAME, CODE)


async def test_an_index_without_originals_keeps_nothing(make: Make, vendor: str) -> None:
    index = await make(vendor, originals="off")
    with pytest.raises(SettingError, match="originals=on"):
        await keep(index, NAME)
    assert (await index.stats()).images == 0


def test_a_number_follows_from_the_bytes_the_domain_and_the_key(key: Keyring, other_key: Keyring) -> None:
    asked = [(key, "clinic", b"a"), (key, "clinic", b"b"), (key, "x", b"a"), (other_key, "clinic", b"a")]
    numbers = [image_number(*one) for one in asked]
    assert numbers == [image_number(*one) for one in asked]
    assert len(set(numbers)) == 4
    assert all(len(one) == 24 and int(one, 16) >= 0 for one in numbers)

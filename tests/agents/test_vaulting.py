"""The vault in the machine: what is removed from an image is in the index before the image leaves."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from incognote import Deidentifier
from incognote.agents import vaulting
from incognote.errors import KeyMissing, PolicyProblem, SettingError
from incognote.formats.images import reading
from incognote.keys import Keyring
from incognote.pages.nouns import Region, Word
from incognote.relex.index.base import SurrogateIndex
from incognote.relex.index.opening import open_index
from incognote.relex.vault import RemovedPart, removed_from

SEEN = "Seen by Dr. Emily Carter today."
CODED = (60, 100, 140, 120)
POLICY = 'name = "ours"\nextends = "strict"\n[types.BARCODE]\noperator = "label"\n[pages]\nvault = {}\n'
Given = Callable[..., Deidentifier]


def page(shade: int = 0) -> bytes:
    """A page with the ink of a code and no words that an OCR engine could read."""
    pixels = np.full((200, 600), 255, np.uint8)
    pixels[102:118, 62:138] = np.linspace(shade, 200, 76).astype(np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


def words(text: str) -> tuple[Word, ...]:
    found, at = [], 20
    for each in text.split():
        found.append(Word(each, (at, 20, at + 9 * len(each), 38), 0.95))
        at += 9 * len(each) + 6
    return tuple(found)


@pytest.fixture(autouse=True)
def read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page reads as `SEEN`, with a code, whatever its pixels."""
    code = Region("QR_Bar_Code", CODED, 0.9, ("barcode",))
    found = reading.PageReading(words(SEEN), words(SEEN), (code,), (), 0.95)
    monkeypatch.setattr(reading, "reading_of", lambda pixels, dpi: found)


@pytest.fixture
def given(tmp_path: Path) -> Iterator[Given]:
    """A Deidentifier whose policy has a vault, with an index of its own."""
    Keyring.write_new(tmp_path / "a.key")
    made: list[Deidentifier] = []

    async def create() -> None:
        await (await open_index(url(tmp_path), Keyring.read(tmp_path / "a.key"), create=True)).aclose()

    asyncio.run(create())

    def one(vault: str = "true", **more: Any) -> Deidentifier:
        (tmp_path / "ours.toml").write_text(POLICY.format(vault))
        more = {"index": url(tmp_path), "key_file": tmp_path / "a.key", "detectors": ("rules",), **more}
        made.append(Deidentifier(tmp_path / "ours.toml", **more))
        return made[-1]

    yield one
    for each in made:
        each.close()


def url(folder: Path) -> str:
    return f"sqlite:///{folder / 'index.db'}"


def kept(folder: Path, image: str | None, domain: str = "default") -> tuple[RemovedPart, ...]:
    async def look() -> tuple[RemovedPart, ...]:
        async with await open_index(url(folder), Keyring.read(folder / "a.key")) as index:
            return await removed_from(index, domain, image or "")

    return asyncio.run(look())


def test_what_is_removed_from_a_released_image_is_kept_under_its_number(given: Given, tmp_path: Path) -> None:
    result = given().deidentify(page(), media_type="image/png", patient="7")
    assert result.verdict.released, result.verdict
    assert result.image == result.manifest["image"]
    clinician, code = kept(tmp_path, result.image)
    assert (clinician.type, clinician.words) == ("CLINICIAN", "Emily Carter")
    assert (code.type, code.words) == ("BARCODE", "")
    boxes = [box.place for part in (clinician, code) for box in part.boxes]
    assert set(boxes) == {(box.page, box.x0, box.y0, box.x1, box.y1) for box in result.boxes}
    assert all(box.png is None for part in (clinician, code) for box in part.boxes)
    stolen = b"".join(path.read_bytes() for path in tmp_path.glob("index.db*"))
    assert not any(word in stolen for word in (b"Carter", b"BARCODE", str(result.image).encode()))
    assert "Carter" not in repr((clinician, code))


def test_with_pixels_the_ink_that_was_removed_can_be_seen_again(given: Given, tmp_path: Path) -> None:
    data = page()
    result = given('"pixels"').deidentify(data, media_type="image/png")
    _, code = kept(tmp_path, result.image)
    (box,) = code.boxes
    cut = np.asarray(Image.open(io.BytesIO(box.png or b"")))
    whole = np.asarray(Image.open(io.BytesIO(data)))
    assert np.array_equal(cut, whole[box.y0 : box.y1, box.x0 : box.x1])
    assert cut.min() == 0


def test_a_cut_out_that_is_too_large_is_made_smaller(
    given: Given, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vaulting, "MOST_BYTES", 150)
    result = given('"pixels"').deidentify(page(), media_type="image/png")
    _, code = kept(tmp_path, result.image)
    (box,) = code.boxes
    cut = Image.open(io.BytesIO(box.png or b""))
    assert len(box.png or b"") <= 150
    assert cut.width < box.x1 - box.x0


def test_further_boxes_are_kept_without_pixels(
    given: Given, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vaulting, "MOST_CUT_OUTS", 1)
    result = given('"pixels"').deidentify(page(), media_type="image/png")
    clinician, code = kept(tmp_path, result.image)
    assert [box.png is None for part in (clinician, code) for box in part.boxes] == [False, True]


def test_the_number_depends_on_the_bytes_the_domain_and_the_key_alone(given: Given, tmp_path: Path) -> None:
    deid = given()
    first = deid.deidentify(page(), media_type="image/png", patient="7", id="a").image
    assert deid.deidentify(page(), media_type="image/png", patient="8", id="b").image == first
    assert deid.deidentify(page(), media_type="image/png", domain="research").image != first
    assert deid.deidentify(page(9), media_type="image/png").image != first
    assert len(kept(tmp_path, first)) == 2


def test_an_image_that_is_held_for_review_is_in_the_vault_too(given: Given, tmp_path: Path) -> None:
    result = given().deidentify(page(), media_type="image/png", known={"name": "Dent"})
    assert result.verdict.released
    (tmp_path / "ours.toml").write_text(POLICY.format("true") + '[types.DATE]\noperator = "date-shift"\n')
    with Deidentifier(
        tmp_path / "ours.toml", index=url(tmp_path), key_file=tmp_path / "a.key", detectors=("rules",)
    ) as deid:
        held = deid.deidentify(page(9), media_type="image/png")
    assert held.verdict.outcome == "review"
    assert len(kept(tmp_path, held.image)) == 2


def test_a_record_in_quarantine_and_a_note_have_no_number(given: Given) -> None:
    deid = given()
    assert deid.deidentify(page()[:60], media_type="image/png").image is None
    note = deid.deidentify(SEEN)
    assert note.verdict.released
    assert (note.image, "image" in note.manifest) == (None, False)


def test_without_the_index_an_image_is_held_and_can_be_tried_again(given: Given, tmp_path: Path) -> None:
    deid = given()
    (tmp_path / "index.db").rename(tmp_path / "away.db")
    held = deid.deidentify(page(), media_type="image/png", patient="7")
    assert (held.verdict.outcome, held.verdict.reasons[0].code) == ("quarantine", "index-rejected")
    assert (held.image, held.boxes != ()) == (None, True)
    assert deid.deidentify(SEEN).verdict.released
    (tmp_path / "away.db").rename(tmp_path / "index.db")
    assert deid.deidentify(page(), media_type="image/png", patient="7").verdict.released


def test_an_image_is_not_released_if_the_index_fails_while_it_writes(
    given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    from incognote.errors import IndexUnavailable

    async def fail(self: SurrogateIndex, sightings: object) -> None:
        raise IndexUnavailable("no answer")

    monkeypatch.setattr(SurrogateIndex, "note", fail)
    held = given().deidentify(page(), media_type="image/png")
    assert [reason.code for reason in held.verdict.reasons] == ["index-unavailable"]
    assert held.verdict.outcome == "quarantine"


def test_a_vault_needs_an_index_that_keeps_originals_and_a_persistent_key(given: Given, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="INCOGNOTE_INDEX"):
        given(index=None).deidentify("Nothing.")
    with pytest.raises(KeyMissing, match="persistent"):
        given(key_file=None).deidentify("Nothing.")

    async def create() -> None:
        bare = f"sqlite:///{tmp_path / 'bare.db'}?originals=off"
        await (await open_index(bare, Keyring.read(tmp_path / "a.key"), create=True)).aclose()

    asyncio.run(create())
    held = given(index=f"sqlite:///{tmp_path / 'bare.db'}").deidentify(page(), media_type="image/png")
    assert held.verdict.outcome == "quarantine"
    assert "originals=off" in str(held.verdict.reasons[0])


def test_a_replay_gives_the_same_number_without_the_index(given: Given, tmp_path: Path) -> None:
    first = given().deidentify(page(), media_type="image/png").image
    (tmp_path / "index.db").unlink()
    again = given(index=None, replay=True, recording=tmp_path / "none.rec")
    assert again.deidentify(page(), media_type="image/png").image == first


def test_other_policies_number_nothing(tmp_path: Path) -> None:
    Keyring.write_new(tmp_path / "a.key")
    with Deidentifier("strict", key_file=tmp_path / "a.key", detectors=("rules",)) as deid:
        result = deid.deidentify(page(), media_type="image/png")
    assert result.boxes
    assert (result.image, "image" in result.manifest) == (None, False)


@pytest.mark.parametrize(
    ("more", "says"),
    [("[relex]\nreveal = false\n", "Change one of them"), ('label = "safe-harbor"\n', "derives a number")],
)
def test_a_vault_that_nobody_may_open_or_that_a_label_forbids_is_refused(
    tmp_path: Path, more: str, says: str
) -> None:
    from incognote.schemas.policy import load_policy

    base = 'name = "ours"\nextends = "safe-harbor"\n' if "label" in more else 'name = "ours"\nextends = "strict"\n'
    (tmp_path / "ours.toml").write_text(base + ("" if "label" in more else more) + "[pages]\nvault = true\n")
    with pytest.raises(PolicyProblem, match=says):
        load_policy(tmp_path / "ours.toml")

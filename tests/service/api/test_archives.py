"""An archive is refused where one document is expected, and the answer says what to do."""

from __future__ import annotations

import base64
import io
import zipfile
from pathlib import Path

import pytest

from incognote.sdk import Deidentifier

from .conftest import LOCAL, TOKEN, House


@pytest.fixture
def archive() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("Emily Carter.txt", "Seen by Dr. Emily Carter.")
    return out.getvalue()


async def test_an_archive_is_not_released_as_one_document(house: House, archive: bytes) -> None:
    async with house.client(headers=house.key("ann", "submit")) as client:
        headers = {"Content-Type": "application/zip"}
        answer = await client.post("/v1/deidentify/bytes", content=archive, headers=headers)
    assert answer.status_code == 422
    assert "unsupported-format: archive, which holds several documents" in answer.json()["faults"][0]["says"]
    assert "Carter" not in answer.text


@pytest.mark.parametrize("suffix", [".zip", "", ".txt"])
async def test_the_try_page_sends_archives_to_the_command_line(house: House, archive: bytes, suffix: str) -> None:
    async with house.client(token=TOKEN, headers=LOCAL) as client:
        asked = {"file": base64.b64encode(archive).decode(), "suffix": suffix}
        answer = await client.post("/v1/try", json=asked)
    assert (answer.status_code, answer.json()["detail"]) == (
        415, "the file is an archive: unpack it, or use `incognote deid FILE`"
    )  # fmt: skip


def test_the_sdk_quarantines_an_archive_with_a_reason(tmp_path: Path, archive: bytes) -> None:
    (tmp_path / "a.zip").write_bytes(archive)
    deid = Deidentifier(detectors=("rules",))
    for given in (tmp_path / "a.zip", archive):
        [reason] = deid.deidentify(given).verdict.reasons
        assert (reason.code, reason.detail.partition(",")[0]) == ("unsupported-format", "archive")

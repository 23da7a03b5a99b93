"""Pictures of pages, and their ink."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from incognote.errors import UsageError
from incognote.evaluation.boxes.ink import Pictures, ink_of

from .conftest import FOLEY, NAME, drawn

pytest.importorskip("cv2")
pytest.importorskip("PIL")


def test_ink_is_what_differs_from_the_paper_around_it() -> None:
    page = drawn(NAME)
    page[60:100, 20:200] = 235  # a light cell is paper
    assert (ink_of(page) == (page == 0)).all()
    assert (ink_of(np.dstack([page] * 3)) == (page == 0)).all()
    assert (ink_of(255 - page) == (page == 0)).all()


def test_a_ruled_line_is_no_ink() -> None:
    page = drawn(NAME)
    page[42:44, 10:290] = 0
    ink = ink_of(page)
    assert not ink[42:44, 20:280].any()
    assert (ink[20:40] == (page[20:40] == 0)).all()


def test_pages_are_found_by_id_and_count_from_1(images: Path) -> None:
    from PIL import Image

    scans = [Image.fromarray(drawn(each)) for each in (NAME, FOLEY)]
    (images / "in").mkdir()
    scans[0].save(images / "in" / "c.tif", save_all=True, append_images=scans[1:])
    pictures = Pictures(images)
    assert (pictures.count("a.png"), pictures.count("in/c.tif"), pictures.count("z.png")) == (1, 2, 0)
    second = pictures.page("in/c.tif", 2)
    assert second is not None
    assert (second.pixels == drawn(FOLEY)).all()
    assert (pictures.page("in/c.tif", 3), pictures.page("in/c.tif", 0), pictures.page("z.png", 1)) == (None,) * 3


def test_no_file_outside_of_the_folder_is_read(images: Path) -> None:
    from PIL import Image

    Image.fromarray(drawn()).save(images.parent / "secret.png")
    pictures = Pictures(images)
    assert pictures.count("../secret.png") == 0
    assert pictures.count(str(images.parent / "secret.png")) == 0
    (images / "link.png").symlink_to(images.parent / "secret.png")
    assert pictures.count("link.png") == 0


def test_a_damaged_file_and_a_text_have_no_pages(images: Path) -> None:
    (images / "d.png").write_bytes((images / "a.png").read_bytes()[:60])
    (images / "d.txt").write_text("Foley out")
    pictures = Pictures(images)
    assert pictures.page("d.png", 1) is None
    assert pictures.count("d.txt") == 0


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--images is not a folder"):
        Pictures(tmp_path / "none")

"""The network that says which candidates are regions: what it is trained on, and how."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch (pip install 'incognote[train]')")

from incognote.errors import UsageError  # noqa: E402 -- after the check for torch
from incognote.evaluation import coco  # noqa: E402 -- after the check for torch
from incognote.pages.layout import KINDS  # noqa: E402 -- after the check for torch
from incognote.pages.nouns import Region  # noqa: E402 -- after the check for torch
from incognote.pages.regions import RegionFinder  # noqa: E402 -- after the check for torch
from incognote_training.layout import choosing  # noqa: E402 -- after the check for torch
from incognote_training.layout.browser import DrawnWord  # noqa: E402 -- after the check for torch
from incognote_training.layout.generate import REGIONS, WORDS  # noqa: E402 -- after the check for torch
from incognote_training.layout.readings import read_as  # noqa: E402 -- after the check for torch
from tests.pages.laid import FIELDS, TABLE, laid  # noqa: E402 -- after the check for torch


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages with a table and fields at random places."""
    folder = tmp_path_factory.mktemp("pages")
    chance = np.random.default_rng(1)
    made, words = [], {}
    for number in range(8):
        page, read = laid()
        by = int(chance.integers(0, 90))
        page, name = np.roll(page, by, axis=0), f"{number}.png"
        cv2.imwrite(str(folder / name), page)
        regions = [
            Region(kind, (x, y + by, x1, y1 + by))
            for kind, (x, y, x1, y1) in (("Table", TABLE), ("One_Col_Key_Value", FIELDS))
        ]
        made.append(coco.RegionPage(name, page.shape[1], page.shape[0], tuple(regions)))
        words[name] = [
            (word.text, word.box[0], word.box[1] + by, word.box[2], word.box[3] + by, False, True) for word in read
        ]
    (folder / REGIONS).write_bytes(coco.write(made, KINDS))
    (folder / WORDS).write_text(json.dumps(words))
    return folder


def test_a_tiny_run_learns_to_tell_a_table_from_fields(pages: Path, tmp_path: Path) -> None:
    made = list(choosing.examples([pages]))
    assert len(made) == 8
    network, lowest = choosing.train(made, epochs=30, rate=5e-3)
    assert choosing.export(network, lowest, tmp_path) < 1_500_000
    page, words = laid()
    found = RegionFinder(tmp_path).find(page, words)
    assert {region.kind for region in found} == {"Table", "One_Col_Key_Value"}


def test_pages_without_words_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Generate the pages again"):
        next(choosing.examples([tmp_path]))
    with pytest.raises(UsageError, match="no pages"):
        choosing.train([])


def test_what_is_read_of_a_drawn_page_is_most_of_its_words_with_tight_boxes() -> None:
    page, words = laid()
    drawn = [
        DrawnWord(word.text, (word.box[0] - 3, word.box[1] - 6, word.box[2] + 3, word.box[3] + 6), False, True)
        for word in words
    ]
    code = Region("QR_Bar_Code", (600, 60, 700, 160))
    read, codes = read_as(page, drawn, [code] * 20, np.random.default_rng(5))
    assert 0.7 * len(words) < len(read) <= len(words) + 60
    true = {word.text: word.box[3] - word.box[1] for word in words}
    assert np.median([word.box[3] - word.box[1] - true[word.text] for word in read if word.text in true]) <= 4
    assert 10 < len(codes) < 20


def test_the_target_is_nothing_below_half_an_overlap_and_rises_above() -> None:
    assert choosing.target(torch.tensor([0.0, 0.49, 0.5, 0.95])).tolist() == pytest.approx([0, 0, 0.4, 1])

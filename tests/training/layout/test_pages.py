"""Random pages: the same seed draws the same page, all kinds occur, and boxes are where the browser draws them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from incognote.errors import UsageError
from incognote.evaluation import coco
from incognote.pages.layout import KINDS
from incognote.pages.nouns import Region
from incognote_training.layout import data
from incognote_training.layout.browser import CHROMIUM, Browser
from incognote_training.layout.drawing.kinds import page
from incognote_training.layout.generate import REGIONS, draw, filled, generate

drawn = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)")


def test_the_same_seed_returns_the_same_page() -> None:
    assert page(5) == page(5)
    assert page(5) != page(6)


def test_pages_have_regions_of_all_kinds_and_no_other() -> None:
    pages = [page(seed) for seed in range(60)]
    found = [set(re.findall(r'data-region="?(\w+)', html)) for html in pages]
    assert set.union(*found) == set(KINDS)
    assert all(html.count('<main id="page"') == 1 for html in pages)


@drawn
def test_a_region_is_where_its_element_is() -> None:
    html = (
        '<body style="margin:0"><main id="page" style="position:relative;width:200px;height:100px;background:#fff">'
        "<style>div {position:absolute; top:10px; width:60px; height:30px; background:#000}</style>"
        '<div data-region="Logo" style="left:20px"></div><div data-region="Table" style="left:190px"></div></main>'
    )
    with Browser() as browser:
        picture, regions = browser.draw(html, longest=400)
    assert picture.shape == (200, 400)
    assert regions == [Region("Logo", (40, 20, 160, 80))]
    assert (picture[20:80, 40:160] == 0).all()
    assert int((picture[:, :300] == 0).sum()) == 60 * 120


@drawn
def test_blocks_that_would_be_cut_off_are_dropped() -> None:
    block = '<div data-region="Table" style="height:40px">x</div>'
    flow = f'<div class="flow" style="height:100px">{block * 4}</div>'
    html = f'<main id="page" style="width:200px;height:100px">{flow}</main>'
    with Browser() as browser:
        _, regions = browser.draw(html)
    assert len(regions) == 2


@drawn
def test_a_page_without_its_main_element_is_refused() -> None:
    with Browser() as browser, pytest.raises(ValueError, match="main#page"):
        browser.draw("<p>nothing</p>")


@drawn
def test_generated_pages_are_read_back(tmp_path: Path) -> None:
    generate(tmp_path, 3, seed=2)
    pages = data.read(tmp_path)
    assert [Path(each.name).name for each in pages] == ["000000.png", "000001.png", "000002.png"]
    assert all(data.picture(each).shape == (each.height, each.width) for each in pages)
    assert coco.read((tmp_path / REGIONS).read_bytes())[0].regions == pages[0].regions


@drawn
def test_html_pages_are_drawn_with_their_codes(tmp_path: Path) -> None:
    import zxingcpp

    (tmp_path / "a.html").write_text(
        '<main id="page" style="width:300px;height:300px;background:#fff">'
        '<img data-region="QR_Bar_Code" data-qr="SAMPLE 77" style="width:120px;margin:40px"></main>',
        encoding="utf-8",
    )
    draw(tmp_path, tmp_path / "out", longest=600)
    (made,) = data.read(tmp_path / "out")
    assert [region.kind for region in made.regions] == ["QR_Bar_Code"]
    left, top, right, bottom = made.regions[0].box
    picture = data.picture(made)
    assert [code.text for code in zxingcpp.read_barcodes(np.ascontiguousarray(picture))] == ["SAMPLE 77"]
    assert (picture[:, :left] == 255).all()
    assert (picture[bottom:] == 255).all()
    assert (right - left, bottom - top) == (240, 240)


def test_only_images_with_a_payload_are_filled() -> None:
    assert filled('<img alt="x">') == '<img alt="x">'
    assert filled('<img class="c" data-code128="A1">').startswith('<img src="data:image/png;base64,')


def test_folders_without_pages_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no pages"):
        data.read(tmp_path)
    with pytest.raises(UsageError, match="no HTML pages"):
        draw(tmp_path, tmp_path / "out")

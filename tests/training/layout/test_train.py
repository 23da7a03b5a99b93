"""A tiny training: it learns, continues after a kill, and its export finds what it found."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch (pip install 'incognote[train]')")

from incognote.errors import IncognoteError, UsageError  # noqa: E402 -- after the check for torch
from incognote.evaluation import coco  # noqa: E402 -- after the check for torch
from incognote.evaluation.regions import scored  # noqa: E402 -- after the check for torch
from incognote.pages.layout import CARD, KINDS, MODEL, LayoutDetector  # noqa: E402 -- after the check for torch
from incognote.pages.nouns import Region  # noqa: E402 -- after the check for torch
from incognote_training.layout import data, evaluate, loop  # noqa: E402 -- after the check for torch
from incognote_training.layout.export import export  # noqa: E402 -- after the check for torch
from incognote_training.layout.generate import REGIONS  # noqa: E402 -- after the check for torch

PLAN = loop.Plan(width=0.25, epochs=40, batch=4, rate=2e-3, size=128, bf16=False)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight pages, each with a black picture and a striped table at random places."""
    folder = tmp_path_factory.mktemp("pages")
    chance = np.random.default_rng(1)
    made = []
    for number in range(8):
        page = np.full((256, 192), 255, np.uint8)
        left, top = (int(each) for each in chance.integers(5, 60, 2))
        page[top : top + 70, left : left + 90] = 0
        page[170:230:6, left : left + 120] = 0
        regions = (Region("Image", (left, top, left + 90, top + 70)), Region("Table", (left, 170, left + 120, 225)))
        cv2.imwrite(str(folder / f"{number}.png"), page)
        made.append(coco.RegionPage(f"{number}.png", 192, 256, regions))
    (folder / REGIONS).write_bytes(coco.write(made, KINDS))
    return folder


@pytest.fixture(scope="module")
def run(pages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    loop.train(PLAN, [pages], folder)
    return folder


def test_a_tiny_run_learns_and_its_integers_find_the_same(pages: Path, run: Path, tmp_path: Path) -> None:
    plan, network = loop.trained(run)
    assert plan == PLAN
    made = export(network, pages, tmp_path)
    assert made.same > 0.8
    assert made.bytes == (tmp_path / MODEL).stat().st_size < 500_000
    detector = LayoutDetector(tmp_path)
    scores = scored(evaluate.on_folder(detector.find, pages))
    assert scores["Image"].recall > 0.8
    assert scores["Table"].recall > 0.8
    assert detector.version == json.loads((tmp_path / CARD).read_text())["version"]
    (tmp_path / MODEL).write_bytes(b"other")
    with pytest.raises(IncognoteError, match="does not match"):
        LayoutDetector(tmp_path).find(np.full((50, 50), 255, np.uint8))


def test_a_killed_training_continues_and_ends_with_the_same_weights(pages: Path, tmp_path: Path) -> None:
    plan = replace(PLAN, epochs=3)
    whole = loop.train(plan, [pages], tmp_path / "whole")

    class Killed(Exception):
        pass

    def kill(share: float, figures: dict[str, float]) -> None:
        if share > 0.5:
            raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "SAVED", 0.0)
        with pytest.raises(Killed):
            loop.train(plan, [pages], tmp_path / "killed", watch=kill)
    again = loop.train(plan, [pages], tmp_path / "killed")
    for one, other in zip(whole.state_dict().values(), again.state_dict().values(), strict=True):
        torch.testing.assert_close(one, other)


def test_a_folder_keeps_its_plan(pages: Path, run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="another plan"):
        loop.train(replace(PLAN, seed=2), [pages], run)
    with pytest.raises(UsageError, match="no training"):
        loop.trained(tmp_path)


def test_a_training_can_begin_with_the_weights_of_another(pages: Path, run: Path, tmp_path: Path) -> None:
    _, before = loop.trained(run)
    after = loop.train(replace(PLAN, epochs=1, rate=0.0), [pages], tmp_path, begin=run)
    for one, other in zip(before.parameters(), after.parameters(), strict=True):
        torch.testing.assert_close(one, other)


def test_the_papers_network_is_trained_by_its_schedule(pages: Path, tmp_path: Path) -> None:
    assert (loop.PAPER.epochs, loop.PAPER.batch, loop.PAPER.rate, loop.PAPER.size) == (250, 8, 0.003, 416)
    rates = [loop.rate_at(loop.PAPER, share) for share in (0.0, 0.79, 0.81, 0.91)]
    assert rates == pytest.approx([0.003, 0.003, 0.0003, 0.00003])
    plan = replace(loop.PAPER, width=0.0625, epochs=1, batch=8)
    network = loop.train(plan, [pages], tmp_path)
    areas = network.anchors.prod(dim=1)
    assert bool((areas[:-1] >= areas[1:]).all())
    history = [json.loads(line) for line in (tmp_path / loop.HISTORY).read_text().splitlines()]
    assert set(history[-1]) >= {"place", "size", "object", "class"}


def test_each_page_is_once_in_an_epoch_and_a_batch_has_one_shape(pages: Path) -> None:
    found = data.read(pages)
    plan = data.plan(found, 3, 1, 0)
    assert sorted(number for batch in plan for number, _ in batch) == list(range(8))
    assert plan == data.plan(found, 3, 1, 0)
    assert plan != data.plan(found, 3, 1, 1)
    batch = data.batch(found, plan[0], 128, (1, 0))
    assert batch.pictures.shape[1:] in ((1, 128, 96), (1, 96, 128))
    assert len(batch.boxes) == len(batch.kinds) == len(batch.pages)

"""The networks' shapes, the paper's figures of Darknet-65, and that both learn."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs torch (pip install 'incognote[train]')")

from incognote.pages.layout import KINDS  # noqa: E402 -- after the check for torch
from incognote_training.layout.networks import built  # noqa: E402 -- after the check for torch
from incognote_training.layout.networks.base import CLASSES, Targets, overlap  # noqa: E402 -- after the check for torch
from incognote_training.layout.networks.darknet import Darknet65, Unit, YoloV3Dla, clustered  # noqa: E402 -- as above


def test_darknet_65_has_66_convolutions_60_of_them_in_six_units() -> None:
    network = Darknet65(width=0.0625)
    units = [part for part in network.modules() if isinstance(part, Unit)]

    def convolutions(part: torch.nn.Module) -> list[torch.nn.Conv2d]:
        return [each for each in part.modules() if isinstance(each, torch.nn.Conv2d)]

    assert len(convolutions(network)) == 66
    assert [len(convolutions(unit)) for unit in units] == [10] * 6
    assert sum(each.stride == (2, 2) for each in convolutions(network)) == 5
    assert {each.kernel_size for unit in units for each in convolutions(unit)} == {(1, 1), (3, 3)}


def test_the_papers_network_predicts_three_boxes_in_each_cell_of_its_grids() -> None:
    network = YoloV3Dla(width=0.0625).eval()
    maps = network.maps(torch.zeros(2, 1, 416, 416))
    assert [tuple(map_.shape) for map_ in maps] == [(2, 3 * (5 + CLASSES), grid, grid) for grid in (13, 26, 52)]
    boxes, scores = network.decoded(maps)
    cells = sum(grid * grid for grid in (13, 26, 52))
    assert boxes.shape == (2, 3 * cells, 4)
    assert scores.shape == (2, 3 * cells, len(KINDS))
    assert bool(((scores >= 0) & (scores <= 1)).all())


def test_a_box_of_the_papers_network_is_its_cell_and_its_anchor() -> None:
    network = YoloV3Dla(width=0.0625).eval()
    values = torch.zeros(1, 3 * (5 + CLASSES), 13, 13)
    boxes, _ = network._boxes(values, 0)
    middle = (boxes[0, 13 * 2 + 5, :2] + boxes[0, 13 * 2 + 5, 2:]) / 2
    assert middle.tolist() == [5.5 * 32, 2.5 * 32]
    assert torch.allclose(boxes[0, 13 * 2 + 5, 2:] - boxes[0, 13 * 2 + 5, :2], network.anchors[0])


def test_dimension_clusters_are_the_sizes_that_occur() -> None:
    sizes = torch.tensor([[10.0, 10.0], [100.0, 20.0], [300.0, 200.0]]).repeat_interleave(20, dim=0)
    found = clustered(sizes + torch.rand(60, 2, generator=torch.Generator().manual_seed(1)), count=3)
    assert torch.allclose(found.round(), torch.tensor([[300.0, 200.0], [100.0, 20.0], [10.0, 10.0]]), atol=1.01)


@pytest.mark.parametrize("shape", [(64, 64), (96, 640), (480, 640), (160, 32)])
def test_the_small_network_takes_inputs_of_any_multiple_of_32(shape: tuple[int, int]) -> None:
    network = built("small", 0.25).eval()
    boxes, scores = network(torch.zeros(1, 1, *shape))
    assert boxes.shape[1:] == (scores.shape[1], 4)
    assert scores.shape[2] == len(KINDS)
    assert bool((boxes[..., 2:] > boxes[..., :2]).all())


def test_an_unknown_network_is_refused() -> None:
    with pytest.raises(ValueError, match="small, yolov3-dla"):
        built("huge")


@pytest.mark.parametrize(
    ("name", "width", "size", "rate"), [("small", 0.25, 128, 4e-3), ("yolov3-dla", 0.125, 160, 3e-3)]
)
def test_a_network_learns_one_page_by_heart(name: str, width: float, size: int, rate: float) -> None:
    torch.manual_seed(1)
    network = built(name, width)
    page = torch.ones(1, 1, size, size)
    gold = torch.tensor([[0.1, 0.1, 0.4, 0.3], [0.2, 0.6, 0.9, 0.9]]) * size
    for box, ink in zip(gold.long().tolist(), (0.0, 0.5), strict=True):
        page[0, 0, box[1] : box[3], box[0] : box[2]] = ink
    targets = Targets(gold, torch.tensor([1, 8]), torch.tensor([0, 0]))
    optimizer = torch.optim.Adam(network.parameters(), rate)
    steps = 40
    for step in range(steps):
        optimizer.zero_grad()
        sum(network.losses(network.maps(page), targets, step / steps).values()).backward()
        optimizer.step()
    with torch.no_grad():
        boxes, scores = network(page)
    for kind, box in ((1, gold[0]), (8, gold[1])):
        best = int(scores[0, :, kind].argmax())
        assert float(overlap(boxes[0, best], box)) > 0.6

"""Regions of pages in COCO's detection format: a JSON object with `images`, `categories`, and `annotations`.

Format: Lin et al., Microsoft COCO: Common Objects in Context, 2014, as published for object detection. A box is
`[left, top, width, height]` in pixels.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BaseModel, Field, NonNegativeInt, PositiveInt, ValidationError

from incognote.errors import MalformedRecord
from incognote.pages.nouns import Region

_Number = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class RegionPage:
    """A page and its regions.

    Args:
        name: of the picture's file.
        width, height: of the picture in pixels.
        regions: in pixels of the picture.
    """

    name: str = field(repr=False)
    width: int
    height: int
    regions: tuple[Region, ...] = ()


class _Image(BaseModel):
    id: int
    file_name: str
    width: PositiveInt
    height: PositiveInt


class _Category(BaseModel):
    id: int
    name: str


class _Annotation(BaseModel):
    image_id: int
    category_id: int
    bbox: tuple[_Number, _Number, _Number, _Number]
    iscrowd: NonNegativeInt = 0
    score: Annotated[float, Field(ge=0, le=1)] = 1.0


class _File(BaseModel):
    images: list[_Image]
    categories: list[_Category]
    annotations: list[_Annotation]


def read(data: bytes) -> list[RegionPage]:
    """Return the pages of a file, in its order. Crowds (`iscrowd`) are left out.

    Raises:
        MalformedRecord: it is not in this format, an identifier is used twice or not defined, or a box is empty or
            not inside its picture (by more than one pixel).
    """
    try:
        content = _File.model_validate_json(data)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise MalformedRecord(f"COCO: {where or 'the file'} is missing or has a wrong form") from None
    images = {image.id: image for image in content.images}
    names = {category.id: category.name for category in content.categories}
    if len(images) != len(content.images) or len(names) != len(content.categories):
        raise MalformedRecord("COCO: two images or two categories have the same id")
    regions: dict[int, list[Region]] = {number: [] for number in images}
    for number, annotation in enumerate(content.annotations):
        if annotation.image_id not in images or annotation.category_id not in names:
            raise MalformedRecord(f"COCO: annotations.{number} names an image or a category that is not in the file")
        image = images[annotation.image_id]
        left, top, width, height = annotation.bbox
        if width == 0 or height == 0 or left + width > image.width + 1 or top + height > image.height + 1:
            raise MalformedRecord(f"COCO: annotations.{number} has a box that is empty or outside its image")
        if annotation.iscrowd:
            continue
        right, bottom = min(image.width, round(left + width)), min(image.height, round(top + height))
        box = (min(round(left), right - 1), min(round(top), bottom - 1), right, bottom)
        regions[image.id].append(Region(names[annotation.category_id], box, annotation.score))
    return [
        RegionPage(image.file_name, image.width, image.height, tuple(regions[image.id])) for image in content.images
    ]


def write(pages: Iterable[RegionPage], kinds: Sequence[str]) -> bytes:
    """Return a file of pages. `read` returns the same pages, without the sources of regions.

    Args:
        kinds: the categories, whose ids count from 1 in this order.

    Raises:
        ValueError: a region has another kind, or its box is empty or outside its page.
    """
    numbers = {kind: number for number, kind in enumerate(kinds, 1)}
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for number, page in enumerate(pages, 1):
        images.append({"id": number, "file_name": page.name, "width": page.width, "height": page.height})
        for region in page.regions:
            left, top, right, bottom = region.box
            if region.kind not in numbers:
                raise ValueError("a region has a kind that is not in the list")
            if not (0 <= left < right <= page.width and 0 <= top < bottom <= page.height):
                raise ValueError("a region has a box that is empty or outside its page")
            made = {
                "id": len(annotations) + 1,
                "image_id": number,
                "category_id": numbers[region.kind],
                "bbox": [left, top, right - left, bottom - top],
                "area": (right - left) * (bottom - top),
                "iscrowd": 0,
            }
            annotations.append(made if region.score == 1 else {**made, "score": region.score})
    categories = [{"id": number, "name": kind} for kind, number in numbers.items()]
    return json.dumps({"images": images, "categories": categories, "annotations": annotations}).encode()

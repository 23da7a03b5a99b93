"""The networks: `small`, which is shipped, and `yolov3-dla`, the image paper's."""

from __future__ import annotations

from typing import Any

NAMES = ("small", "yolov3-dla")


def built(name: str, width: float = 1.0) -> Any:
    """Return a new network (a torch module, `networks.base.Network`).

    Args:
        width: multiplies the channels of every layer.

    Raises:
        ValueError: the name is unknown.
    """
    from incognote_training.layout.networks.darknet import YoloV3Dla
    from incognote_training.layout.networks.small import Small

    if name == "small":
        return Small(width)
    if name == "yolov3-dla":
        return YoloV3Dla(width)
    raise ValueError(f"network: {name} is unknown. Name one of {', '.join(NAMES)}")

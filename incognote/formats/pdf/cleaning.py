"""What every content stream of a PDF loses: pictures, properties of marked content, and unknown operators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from incognote.formats.pdf import closed


def cleaned(instructions: Iterable[tuple[str, list[Any]]]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the instructions of a stream that stay. A picture becomes a grey rectangle."""
    import pikepdf

    for operator, operands in instructions:
        if operator == "INLINE IMAGE":
            yield from (
                ("q", []), ("g", [Decimal("0.8")]), ("re", [0, 0, 1, 1]), ("f", []), ("Q", []),
            )  # fmt: skip
        elif operator in ("BMC", "BDC"):
            tag = operands[0] if str(operands[0]) in closed.names("tags") else pikepdf.Name("/Span")
            properties = operands[1] if len(operands) > 1 else None
            if isinstance(properties, pikepdf.Dictionary) and any(key != "/MCID" for key in properties):
                number = properties.get("/MCID", None)
                properties = pikepdf.Dictionary({"/MCID": number} if number is not None else {})
            unchanged = tag == operands[0] and (properties is None or properties == operands[1])
            yield operator, operands if unchanged else [tag, *([properties] if properties is not None else [])]
        elif operator in closed.operators():
            yield operator, operands

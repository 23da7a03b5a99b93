"""What every content stream of a PDF loses: pictures, properties of marked content, and unknown operators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from incognote.formats.pdf import closed

MAX_MARKS = 1_000_000
_NAMED = frozenset(("cs", "CS", "Do", "gs", "ri", "sh", "scn", "SCN", "Tf"))


_COUNTS = {
    **dict.fromkeys("b B b* B* BT BX EMC ET EX f F f* h n q Q s S T* W W*".split(), 0),
    **dict.fromkeys("BMC BDC cs CS Do g G gs i j J M w ri sh Tc Tj TJ TL Tr Ts Tw Tz '".split(), 1),
    **dict.fromkeys("d Td TD Tf l m d0".split(), 2), "BDC": 2, "RG": 3, "rg": 3, '"': 3,
    **dict.fromkeys("k K re v y".split(), 4), **dict.fromkeys("c cm Tm d1".split(), 6),
}
"""The number of operands of each operator. Those of the other operators, which choose colors, vary."""


def cleaned(instructions: Iterable[tuple[str, list[Any]]]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the instructions of a stream that stay. A picture becomes a gray rectangle."""
    import pikepdf

    for operator, operands in instructions:
        if operator == "INLINE IMAGE":
            yield from (
                ("q", []), ("g", [Decimal("0.8")]), ("re", [0, 0, 1, 1]), ("f", []), ("Q", []),
            )  # fmt: skip
        elif operator in ("BMC", "BDC") and operands:
            tag = operands[0] if str(operands[0]) in closed.names("tags") else pikepdf.Name("/Span")
            properties = operands[1] if len(operands) > 1 else None
            if isinstance(properties, pikepdf.Dictionary):
                number = properties.get("/MCID", None)
                is_number = isinstance(number, int) and 0 <= number < MAX_MARKS
                if not is_number or len(properties.keys()) > 1:
                    properties = pikepdf.Dictionary({"/MCID": number} if is_number else {})
            elif not isinstance(properties, pikepdf.Name):
                properties = None
            same = tag == operands[0] and len(operands) == _COUNTS[operator] and (
                properties is None or properties == operands[1]
            )
            yield "BMC" if properties is None else operator, (
                operands if same else [tag, *([properties] if properties is not None else [])]
            )
        elif operator in closed.operators():
            count = _COUNTS.get(operator, len(operands))
            own = operands[len(operands) - count :] if count <= len(operands) else operands
            if all(_fits(operator, each) for each in own) or operator in ("Tj", "TJ", "'", '"'):
                yield operator, own


def _fits(operator: str, operand: Any) -> bool:
    """Whether an operand of an instruction that shows no text is a number, an array of numbers, or a name."""
    import pikepdf

    if isinstance(operand, pikepdf.Array):
        return operator == "d" and all(isinstance(each, int | float | Decimal) for each in operand)
    if isinstance(operand, pikepdf.Name):
        return operator in _NAMED and (operator != "ri" or str(operand) in closed.names("intents"))
    return isinstance(operand, int | float | Decimal)

#!/usr/bin/env python3
"""Draw a note before and after de-identification: docs/before-after.svg, the picture in the README.

    python scripts/picture.py

The note is `examples/note.txt`, which is invented. The marks show what `Deidentifier()` replaced.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from incognote import Deidentifier

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "before-after.svg"
WIDE, HIGH, LEFT, TOP = 8.43, 22, 24, 78  # pixels: character width, line height, offsets of the text
PANE, GAP = 470, 20
STYLE = """
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2933; white-space: pre }
.title { font: 600 15px system-ui, sans-serif }
.pane { fill: #fff; stroke: #c9d1d9 } .before { fill: #ffd8d3 } .after { fill: #cdeccf }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .pane { fill: #161b22; stroke: #3d444d } .before { fill: #7d2a22 } .after { fill: #1f5a2b }
}"""


def pane(title: str, text: str, marks: list[tuple[int, int]], x: int, name: str) -> str:
    """Return one framed note. `marks` are offsets into the text. No mark crosses a line end."""
    parts = [f'<text class="title" x="{x + LEFT}" y="38">{escape(title)}</text>']
    start = 0
    for number, line in enumerate(text.splitlines()):
        y = TOP + number * HIGH
        for left, right in marks:
            if start <= left < start + len(line):
                parts.append(
                    f'<rect class="{name}" rx="3" x="{x + LEFT + (left - start) * WIDE - 1:.1f}" y="{y - 15}" '
                    f'width="{(right - left) * WIDE + 2:.1f}" height="20"/>'
                )
        length = f' textLength="{len(line) * WIDE:.1f}"' if line else ""
        parts.append(f'<text x="{x + LEFT}" y="{y}"{length} xml:space="preserve">{escape(line)}</text>')
        start += len(line) + 1
    return "\n".join(parts)


def picture() -> str:
    """Return the SVG to commit."""
    note = (ROOT / "examples" / "note.txt").read_text(encoding="utf-8").rstrip()
    result = Deidentifier().deidentify(note)
    before = [(r.span.start, r.span.end) for r in result.replacements]
    after = [(r.out_start, r.out_end) for r in result.replacements]
    lines = max(note.count("\n"), result.text.count("\n")) + 1
    width, height = 2 * PANE + GAP + 2, TOP + lines * HIGH + 8
    second = PANE + GAP
    frame = f'<rect class="pane" rx="8" x="{{x}}" y="1" width="{PANE}" height="{height - 2}"/>'
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'aria-label="An invented clinic note, and the same note with its identifiers replaced by labels.">',
        f"<style>{STYLE}</style>",
        frame.format(x=1),
        frame.format(x=second + 1),
        pane("Before: examples/note.txt (invented)", note, before, 0, "before"),
        pane("After: incognote deid examples/note.txt", result.text, after, second, "after"),
        "</svg>\n",
    ])  # fmt: skip


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")

#!/usr/bin/env python3
"""Draw the packages as layers from their imports, count their lines, and name the import circles.

    python scripts/house.py            write docs/house.svg and docs/measured/house.json
    python scripts/house.py --sizes    print lines and files of each folder
    python scripts/house.py --circles  print the import circles; exit code 1 if there are any

Every import counts: at the top of a module, inside a function, and under TYPE_CHECKING. The script uses only the
standard library and imports no module of the package, so it runs on a bare checkout.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {
    "incognote": ROOT / "incognote",
    "incognote_en": ROOT / "languages" / "en" / "incognote_en",
    "incognote_training": ROOT / "training" / "incognote_training",
    "incognote_benchmarks": ROOT / "benchmarks" / "incognote_benchmarks",
}
OUTER = ("incognote_en", "incognote_training", "incognote_benchmarks")
DRAWING, MEASURED = ROOT / "docs" / "house.svg", ROOT / "docs" / "measured" / "house.json"

Graph = Mapping[str, set[str]]
"""Each node and the nodes that it needs."""


@cache
def modules() -> dict[str, Path]:
    """Return the path of every module of the four packages, by dotted name."""
    found: dict[str, Path] = {}
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            parts = (package, *path.relative_to(folder).with_suffix("").parts)
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


@cache
def imports() -> dict[str, set[str]]:
    """Return each module and our modules that it imports anywhere in its code."""
    return {name: set(_imported(name, path)) - {name} for name, path in modules().items()}


def _imported(name: str, path: Path) -> Iterator[str]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        targets: list[str] = []
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            targets = [f"{base}.{alias.name}" for alias in node.names]
        for target in targets:
            while target and target not in modules():
                target = target.rpartition(".")[0]
            if target:
                yield target


def circles(graph: Graph) -> list[list[str]]:
    """Return the groups of nodes that depend on each other, by Tarjan's algorithm."""
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(node: str) -> None:
        numbers[node] = lowest[node] = len(numbers)
        stack.append(node)
        for needed in sorted(graph[node]):
            if needed not in numbers:
                visit(needed)
                lowest[node] = min(lowest[node], lowest[needed])
            elif needed in stack:
                lowest[node] = min(lowest[node], numbers[needed])
        if lowest[node] == numbers[node]:
            group = [stack.pop()]
            while group[-1] != node:
                group.append(stack.pop())
            if len(group) > 1:
                groups.append(sorted(group))

    sys.setrecursionlimit(10_000)
    for node in graph:
        if node not in numbers:
            visit(node)
    return sorted(groups)


def part_of(module: str) -> str:
    """Return the box of a module: its folder in `incognote`, or another package."""
    package, _, rest = module.partition(".")
    return rest.partition(".")[0] or package if package == "incognote" else package


def parts() -> Graph:
    """Return each box and the boxes that it imports."""
    graph: dict[str, set[str]] = {part_of(name): set() for name in modules()}
    for name, needed in imports().items():
        graph[part_of(name)] |= {part_of(other) for other in needed} - {part_of(name)}
    return graph


def reduced(graph: Graph) -> Graph:
    """Return the arrows that are not implied by a chain of other arrows.

    Raises:
        ValueError: folders import each other.
    """
    if groups := circles(graph):
        raise ValueError(f"folders import each other: {groups}")

    @cache
    def reached(node: str) -> frozenset[str]:
        return frozenset(graph[node]).union(*(reached(needed) for needed in graph[node]))

    return {
        node: {one for one in needed if not any(one in reached(other) for other in needed - {one})}
        for node, needed in graph.items()
    }


def sizes() -> dict[str, dict[str, dict[str, int]]]:
    """Count the lines (including blank lines and docstrings) and files of Python, per package and folder."""
    counted: dict[str, dict[str, dict[str, int]]] = {}
    for package, folder in PACKAGES.items():
        by_folder: dict[str, dict[str, int]] = defaultdict(lambda: {"lines": 0, "files": 0})
        for path in sorted(folder.rglob("*.py")):
            inside = path.relative_to(folder).parts
            for key in (inside[0] if len(inside) > 1 else ".", "total"):
                by_folder[key]["lines"] += len(path.read_text(encoding="utf-8").splitlines())
                by_folder[key]["files"] += 1
        counted[package] = dict(by_folder)
    return counted


# The drawing: rows by depth of imports, boxes sorted so that few arrows cross, and arrows through the gaps.
_HEIGHT, _ROW, _GAP, _LETTER, _MARGIN = 30, 86, 22, 8.2, 24


def drawing(graph: Graph) -> str:
    """Return the boxes and arrows as SVG. A box is above the boxes that it imports."""
    arrows = reduced(graph)
    rows, chains = _rows(arrows)
    _sort(rows, chains)
    places = _places(rows)
    width = max(right for _, _, right in places.values()) + _MARGIN
    height = len(rows) * _ROW + 2 * _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" '
        f'height="{height}" font-family="Helvetica, Arial, sans-serif" font-size="14">',
        "<title>The folders of incognote and what they import</title>",
        "<desc>Made by scripts/house.py. An arrow that a chain of other arrows implies is left out.</desc>",
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#5b6b7b"/></marker></defs>',
        f'<rect width="{width:.0f}" height="{height}" fill="#ffffff"/>',
    ]
    for chain in chains:
        lines.append(_arrow([places[node] for node in chain], chain))
    for node in arrows:
        left, top, right = places[node]
        fill = "#fff3d6" if node in OUTER else "#e4eef8" if _is_folder(node) else "#f4f4f4"
        label = "incognote/__init__" if node == "incognote" else node
        lines.append(
            f'<g><rect x="{left:.0f}" y="{top}" width="{right - left:.0f}" height="{_HEIGHT}" rx="5" fill="{fill}" '
            f'stroke="#41556b"/><text x="{(left + right) / 2:.0f}" y="{top + 20}" text-anchor="middle" '
            f'fill="#1c2733">{escape(label)}</text></g>'
        )
    return "\n".join([*lines, "</svg>", ""])


def _is_folder(node: str) -> bool:
    return (PACKAGES["incognote"] / node).is_dir()


def _rows(arrows: Graph) -> tuple[list[list[str]], list[list[str]]]:
    """Return the boxes of each row, from the top, and each arrow as a chain through the rows that it crosses."""

    @cache
    def level(node: str) -> int:
        return 1 + max((level(needed) for needed in arrows[node]), default=-1)

    top = max(level(node) for node in arrows)
    rows: list[list[str]] = [[] for _ in range(top + 1)]
    for node in sorted(arrows):
        rows[top - level(node)].append(node)
    chains: list[list[str]] = []
    for node in sorted(arrows):
        for needed in sorted(arrows[node]):
            between = [f"{node}>{needed}>{row}" for row in range(top - level(node) + 1, top - level(needed))]
            for point in between:
                rows[int(point.rpartition(">")[2])].append(point)
            chains.append([node, *between, needed])
    return rows, chains


def _sort(rows: list[list[str]], chains: Sequence[Sequence[str]]) -> None:
    """Sort each row by the mean position of its neighbors above, then below, several times."""
    above: dict[str, list[str]] = defaultdict(list)
    below: dict[str, list[str]] = defaultdict(list)
    for chain in chains:
        for upper, lower in pairwise(chain):
            above[lower].append(upper)
            below[upper].append(lower)
    for turn in range(24):
        neighbours = above if turn % 2 == 0 else below
        for row in rows if turn % 2 == 0 else reversed(rows):
            places = _places(rows)
            middles = {}
            for node in row:
                xs = [(places[other][0] + places[other][2]) / 2 for other in neighbours[node]]
                middles[node] = sum(xs) / len(xs) if xs else (places[node][0] + places[node][2]) / 2
            row.sort(key=lambda node: (middles[node], node))


def _places(rows: Sequence[Sequence[str]]) -> dict[str, tuple[float, int, float]]:
    """Return left edge, top, and right edge of every box and point. Each row is centered."""
    widths = {node: 14.0 if ">" in node else _LETTER * max(len(node), 6) + 22 for row in rows for node in row}
    widths["incognote"] = _LETTER * 18 + 22
    full = max(sum(widths[node] + _GAP for node in row) for row in rows)
    places = {}
    for number, row in enumerate(rows):
        at = _MARGIN + (full - sum(widths[node] + _GAP for node in row) + _GAP) / 2
        for node in row:
            places[node] = (at, _MARGIN + number * _ROW, at + widths[node])
            at += widths[node] + _GAP
    return places


def _arrow(points: Sequence[tuple[float, int, float]], chain: Sequence[str]) -> str:
    """Return a smooth line from the lower edge of the first box to the upper edge of the last one."""
    (left, top, right), *others = points
    x, y = (left + right) / 2, float(top + _HEIGHT)
    path = f"M{x:.0f} {y:.0f}"
    for left, top, right in others:
        to = (left + right) / 2
        bend = (top - y) / 2
        path += f" C{x:.0f} {y + bend:.0f} {to:.0f} {top - bend:.0f} {to:.0f} {top}"
        x, y = to, float(top)
        if (left, top, right) != points[-1]:
            path += f" V{top + _HEIGHT}"
            y = float(top + _HEIGHT)
    said = escape(f"{chain[0]} imports {chain[-1]}")
    return (
        f'<path d="{path}" fill="none" stroke="#5b6b7b" stroke-width="1.3" marker-end="url(#head)">'
        f"<title>{said}</title></path>"
    )


def measured() -> str:
    """Return sizes, circles, and all imports between folders, as JSON."""
    facts = {
        "sizes": sizes(),
        "circles": circles(imports()),
        "imports": {part: sorted(needed) for part, needed in sorted(parts().items())},
    }
    return json.dumps(facts, indent=1) + "\n"


def main() -> int:
    """Write the drawing and the figures, or print the sizes or circles."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", action="store_true", help="print lines and files of each folder")
    parser.add_argument("--circles", action="store_true", help="print the import circles")
    asked = parser.parse_args()
    if asked.sizes:
        for package, folders in sizes().items():
            for folder, count in folders.items():
                sys.stdout.write(f"{package:22} {folder:14} {count['lines']:7,} lines {count['files']:4} files\n")
    if asked.circles:
        groups = circles(imports())
        for group in groups:
            sys.stdout.write(" <-> ".join(group) + "\n")
        return int(bool(groups))
    if not asked.sizes:
        DRAWING.write_text(drawing(parts()), encoding="utf-8")
        MEASURED.write_text(measured(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

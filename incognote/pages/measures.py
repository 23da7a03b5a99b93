"""Numbers that describe candidates of a page's regions: their words, columns, lines, ink, and surroundings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from incognote.pages.boxes import boxes_of, common, overlaps
from incognote.pages.candidates import SOURCES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from incognote.pages.boxes import Boxes
    from incognote.pages.candidates import LayoutPage

    Numbers = NDArray[np.float32]

_CONTACT = re.compile(
    r"@|www|http|\.(?:com|org|net|de|fr|es|example)\b|^(?:tel|fax|phone|ph|t[eé]l[eé]?fono?|telefax)\b", re.IGNORECASE
)
_PAGE = re.compile(r"^(?:page|pag|pág|página|seite|s\.|صفحة)\b", re.IGNORECASE)
_TICK = re.compile(r"^[☐☒□■☑✓•\[\]()xX]{1,3}$")
_GAP = 1.1  # heights of a line between two cells


def measures(page: LayoutPage, boxes: Boxes, sources: NDArray[np.intp], proposals: Boxes, scores: Numbers) -> Numbers:
    """Return the numbers of candidates, candidates × numbers.

    Lengths are in heights of a line, places in shares of the page.

    Args:
        boxes, sources: as `candidates` returns them.
        proposals: boxes of a network, boxes × 4.
        scores: theirs, boxes × kinds.
    """
    import numpy as np

    parts = [
        _place(page, boxes),
        np.eye(len(SOURCES), dtype=np.float32)[sources],
        _words(page, boxes),
        _lines(page, boxes),
        _pixels(page, boxes),
        _network(page, boxes, proposals, scores),
    ]
    return np.concatenate(parts, axis=1).astype(np.float32)


def _place(page: LayoutPage, boxes: Boxes) -> Numbers:
    import numpy as np

    height, width = page.gray.shape
    size = np.array([width, height], np.float32)
    begin, end = boxes[:, :2] / size, boxes[:, 2:] / size
    sides = (boxes[:, 2:] - boxes[:, :2]) / page.high
    whole = np.log(size / page.high)[None].repeat(len(boxes), 0)
    shape = np.log(np.maximum(sides[:, :1], 0.1) / np.maximum(sides[:, 1:], 0.1))
    light = np.full((len(boxes), 1), page.ground / 255)
    few = np.full((len(boxes), 1), np.log1p(len(page.words)))
    logs = np.log(np.maximum(sides, 0.1))
    return np.concatenate([begin, end, end - begin, logs, shape, whole, light, few], axis=1).astype(np.float32)


def _words(page: LayoutPage, boxes: Boxes) -> Numbers:
    """Numbers of the words, rows, and columns in candidates, and of the space around them."""
    import numpy as np

    words, high = page.boxes, page.high
    count = len(words)
    if not count:
        return np.zeros((len(boxes), 50), np.float32)
    middles = (words[:, :2] + words[:, 2:]) / 2
    both = (middles[:, None] >= boxes[None, :, :2]) & (middles[:, None] <= boxes[None, :, 2:])
    inside: Any = both.all(axis=2).T.astype(np.float32)  # candidates × words
    n = inside.sum(axis=1)
    some = np.maximum(n, 1)
    row, start, gap, cell = _rows(words, high)
    by_row = np.eye(int(row.max()) + 1, dtype=np.float32)[row]
    rows = inside @ by_row
    full = rows > 0
    lines = np.maximum(full.sum(axis=1), 1)
    starts = np.maximum((inside * start) @ by_row, full)
    kinds = np.array([_kinds(word.text) for word in page.words], np.float32)
    colons = (inside * kinds[:, 0]) @ by_row
    numbers = (inside * kinds[:, 1]) @ by_row
    sizes = (words[:, 3] - words[:, 1]) / high
    long = (words[:, 2] - words[:, 0]) / high
    trust = np.array([word.confidence for word in page.words], np.float32)
    upright = np.array([word.turn == 0 for word in page.words], np.float32)
    dark = _share(page.ink > 0, words)
    columns = _columns(words, start, high)
    hits = (inside * start) @ np.eye(int(columns.max()) + 1, dtype=np.float32)[columns]
    ends = _columns(words[:, [2, 1, 0, 3]], gap > _GAP, high)
    right = (inside * (gap > _GAP)) @ np.eye(int(ends.max()) + 1, dtype=np.float32)[ends]
    first = inside * (cell == 0)
    later = inside * (cell > 0)

    def mean(values: Any, which: Any = inside) -> Any:
        return (which @ values) / np.maximum(which.sum(axis=1), 1)

    def spread(values: Any) -> Any:
        return np.sqrt(np.maximum(mean(values**2) - mean(values) ** 2, 0))

    per_row = starts.sum(axis=1) / lines
    covered = inside @ ((words[:, 2] - words[:, 0]) * (words[:, 3] - words[:, 1]))
    area = np.maximum((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]), 1)
    share = common(boxes, words) / np.maximum((long * sizes)[None] * high**2, 1)
    cut = ((share > 0.1) & (share < 0.9)).sum(axis=1)
    begins = np.where(inside[..., None] > 0, words[None, :, :2], np.inf).min(axis=1)
    stops = np.where(inside[..., None] > 0, words[None, :, 2:], -np.inf).max(axis=1)
    slack = np.abs(np.concatenate([begins, stops], axis=1) - boxes) / high
    often = np.maximum(2, 0.5 * lines[:, None])
    most = np.sort(np.pad(hits, ((0, 0), (1, 0))), axis=1)[:, -2:] / lines[:, None]
    table = [
        np.log1p(n), np.log1p(lines * (n > 0)), n / lines, per_row, covered / area, cut / some, np.log1p(cut),
        *(((starts == k).sum(axis=1) / lines) for k in (1, 2, 3, 4)), (starts >= 5).sum(axis=1) / lines,
        (colons > 0).sum(axis=1) / lines, (colons >= 2).sum(axis=1) / lines, (numbers > 0).sum(axis=1) / lines,
        (hits >= often).sum(axis=1), (right >= often).sum(axis=1), most[:, 1], most[:, 0],
        *(mean(column) for column in kinds.T),
        mean(sizes), spread(sizes), mean(trust), mean((trust < 0.5).astype(np.float32)), mean(upright), mean(long),
        mean(dark), spread(dark), mean(dark, first) - mean(dark, later), mean(sizes, first) - mean(sizes, later),
        mean(kinds[:, 0], first), mean(kinds[:, 0], later), mean(kinds[:, 1], later) - mean(kinds[:, 1], first),
        *np.minimum(slack, 10).T, *_around(words, boxes, high).T,
    ]  # fmt: skip
    return np.stack([np.asarray(each, np.float32) for each in table], axis=1)


def _kinds(text: str) -> tuple[bool, ...]:
    """Return what the letters of a word say of the region around it."""
    return (
        text.endswith((":", "：")),
        any(map(str.isdigit, text)),
        text.isupper(),
        _CONTACT.search(text) is not None,
        _PAGE.match(text) is not None,
        _TICK.match(text) is not None,
        text[:1].isupper(),
        "/" in text or "%" in text,
        not any(map(str.isalnum, text)),
        text.endswith((".", ",", ";")),
    )


def _rows(words: Boxes, high: float) -> tuple[NDArray[np.intp], Numbers, Numbers, NDArray[np.intp]]:
    """Return each word's row, whether it begins a cell, the gap to the next word, and its cell's place in the row."""
    import numpy as np

    middle = (words[:, 1] + words[:, 3]) / 2
    order = np.argsort(middle, kind="stable")
    row = np.zeros(len(words), np.intp)
    steps = np.diff(middle[order]) > 0.42 * high
    row[order] = np.concatenate([[0], np.cumsum(steps)])
    start, gap = np.ones(len(words), np.float32), np.full(len(words), 99, np.float32)
    cell = np.zeros(len(words), np.intp)
    along = np.lexsort((words[:, 0], row))
    same = row[along][1:] == row[along][:-1]
    space = (words[along][1:, 0] - words[along][:-1, 2]) / high
    start[along[1:]] = ~same | (space > _GAP)
    gap[along[:-1]] = np.where(same, np.maximum(space, 0), 99)
    place = 0
    for index, word in enumerate(along.tolist()):
        place = 0 if index == 0 or not same[index - 1] else place + int(start[word])
        cell[word] = place
    return row, start, gap, cell


def _columns(words: Boxes, start: Any, high: float) -> NDArray[np.intp]:
    """Return for each word the number of its column: words whose left sides are near each other."""
    import numpy as np

    order = np.argsort(words[:, 0], kind="stable")
    column = np.zeros(len(words), np.intp)
    begins = order[np.asarray(start)[order] > 0]
    if not len(begins):
        return column
    steps = np.diff(words[begins, 0]) > 0.35 * high
    column[begins] = np.concatenate([[0], np.cumsum(steps)])
    return column


def _around(words: Boxes, boxes: Boxes, high: float) -> Numbers:
    """Return the space up to the next word above, below, to the left, and to the right, up to 8 heights of a line."""
    import numpy as np

    left, top, right, bottom = (words[None, :, side] for side in range(4))
    x0, y0, x1, y1 = (boxes[:, None, side] for side in range(4))
    beside = (np.minimum(bottom, y1) - np.maximum(top, y0)) > 0.3 * (bottom - top)
    over = (np.minimum(right, x1) - np.maximum(left, x0)) > 0.3 * np.minimum(right - left, high)
    middle_x, middle_y = (left + right) / 2, (top + bottom) / 2
    gaps = (
        np.where(over & (middle_y < y0), y0 - bottom, 1e9), np.where(over & (middle_y > y1), top - y1, 1e9),
        np.where(beside & (middle_x < x0), x0 - right, 1e9), np.where(beside & (middle_x > x1), left - x1, 1e9),
    )  # fmt: skip
    return np.clip(np.stack([gap.min(axis=1) for gap in gaps], axis=1) / high, -1, 8).astype(np.float32)


def _lines(page: LayoutPage, boxes: Boxes) -> Numbers:
    """Numbers of the ruled lines in candidates and on their sides."""
    import numpy as np

    across, down = page.rules
    sides = np.maximum(boxes[:, 2:] - boxes[:, :2], 1)
    near = 0.5 * page.high
    lengths = [_sum(across > 0, boxes) / sides[:, 0], _sum(down > 0, boxes) / sides[:, 1]]
    edges = []
    for side in range(4):
        strip = boxes.copy()
        strip[:, side] -= near if side < 2 else -near
        strip[:, (side + 2) % 4] = boxes[:, side] + (near if side < 2 else -near)
        mask = across if side % 2 else down
        edges.append(_crossed(mask > 0, strip, vertical=side % 2 == 0))
    inner = boxes + np.array([near, near, -near, -near], np.float32) * 1.2
    inner[:, 2:] = np.maximum(inner[:, 2:], inner[:, :2])
    inside = [np.log1p(_sum(across > 0, inner) / sides[:, 0]), np.log1p(_sum(down > 0, inner) / sides[:, 1])]
    crossings = np.log1p(_sum((across > 0) & (down > 0), boxes) / 4)
    table = [*np.log1p(lengths), *edges, *inside, crossings]
    return np.stack([np.asarray(each, np.float32) for each in table], axis=1)


def _crossed(mask: NDArray[np.bool_], strips: Boxes, *, vertical: bool) -> Numbers:
    """Return the share of a strip's length that has a line."""
    import numpy as np

    length = (strips[:, 3] - strips[:, 1]) if vertical else (strips[:, 2] - strips[:, 0])
    return np.asarray(np.minimum(_sum(mask, strips) / np.maximum(length, 1), 3), np.float32)


def _pixels(page: LayoutPage, boxes: Boxes) -> Numbers:
    """Numbers of the ink and the gray levels in candidates and around them."""
    import cv2
    import numpy as np

    gray = page.gray.astype(np.float32) / 255
    ink = page.ink > 0
    unread: Any = page.ink.copy()
    for left, top, right, bottom in page.boxes.astype(int).tolist():
        unread[top:bottom, left:right] = 0
    unread = cv2.subtract(unread, cv2.dilate(cv2.max(*page.rules), np.ones((3, 3), np.uint8)))
    other = np.abs(gray - page.ground / 255)
    mean = _share(gray, boxes)
    edge_x = np.abs(np.diff(gray, axis=1, prepend=gray[:, :1]))
    edge_y = np.abs(np.diff(gray, axis=0, prepend=gray[:1]))
    inks, edges_x, edges_y = _share(ink, boxes), _share(edge_x, boxes), _share(edge_y, boxes)
    side = max(3, round(0.4 * page.high)) | 1
    solid = cv2.morphologyEx(page.ink, cv2.MORPH_OPEN, np.ones((side, side), np.uint8)) > 0
    labels, stats = page.parts
    tall = np.log(np.maximum(stats[:, 3], 1) / page.high).astype(np.float32)
    tall[0] = 0
    wild = (stats[:, 3] > 1.6 * page.high) & (stats[:, 3] < 14 * page.high)
    wild[0] = False
    ring = boxes + np.array([-1, -1, 1, 1], np.float32) * page.high
    sizes = (np.prod(np.maximum(each[:, 2:] - each[:, :2], 1), axis=1) for each in (ring, boxes))
    outer = (_sum(ink, ring) - _sum(ink, boxes)) / np.maximum(np.subtract(*sizes), 1)
    table: list[Any] = [
        mean, np.sqrt(np.maximum(_share(gray**2, boxes) - mean**2, 0)), _share((other > 0.05) & (other < 0.5), boxes),
        _share(other > 0.1, boxes), inks, _share(unread > 0, boxes), _share(solid, boxes), edges_x, edges_y,
        np.log((edges_x + 0.003) / (edges_y + 0.003)), outer, _share(wild[labels], boxes),
        _share(tall[labels], boxes) / np.maximum(inks, 1e-3), _share((edge_x < 0.012) & (edge_y < 0.012), boxes),
    ]  # fmt: skip
    return np.stack([np.asarray(each, np.float32) for each in table], axis=1)


def _network(page: LayoutPage, boxes: Boxes, proposals: Boxes, scores: Numbers) -> Numbers:
    """The scores of a network for each kind, by the overlap with its boxes, and the overlap with barcodes."""
    import numpy as np

    shared = overlaps(boxes, proposals)
    codes = overlaps(boxes, boxes_of(page.codes)) * np.array([region.score for region in page.codes], np.float32)
    table = [*(shared * kind for kind in scores.T), shared, codes]
    return np.stack([each.max(axis=1, initial=0) for each in table], axis=1).astype(np.float32)


def _sum(values: NDArray[np.generic], boxes: Boxes) -> Numbers:
    """Return the sum of a picture's values in boxes."""
    import cv2
    import numpy as np

    whole = cv2.integral(np.asarray(values, np.uint8 if values.dtype == bool else np.float32), sdepth=cv2.CV_64F)
    height, width = values.shape
    x = np.clip(np.rint(boxes[:, [0, 2]]).astype(int), 0, width)
    y = np.clip(np.rint(boxes[:, [1, 3]]).astype(int), 0, height)
    found = whole[y[:, 1], x[:, 1]] - whole[y[:, 0], x[:, 1]] - whole[y[:, 1], x[:, 0]] + whole[y[:, 0], x[:, 0]]
    return np.asarray(found, np.float32)


def _share(values: NDArray[np.generic], boxes: Boxes) -> Numbers:
    """Return the mean of a picture's values in boxes."""
    import numpy as np

    area = np.prod(np.maximum(np.rint(boxes[:, 2:]) - np.rint(boxes[:, :2]), 1), axis=1)
    return np.asarray(_sum(values, boxes) / area, np.float32)

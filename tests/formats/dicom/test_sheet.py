"""Reading lines on one sheet: words have boxes on the picture."""

from __future__ import annotations

import numpy as np

from incognote.formats.dicom.inklines import written_lines
from incognote.formats.dicom.sheet import read_lines

from . import drawn


def test_words_of_bright_dark_and_vertical_lines_have_boxes_on_their_pictures() -> None:
    bright, dark = drawn.screen(), drawn.screen(ground=220, ink=20)
    turned = np.ascontiguousarray(np.rot90(bright))
    lines = [(picture, line) for picture in (bright, dark, turned) for line in written_lines(picture)]
    found = read_lines(lines)
    read = [[word.text for word in words] for words in found]
    assert read.count(["OKONKWO", "NIA"]) >= 3
    assert read.count(["Depth", "15", "cm"]) >= 3
    for (_, line), words in zip(lines, found, strict=True):
        left, top, right, bottom = line.box
        assert all(left - 9 <= word.box[0] < word.box[2] <= right + 9 for word in words)
        assert all(top - 9 <= word.box[1] < word.box[3] <= bottom + 9 for word in words)
    assert read_lines([]) == []

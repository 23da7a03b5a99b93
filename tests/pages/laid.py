"""A drawn page with a table, fields, and a code, and the words that are read on it."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from incognote.pages.nouns import Box, Word

SIZE = (1100, 800)
"""Height and width."""
TABLE: Box = (60, 400, 740, 712)
FIELDS: Box = (60, 150, 395, 252)


def laid() -> tuple[Any, list[Word]]:
    """Return a gray page and its words."""
    page = np.full(SIZE, 255, np.uint8)
    words: list[Word] = []

    def say(text: str, x: int, y: int, line: int) -> None:
        (wide, high), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, 0.5, 1)
        cv2.putText(page, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.5, 0, 1, cv2.LINE_AA)
        words.append(Word(text, (x, y - high, x + wide, y), 0.95, line))

    labels = (("Name:", "Quackenbush"), ("MRN:", "4471902"), ("DOB:", "03/07/1961"), ("Ward:", "Cardiology"))
    for number, (label, value) in enumerate(labels):
        say(label, 60, 165 + 28 * number, number)
        say(value, 280, 165 + 28 * number, number)
    left, top, right, bottom = TABLE
    for number in range(13):
        cv2.line(page, (left, top + 26 * number), (right, top + 26 * number), 0, 1)
    for x in np.linspace(left, right, 6).astype(int):
        cv2.line(page, (int(x), top), (int(x), bottom), 0, 1)
    cells = ("Glucose", "4.1", "H", "mmol/L", "3.9-6.1")
    for number in range(12):
        for column, text in enumerate(cells):
            say(text, left + 6 + 136 * column, top + 18 + 26 * number, 10 + number)
    return page, words

"""Short vowels and other marks above letters split the tokens of a View, so the finders read the text without them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from incognote.detectors.rules.view import Candidate, View
from incognote.nouns import Text

_MARKS = re.compile("[\u064b-\u0652\u0670\u200c\u200e\u200f]")


def without_vowels(find: Callable[[View], Iterable[Candidate]]) -> Callable[[View], Iterator[Candidate]]:
    """Return a finder that reads the text without marks. Its candidates have the offsets of the original text."""

    def found(view: View) -> Iterator[Candidate]:
        if not _MARKS.search(view.text):
            yield from find(view)
            return
        kept = [i for i, char in enumerate(view.text) if not _MARKS.match(char)]
        for candidate in find(View(Text("".join(view.text[i] for i in kept)))):
            end = kept[candidate.end - 1] + 1
            while end < len(view.text) and "\u064b" <= view.text[end] <= "\u0652":
                end += 1
            yield candidate._replace(start=kept[candidate.start], end=end)

    return found

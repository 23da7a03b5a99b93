"""Words whose letters are twisted: backwards, doubled, in alternating capitals, with digits among them.

Only odd tokens are searched (`shape.odd_tokens`): a plain word has none of these forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from incognote.text.escapes import Edit
from incognote.text.vocabulary import Vocabulary

_TWISTED = re.compile(
    r"(?<![^\W_])(?:(?P<doubled>(?:([A-Za-z])\2){3,}(?:([.:;,])\3)?)|(?P<backwards>[a-z]{3,40}[A-Z])"
    r"|(?P<capitals>(?:[A-Z](?:[a-z][A-Z]){2,20}[a-z]|(?:[a-z][A-Z]){3,20}[a-z]?|[A-Z](?:[a-z][A-Z]){3,20})))(?![^\W_])"
)
_LEET = re.compile(
    r"(?<![\w$@])(?=[A-Za-z0-9$@|]{0,12}[0134578$@|])(?=[0134578$@|]{0,12}[A-Za-z])[A-Za-z0134578$@|]{4,14}(?![\w$@])|(?<!\w)[A-Z][a-z0145]{1,10}I+[a-z]{0,10}(?!\w)"
)
_LEET_LETTERS = str.maketrans("0134578$@|", "oieastbsal")
_LEET_ELLS = str.maketrans("0134578$@|", "oleastbsal")


def untwisted(tokens: Iterable[tuple[int, str]], words: Vocabulary) -> Iterator[Edit]:
    """The edits that put the letters of words in order.

    Args:
        tokens: as `shape.odd_tokens` gives them.
    """
    backwards = []
    for at, token in tokens:
        for match in _TWISTED.finditer(token):
            word = match[0][::2] if match["doubled"] else match[0].title()
            if not match["backwards"]:
                yield at + match.start(), at + match.end(), word
            elif not words.known(match[0].lower()):
                backwards.append((at + match.start(), at + match.end(), match[0][::-1]))
    if any(words.name(word.lower()) > 1 for _, _, word in backwards):
        yield from backwards


def meant(tokens: Iterable[tuple[int, str]], words: Vocabulary) -> Iterator[Edit]:
    """Names with digits and signs for letters, as OCR and users write them."""
    for at, token in tokens:
        for match in _LEET.finditer(token):
            if word := _letters_meant(match[0], words):
                yield at + match.start(), at + match.end(), word


def _letters_meant(token: str, words: Vocabulary) -> str:
    """The name that a token spells with digits and signs for letters; empty where it is none."""
    letters, low = sum(map(str.isalpha, token)), token.lower()
    if (token[-1].isdigit() and letters + 1 == len(token)) or (token[0].isdigit() and len(token) < 5):  # ROS1, 84yo
        return ""
    meant = [low.translate(table) for table in (_LEET_LETTERS, _LEET_ELLS)]
    if "I" in token[1:]:
        meant.append(token[0].lower() + token[1:].replace("I", "l").lower().translate(_LEET_ELLS))
    if letters < 2 or any(words.usual(word) and words.name(word) < 6 for word in meant):
        return ""
    signs = len(token) - letters
    least = 3 if 2 * letters > len(token) or len(token) > 5 else 4
    if len(token) > 8 and signs > 1:
        least = 1
    best = max((word for word in meant if word.isalpha()), key=words.name, default="")
    return best.title() if best and words.name(best) >= least else ""

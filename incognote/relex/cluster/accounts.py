"""Whose e-mail or user name it is, by the name it holds."""

from __future__ import annotations

from collections.abc import Sequence

from incognote.relex.names.reading import parse
from incognote.relex.names.users import parse_user
from incognote.relex.nouns import Identity

_TYPES = ("EMAIL", "USERNAME")


def bearer(account: Identity, people: Sequence[Identity]) -> str:
    """The id of the only person whose name the account holds, most letters of it; "" for none or several.

    Persons of the account's own scope go before the staff of the domain.
    """
    if account.attributes["type"] not in _TYPES:
        return ""
    front = account.variants[0].words.split("@")[0]
    for scope in dict.fromkeys((account.scope, "")):
        near = [one for one in people if one.domain == account.domain and one.scope == scope]
        shown = {one.id: found for one in near if (found := _shown(front, one))}
        best = [one for one, found in shown.items() if found == max(shown.values())]
        if len(best) == 1:
            return best[0]
        if best:
            return ""
    return ""


def _shown(front: str, person: Identity) -> int:
    """How many letters of the person's names stand in the account, whole parts counting before initials."""
    names = [parse(words, title) for words, title in sorted({(v.words, v.hints.title) for v in person.variants})]
    found = parse_user(front, names)
    if found is None:
        return 0
    return sum(2 if piece.style == "plain" else 1 for piece in found.pieces if piece.role != "gap" for _ in piece.text)

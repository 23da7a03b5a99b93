"""Whether the parts of addresses in separate mentions agree. `evaluate-relex` reads texts instead of mentions.

Only parts that a reader can check count: towns that a gazetteer knows, and US ZIP and area codes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from incognote.operators.readers import places
from incognote.relex.addresses import AddressPiece
from incognote.relex.cluster.located import addresses, area_home
from incognote.relex.nouns import MentionVariant
from incognote.relex.pools import Town, pools
from incognote.text.lexicon import fold

Fact = tuple[str, bool]
"""What was compared ("town and state"), and whether it agrees."""
_ZIP = re.compile(r"\d{5}(?:-\d{4})?")


def agreements(mentions: Iterable[MentionVariant]) -> list[Fact]:
    """Compare the parts of every address in one patient's records.

    Args:
        mentions: the places and telephone numbers of the records, as written there (`cluster.variant` makes them).

    Returns:
        `town and state`, `town and ZIP`, and `ZIP and state` for each address. `area and state` for each telephone
        number with a US area code, if the records show a US state: it agrees if it is one of these states.
    """
    found = sorted(mentions)
    out: list[Fact] = []
    states: set[str] = set()
    for address in addresses(v for v in found if v.type not in ("TELEPHONE_NUMBER", "FAX_NUMBER")):
        out += _of_address(address)
        states |= {state for state in (_state(address), _zip_state(address)) if state}
    for one in found:
        home = area_home(one.words) if one.type in ("TELEPHONE_NUMBER", "FAX_NUMBER") else None
        if home is not None and home[0] == "US" and states:
            out.append(("area and state", home[1] in states))
    return out


def _of_address(address: Sequence[AddressPiece]) -> list[Fact]:
    town = next((piece.text for piece in address if piece.role == "city"), "")
    state, code = _state(address), _code(address)
    near = _states_of(town)
    out: list[Fact] = []
    if state and near:
        out.append(("town and state", state in near))
    if code and state:
        out.append(("ZIP and state", _zip_state(address) == state))
    if code and near:
        areas = {known[:3] for known in _codes(town)}
        out.append(("town and ZIP", code[:3] in areas if areas else _zip_state(address) in near))
    return out


def _state(address: Sequence[AddressPiece]) -> str:
    """The US state that an address names."""
    region = pools().region(next((piece.text for piece in address if piece.role == "state"), ""), "US")
    return region[1] if region and region[0] == "US" else ""


def _code(address: Sequence[AddressPiece]) -> str:
    code = next((piece.text for piece in address if piece.role == "zip"), "")
    order = [piece.role for piece in address if piece.role in ("zip", "city")]
    return code if _ZIP.fullmatch(code) and order != ["zip", "city"] else ""


def _zip_state(address: Sequence[AddressPiece]) -> str:
    state = places().state_of(_code(address)) if _code(address) else None
    return state.name if state else ""


def _states_of(town: str) -> set[str]:
    """The states with a town of this name; an empty set for a town that no list has."""
    homes = [home.rstrip("*") for home in places().homes_of(town)]
    regions = [pools().region(home[3:], "US") for home in homes if home.startswith("US-")]
    return {r[1] for r in regions if r} | {t.region for t in _towns(town)} | ({"abroad"} if homes and town else set())


def _codes(town: str) -> set[str]:
    return {code for found in _towns(town) for code in found.zips}


def _towns(town: str) -> list[Town]:
    return [t for (country, _), towns in pools().towns.items() if country == "US" for t in towns
            if fold(t.name) == fold(town)]  # fmt: skip

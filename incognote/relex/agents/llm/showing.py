"""What a model is shown of notes: mentions by number or name, and the words around them, never more of a note."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from incognote.prompts.fence import marks
from incognote.relex.agents.base import Note
from incognote.relex.nouns import Identity, Variant

REACH = 120
"""Characters of a note shown on either side of a mention."""
LEFT_OUT = "[...]"
_SHORT = 80
_PLACES, _FORMS = 3, 8
_TOLD = ("gender", "kin", "role", "kind")


class Shown:
    """The texts that mentions stand in.

    Args:
        notes: those at hand; a mention of another record is shown by its words alone.
    """

    def __init__(self, notes: Iterable[Note]) -> None:
        self._texts = {(note.record, field): text for note in notes for field, text in note.texts.items()}

    def marks(self, variants: Iterable[Variant]) -> tuple[str, str]:
        """Marks that neither the texts of these mentions nor their words hold."""
        seen = list(variants)
        places = {(v.record, v.field) for v in seen}
        return marks("\n".join([*(self._texts.get(place, "") for place in sorted(places)), *(v.words for v in seen)]))

    def excerpts(self, numbered: Mapping[Variant, int], around: tuple[str, str]) -> str:
        """The notes' stretches around the mentions, each mention as `<<7|Wilson>>`, record after record.

        Args:
            numbered: the mentions, disjoint within a text.
            around: the marks.
        """
        by_place: dict[tuple[str, str], list[Variant]] = {}
        for variant in sorted(numbered, key=lambda v: (v.record, v.field, v.start, v.end)):
            by_place.setdefault((variant.record, variant.field), []).append(variant)
        records = {record: at for at, record in enumerate(sorted({record for record, _ in by_place}), 1)}
        parts = []
        for (record, field), found in by_place.items():
            if text := self._texts.get((record, field)):
                head = f"Note {records[record]}" + (f", {field}" if field else "") + ":"
                parts.append(f"{head}\n{_excerpt(text, [(v, f'{numbered[v]}|') for v in found], around, REACH)}")
        return "\n\n".join(parts)

    def identity(self, name: str, identity: Identity, around: tuple[str, str]) -> str:
        """An identity: its name, the ways it is written, what is known of it, and some places where it stands."""
        lines = [f"{name}: {written(identity.variants)}"]
        if known := told(identity.attributes):
            lines.append(f"  guessed: {known}")
        places: dict[str, Variant] = {}
        for variant in sorted(identity.variants, key=lambda v: (-len(v.words), v.record, v.field, v.start)):
            if (variant.record, variant.field) in self._texts:
                places.setdefault(variant.record, variant)
        for variant in list(places.values())[:_PLACES]:
            text = self._texts[variant.record, variant.field]
            lines.append("  - " + _one_line(_excerpt(text, [(variant, "")], around, _SHORT)))
        return "\n".join(lines)


def written(variants: Iterable[Variant]) -> str:
    """The ways something is written, the longest first, each once, behind its types."""
    seen = list(variants)
    forms = sorted({_one_line(v.words) for v in seen}, key=lambda words: (-len(words), words))
    more = f"; and {len(forms) - _FORMS} more" if len(forms) > _FORMS else ""
    return f"{'/'.join(sorted({v.type for v in seen}))}: {'; '.join(forms[:_FORMS])}{more}"


def told(attributes: Mapping[str, str]) -> str:
    """What is believed of an identity and may help to tell it from another; its locale is but a guess from the name."""
    return "; ".join(f"{key} {attributes[key]}" for key in _TOLD if attributes.get(key))


def headed(lines: Sequence[tuple[str, str]]) -> str:
    """Lines under their headings, in the order of the headings' first lines: (heading, line)."""
    blocks: dict[str, list[str]] = {}
    for heading, line in lines:
        blocks.setdefault(heading, []).append(line)
    return "\n\n".join("\n".join([heading, *block]) for heading, block in blocks.items())


def named(identities: Sequence[Identity]) -> dict[str, Identity]:
    """PERSON_1 and so on, whatever order they come in."""
    counts: dict[str, int] = {}
    found: dict[str, Identity] = {}
    for one in sorted(identities, key=lambda i: (i.group, i.domain, i.scope, i.variants)):
        counts[one.group] = counts.get(one.group, 0) + 1
        found[f"{one.group}_{counts[one.group]}"] = one
    return found


def _excerpt(text: str, found: Sequence[tuple[Variant, str]], around: tuple[str, str], reach: int) -> str:
    """The stretches of a text around mentions, cut between words; each mention between marks, behind its label."""
    out: list[str] = []
    done = 0
    for variant, label in found:
        if variant.start < done:  # it overlaps the one before: the list holds it all the same
            continue
        out.append(_gap(text, done, variant.start, reach if out else 0, reach))
        out.append(f"{around[0]}{label}{text[variant.start : variant.end]}{around[1]}")
        done = variant.end
    return "".join([*out, _gap(text, done, len(text), reach, 0)])


def _gap(text: str, start: int, end: int, after: int, before: int) -> str:
    """The text between two mentions; what is farther from both than they reach is left out, if it is worth it."""
    if end - start <= after + before + _SHORT // 2:
        return text[start:end]
    left, right = start + after, end - before
    while left < right and after and not text[left].isspace():
        left += 1
    while right > left and before and not text[right - 1].isspace():
        right -= 1
    return f"{text[start:left]} {LEFT_OUT} {text[right:end]}" if left < right else text[start:end]


def _one_line(text: str) -> str:
    return " ".join(text.split())

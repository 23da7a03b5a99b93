"""Substitutes by a language model: names of persons and organisations, and jobs; all else is drawn by the generators.

A model can neither keep a patient's one offset of dates nor know which numbers were never issued, so it is not asked.
What it proposes is claimed component by component, as a draw is, and written by the generator of its kind: kin go on
sharing a surname, and "Wilson" and "Dr. Adam Wilson" agree whoever asked first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from incognote.llm.together import together
from incognote.relex.agents.base import Note
from incognote.relex.agents.llm.asking import Asker, Played, near, windows
from incognote.relex.agents.llm.contracts import replacements
from incognote.relex.agents.llm.fitting import Fitting, Proposal
from incognote.relex.agents.llm.showing import Shown, headed, named
from incognote.relex.generate import Choices, Component, Draw, Generators, Taken, originals
from incognote.relex.generate.base import plain
from incognote.relex.nouns import Identity, Surrogate

MOST = 40
"""The most identities of one request."""
PROMPT = "relex/replacement/v1"
INVENTED = frozenset(("PERSON", "ORG", "OCCUPATION"))
"""Groups that the model is asked about."""
_LISTED = 150  # words that are listed as given or to be avoided


class LlmReplacer(Played):
    """M_replace by a language model.

    Args:
        asker: of the run.
        choices: what the policy chose, for what is drawn.
    """

    def __init__(self, asker: Asker, choices: Choices | None = None) -> None:
        super().__init__(asker, PROMPT)
        chosen = choices or Choices()
        self.version += f" pools {chosen.pools}"
        self.refused: Counter[str] = Counter()
        """Substitutes that were drawn all the same, since the model's was taken by then, by group."""
        self._generators, self._fitting = Generators(chosen), Fitting(chosen)

    async def replace(
        self, identities: Sequence[Identity], draw: Draw, taken: Taken, notes: Sequence[Note]
    ) -> dict[str, Surrogate]:
        """See `Replacer`."""
        for one in identities:
            taken.avoid(originals(one))
        open_ = [one for one in identities if one.group in INVENTED and not self._fitting.settled(one, taken)]
        for wave in windows(open_, MOST):  # claimed in their order, whoever answers first
            answers = await together(self._said(some, taken, notes) for some in wave)
            for some, said in zip(wave, answers, strict=True):
                for one in some:
                    if one.id in said and not self._fitting.claim(one, said[one.id], taken):
                        self.refused[one.group] += 1
        return self._generators.generate_all(identities, draw, taken)

    async def _said(self, identities: Sequence[Identity], taken: Taken, notes: Sequence[Note]) -> dict[str, Proposal]:
        """The model's substitutes; none where it has no answer, and the policy lets them be drawn."""

        async def none() -> dict[str, Proposal]:
            return {}

        return await self._asker.served(self._asked(identities, taken, notes), none)

    async def _asked(self, identities: Sequence[Identity], taken: Taken, notes: Sequence[Note]) -> dict[str, Proposal]:
        names, shown = named(identities), Shown(near(identities, notes))
        around = shown.marks(v for one in identities for v in one.variants)
        lines = [(one.group, shown.identity(name, one, around)) for name, one in names.items()]
        held = {part: value for part, value in taken.held.items() if _near(part, identities)}
        at_hand = {note.record for note in near(identities, notes)}
        own = {v.words for one in identities for v in one.variants}
        others: set[str] = set()
        theirs: set[str] = set()  # of other patients: no request shows them, and no substitute may be one
        for v in (v for note in notes for v in note.variants if self._fitting.kind_of(v.type) in INVENTED):
            if v.words not in own:
                (others if v.record in at_hand else theirs).add(" ".join(v.words.split()))
        material = {
            "identities": headed(lines),
            "given": f"Given before\n{_given(held)}",
            "avoid": f"Not to be used\n{'; '.join(sorted(others)[:_LISTED]) or 'no further words'}",
        }
        headings = {name: one.group for name, one in names.items()}
        avoided = {plain(word) for one in identities for word in originals(one)}
        given = {plain(value) for part, value in held.items() if part.type != "surname"}
        amiss = partial(self._fitting.amiss, names, avoided | {plain(word) for word in others | theirs}, given)
        messages = self._prompt.messages({}, material, around)
        read = partial(replacements, names=headings, amiss=amiss)
        said = await self._asker.ask(messages, _schema(headings), read, strict=True)
        return {names[name].id: self._fitting.read(names[name], words) for name, words in said.items()}


def _near(component: Component, identities: Sequence[Identity]) -> bool:
    """Held within the scope of one of these, or by their staff."""
    return any(component.domain == one.domain and component.scope in ("", one.scope) for one in identities)


def _given(held: Mapping[Component, str]) -> str:
    """Surnames with what they became, so that kin agree; other substitutes by themselves, so that none comes twice."""
    surnames = sorted((part.normal, value) for part, value in held.items() if part.type == "surname")
    wholes = sorted({value for part, value in held.items() if part.type in ("person", "job") or "core:" in part.type})
    lines = [f"surname {normal} became {value}" for normal, value in surnames[:_LISTED]]
    return "\n".join([*lines, *wholes[:_LISTED]]) or "nothing yet"


def _schema(headings: Mapping[str, str]) -> Mapping[str, Any]:
    each = {
        name: {
            "type": "object",
            "properties": {"replacement": {"type": "string"}, "type": {"type": "string", "enum": [heading]}},
            "required": ["replacement", "type"],
            "additionalProperties": False,
        }
        for name, heading in headings.items()
    }
    return {"type": "object", "properties": each, "required": list(each), "additionalProperties": False}

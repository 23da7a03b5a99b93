"""Occupations that no list names: a word with the ending of an occupation after a cue."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.detectors.rules.listed import lists
from incognote.detectors.rules.view import Candidate, View
from incognote.text.lexicon import fold, lexicon

_ENDS = re.compile(r"(?:er[oa]|istas?|dor|dora|tor|tora|ari[oa]|[oó]log[oa]|[oó]graf[oa]|ante|ente)\Z")
_CUES = frozenset(("es", "fue", "era", "soy", "como", "ex", "exa", "jubilado", "jubilada", "de", "fui"))
_NEVER = frozenset(
    "fumador fumadora bebedor bebedora consumidor consumidora portador portadora cuidador cuidadora donador donante "
    "soltera soltero primera primero entera entero tercera tercero paciente ausente presente dependiente consciente "
    "orientador enfermera enfermero compañera compañero hablante sobreviviente extranjera extranjero ".split()
)


def find(view: View) -> Iterator[Candidate]:
    """Yield unknown words in small letters that end like an occupation, after a cue or a relative."""
    table, kin = lexicon("es"), lists("es").kin
    for i in range(1, len(view)):
        word = view.words[i]
        if len(word) < 6 or not word.islower() or not _ENDS.search(word) or word in _NEVER or table.get(fold(word)):
            continue
        before = fold(view.words[i - 1])
        near = {fold(w) for w in view.words[max(0, i - 5) : i]}
        cue = before in _CUES - {"de"} or (before == "de" and near & {"trabaja", "trabajo", "profesion", "oficio"})
        if cue or (before in ",(" and near & kin) or (before == "," and near & {"anos", "soltero", "soltera", "viuda"}):
            yield Candidate(view.starts[i], view.ends[i], "OCCUPATION", 0.6, "occupations.ending")

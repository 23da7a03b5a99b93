"""The attacker who looks for contradictions ranks the mention that does not fit above the others of its kind."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote.evaluation.relex.contradictions import Seen, contradictions
from incognote.evaluation.relex.pairs import NotePair
from incognote.evaluation.relex.planting import plant, plantable

Pair = Callable[..., NotePair]


@pytest.mark.parametrize(
    ("marked", "original"),
    [
        ("Saw Mr. [PATIENT Mary Hill|John Jones] and Mr. [RELATIVE Paul Hill|Adam Jones].", "Mary Hill"),
        ("[PATIENT Ann Reed|Eve Stone] left. He saw her: Dr. [CLINICIAN Bo Kim|Al Wood], Dr. [CLINICIAN Kim|Wood].",
         "Kim"),
        ("From [CITY Salem|Juneau], [STATE Oregon|Alaska] [ZIP 97301|99801]; [CITY Boston|Juneau], AK.", "Boston"),
        ("[DATE 03/04/2014|04/03/2024], [DATE 03/07/2014|04/06/2024], [DATE 03/09/2014|04/08/2024]", "03/07/2014"),
        ("[BIRTH_DATE_TIME 05/05/1961|06/05/1971], [AGE 52|52], on [DATE 03/07/2014|04/06/2024].", "05/05/1961"),
        ("Tue [DATE 03/04/2014|04/02/2024], Fri [DATE 04/06/2024|04/05/2024]", "04/06/2024"),
        ("[PATIENT Ann Reed|Eve Stone], [EMAIL ar@x.org|estone@x.org], [EMAIL br@y.org|stone@y.org]", "br@y.org"),
        ("Of Juneau, AK [ZIP 97301|99801]. [TELEPHONE_NUMBER 503-555-0101|907-555-0101], "
         "[TELEPHONE_NUMBER 503-555-0102|907-555-0102]", "503-555-0102"),
    ],
)  # fmt: skip
def test_what_does_not_fit_comes_first(pair: Pair, marked: str, original: str) -> None:
    note = pair(marked)
    back = [at for at in plantable(note) if note.mentions[at].words == original]
    home = plant(note, back)
    seen = [
        Seen(home, at, home.text[slice(*home.places[at])], at in back, alone=at in back) for at in plantable(note)
    ]
    scores = contradictions(seen)
    group = note.mentions[back[0]].group
    others = [score for one, score in zip(seen, scores, strict=True) if one.at not in back and one.group == group]
    assert max(scores[seen.index(one)] for one in seen if one.planted) > max(others, default=0)

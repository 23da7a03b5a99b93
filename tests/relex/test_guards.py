"""What the loop never allows: equal surrogates in a scope, an original as a surrogate, or a name from the roster."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence

import pytest

from incognote.errors import AccountingError
from incognote.relex.agents.base import EmbeddedClusterer, EmbeddedReplacer, EmbeddedValidator, HitQuestion, RelexNote
from incognote.relex.batch import Agents, Tools
from incognote.relex.cluster import cluster
from incognote.relex.generate import Draw, Generators, KeyedDraw, UsedSurrogates
from incognote.relex.generate.base import plain
from incognote.relex.graph import relexicalize
from incognote.relex.nouns import Identity, Surrogate
from incognote.testing import HashingEmbedder
from incognote.testing.memory_index import MemoryIndex

from .loop_worker import KEY, note

GIVEN = "Ada Bela Cora Dora Edna Fay Gina Hope Iris Jane Kate Lena Mona Nora Olga Pia Rita Sara Tina Una".split()
FAMILY = "Abbott Barker Chandler Dyer Easton Fowler Glover Harper Ingram Joiner Keeler Lorimer Mercer Norwood".split()
OTHERS = {
    "CLINICIAN": [f"{a} {b}" for a in GIVEN for b in FAMILY[:4]],
    "CITY": "Agawam Beverly Chelsea Dedham Everett Framingham Gardner Holyoke Ipswich Kingston Lowell Malden".split(),
    "HOSPITAL": [f"{name} General Hospital" for name in FAMILY],
    "MEDICAL_RECORD_NUMBER": [f"{n:02d}" for n in range(10, 40)],
    "TELEPHONE_NUMBER": [f"(617) 432-{n}" for n in range(1000, 1070)],
}
"""Different originals of each type, more than chance would keep apart."""
SINGLE = [
    ("PATIENT", "Adam Wilson"),
    ("HOSPITAL", "Westfield General Hospital"),
    ("CITY", "Dedham"),
    ("OCCUPATION", "machinist"),
    ("MEDICAL_RECORD_NUMBER", "7781920"),
    ("TELEPHONE_NUMBER", "(617) 432-1098"),
]


def tools(**more: object) -> Tools:
    return Tools(MemoryIndex(KEY, dimension=0), KEY, **more)  # type: ignore[arg-type]


async def surrogates(served: Tools, *notes: RelexNote) -> list[str]:
    """Return the words that replace the mentions of a batch, note by note."""
    shown = (await relexicalize(notes, served)).shown
    return [shown[v].text for one in notes for v in sorted(one.variants, key=lambda v: v.start)]


async def who(served: Tools, one: RelexNote) -> list[str]:
    """Return the identity of each mention of a note."""
    shown = (await relexicalize([one], served)).shown
    return [shown[v].identity for v in sorted(one.variants, key=lambda v: v.start)]


def listed(kind: str, words: Sequence[str], record: str = "1", patient: str = "p1") -> RelexNote:
    return note(record, patient, "; ".join(f"[{kind}|{word}]" for word in words))


@pytest.mark.parametrize("kind", OTHERS)
async def test_no_two_of_a_scope_are_called_alike(kind: str) -> None:
    words = OTHERS[kind]
    given = await surrogates(tools(), listed(kind, words))
    assert len({plain(text) for text in given}) == len(words) > 9


@pytest.mark.parametrize("kind", OTHERS)
async def test_no_two_of_a_scope_are_called_alike_in_two_batches(kind: str) -> None:
    words, served = OTHERS[kind], tools()
    half = len(words) // 2
    first = await surrogates(served, listed(kind, words[:half]))
    second = await surrogates(served, listed(kind, words[half:], "2"))
    assert len({plain(text) for text in first + second}) == len(words) > 9


@pytest.mark.parametrize(("kind", "words"), SINGLE)
async def test_an_original_of_the_same_batch_is_no_surrogate(kind: str, words: str) -> None:
    (free,) = await surrogates(tools(), listed(kind, [words]))
    (other, _) = await surrogates(tools(), listed(kind, [words]), listed(kind, [free], "2", "p2"))
    assert plain(other) != plain(free)


async def test_no_word_of_a_name_of_the_same_batch_is_a_surrogate() -> None:
    (free,) = await surrogates(tools(), listed("PATIENT", ["Adam Wilson"]))
    given, surname = free.split()
    (one, *_) = await surrogates(
        tools(), listed("PATIENT", ["Adam Wilson"]), listed("RELATIVE", [f"{given} Marsh", f"Ida {surname}"], "2", "p2")
    )
    assert not {given, surname} & set(one.split())


@pytest.mark.parametrize(("kind", "words"), [one for one in SINGLE if one[0] != "OCCUPATION"])
async def test_an_original_of_an_earlier_batch_is_no_surrogate(kind: str, words: str) -> None:
    (free,) = await surrogates(tools(), listed(kind, [words]))
    served = tools()
    await surrogates(served, listed(kind, [free], "2", "p2"))
    (other,) = await surrogates(served, listed(kind, [words]))
    assert plain(other) != plain(free)


async def test_a_name_of_the_roster_is_no_surrogate() -> None:
    (free,) = await surrogates(tools(), listed("PATIENT", ["Adam Wilson"]))
    (other,) = await surrogates(tools(roster=free.split()), listed("PATIENT", ["Adam Wilson"]))
    assert not set(free.split()) & set(other.split())


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("seed", range(2))
async def test_the_order_of_a_batch_changes_no_surrogate_though_draws_collide(kind: str, seed: int) -> None:
    notes = [listed(kind, [word], f"{at}") for at, word in enumerate(OTHERS[kind])]
    mixed = random.Random(seed).sample(notes, len(notes))
    straight = await surrogates(tools(), *notes)
    assert dict(zip(map(id, mixed), await surrogates(tools(), *mixed), strict=True)) == dict(
        zip(map(id, notes), straight, strict=True)
    )


class _Meanwhile(EmbeddedClusterer):
    """Another worker processes its own batch while this one clusters for the first time."""

    def __init__(self, other: Callable[[], Awaitable[object]]) -> None:
        self._others = [other]

    async def cluster(self, notes: Sequence[RelexNote], earlier: Sequence[Identity] = ()) -> list[Identity]:
        identities = await super().cluster(notes, earlier)
        while self._others:
            await self._others.pop()()
        return identities


@pytest.mark.parametrize("written", ["Wilson", "A. Wilson", "Wilson, Adam"])
async def test_what_another_worker_writes_meanwhile_is_seen_before_anything_is_handed_out(written: str) -> None:
    store = MemoryIndex(KEY, dimension=0)
    full, late = listed("CLINICIAN", ["Adam B. Wilson"], "1"), listed("CLINICIAN", [written], "2", "p2")

    async def other() -> None:
        await relexicalize([full], Tools(store, KEY))

    outcome = await relexicalize([late], Tools(store, KEY, agents=Agents(clusterer=_Meanwhile(other))))
    again = await relexicalize([full], Tools(store, KEY))
    assert outcome.report.rounds == 2
    assert {one.identity for one in outcome.shown.values()} == {one.identity for one in again.shown.values()}


class _Leaves(EmbeddedClusterer):
    async def cluster(self, notes: Sequence[RelexNote], earlier: Sequence[Identity] = ()) -> list[Identity]:
        return (await super().cluster(notes, earlier))[1:]


class _Repeats(EmbeddedClusterer):
    async def cluster(self, notes: Sequence[RelexNote], earlier: Sequence[Identity] = ()) -> list[Identity]:
        return (found := await super().cluster(notes, earlier)) + found[:1]


class _Short(EmbeddedValidator):
    async def validate(self, questions: Sequence[HitQuestion], notes: Sequence[RelexNote]) -> list[list[bool]]:
        return [[True] * (len(question.hits) - 1) for question in questions]


class _Silent(EmbeddedReplacer):
    async def replace(
        self, identities: Sequence[Identity], draw: Draw, taken: UsedSurrogates, notes: Sequence[RelexNote]
    ) -> dict[str, Surrogate]:
        return dict(list((await super().replace(identities, draw, taken, notes)).items())[1:])


@pytest.mark.parametrize("clusterer", [_Leaves(), _Repeats()])
async def test_a_clusterer_that_leaves_out_or_repeats_a_mention_is_an_error(clusterer: EmbeddedClusterer) -> None:
    with pytest.raises(AccountingError, match="exactly one identity"):
        await surrogates(tools(agents=Agents(clusterer=clusterer)), listed("CLINICIAN", ["Ada Dyer", "Una Glover"]))


async def test_a_validator_that_does_not_answer_for_each_hit_is_an_error() -> None:
    embedder = HashingEmbedder()
    served = Tools(
        MemoryIndex(KEY, dimension=embedder.dimension), KEY, embedder=embedder, agents=Agents(validator=_Short())
    )
    await surrogates(served, listed("CLINICIAN", ["Temitope Quartermaine"]))
    with pytest.raises(AccountingError, match="must answer for each hit"):
        await surrogates(served, listed("CLINICIAN", ["Quatermane"], "2", "p2"))


async def test_a_replacer_that_leaves_out_an_identity_is_an_error() -> None:
    with pytest.raises(AccountingError, match="return a surrogate for each identity"):
        await surrogates(tools(agents=Agents(replacer=_Silent())), listed("CLINICIAN", ["Ada Dyer", "Una Glover"]))


@pytest.mark.parametrize("kind", OTHERS)
def test_the_order_in_which_identities_are_drawn_for_changes_no_surrogate(kind: str) -> None:
    identities = cluster(listed(kind, OTHERS[kind]).variants)
    mixed = random.Random(3).sample(identities, len(identities))
    assert mixed != identities
    straight, other = (
        Generators().generate_all(some, KeyedDraw(KEY), UsedSurrogates()) for some in (identities, mixed)
    )
    assert straight == other


class _Yes(EmbeddedValidator):
    async def validate(self, questions: Sequence[HitQuestion], notes: Sequence[RelexNote]) -> list[list[bool]]:
        return [[True] * len(question.hits) for question in questions]


async def test_one_identity_of_the_index_is_given_to_one_of_a_batch_even_if_all_are_accepted() -> None:
    embedder = HashingEmbedder()
    served = Tools(
        MemoryIndex(KEY, dimension=embedder.dimension), KEY, embedder=embedder, agents=Agents(validator=_Yes())
    )
    (before,) = await who(served, listed("CLINICIAN", ["Quartermaine"]))
    given = await who(served, listed("CLINICIAN", ["Quatermane", "Qvartermayne"], "2", "p2"))
    assert before in given
    assert len(set(given)) == 2


class _Model(_Yes):
    name = "model"


async def test_what_another_judge_than_the_clusterer_joins_stays_together() -> None:
    embedder = HashingEmbedder()
    served = Tools(
        MemoryIndex(KEY, dimension=embedder.dimension), KEY, embedder=embedder, agents=Agents(validator=_Model())
    )
    both = ["Northgate Cancer Center", "Northgate Center for Oncology"]
    assert len(set(await who(tools(), listed("HOSPITAL", both)))) == 2, "the clusterer alone keeps them apart"
    (before,) = await who(served, listed("HOSPITAL", both[1:]))
    assert await who(served, listed("HOSPITAL", both[:1], "2", "p2")) == [before]
    assert await who(served, listed("HOSPITAL", both, "3", "p3")) == [before, before]


async def test_hits_that_gender_suffix_or_all_words_rule_out_are_no_question() -> None:
    embedder = HashingEmbedder()
    asked: list[HitQuestion] = []

    class Asked(EmbeddedValidator):
        async def validate(self, questions: Sequence[HitQuestion], notes: Sequence[RelexNote]) -> list[list[bool]]:
            asked.extend(questions)
            return await super().validate(questions, notes)

    served = Tools(
        MemoryIndex(KEY, dimension=embedder.dimension), KEY, embedder=embedder, agents=Agents(validator=Asked())
    )
    await surrogates(served, listed("CLINICIAN", ["Temitope Quartermaine", "Robert Quartermaine Jr.", "Ada Dyer"]))
    await surrogates(served, note("2", "p2", "Mr. [CLINICIAN|Quatermane] and [CLINICIAN|Robert Quatermane Sr.] came."))
    hits = {question.identity.fullest: [hit.identity.original for hit in question.hits] for question in asked}
    assert "Ada Dyer" not in str(hits)
    assert "Robert Quartermaine Jr." not in hits.get("Robert Quatermane Sr.", [])

"""The loop recognizes known identities, its partition depends only on the mentions seen, and the index decides."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping

import pytest

from incognote.errors import IndexUnavailable, SettingError
from incognote.relex import partition
from incognote.relex.agents.base import RelexNote
from incognote.relex.batch import BatchOutcome, LoopState, ShownSurrogate, Tools
from incognote.relex.cluster import cluster
from incognote.relex.graph import machine, relexicalize
from incognote.relex.index.nouns import IdentityPlace, SurrogatePart, SurrogateProposal
from incognote.relex.memory import key_of
from incognote.relex.nouns import MentionVariant
from incognote.testing import HashingEmbedder
from incognote.testing.memory_index import MemoryIndex

from .loop_worker import KEY, note


def index(dimension: int = 0) -> MemoryIndex:
    return MemoryIndex(KEY, dimension=dimension)


def words(outcome: BatchOutcome, note: RelexNote) -> list[str]:
    """Return the words that replace the note's mentions, in order."""
    return [outcome.shown[one].text for one in sorted(note.variants, key=lambda v: v.start)]


def texts(shown: Mapping[MentionVariant, ShownSurrogate]) -> dict[MentionVariant, str]:
    return {one: told.text for one, told in shown.items()}


async def standing(index: MemoryIndex, notes: Iterable[RelexNote]) -> set[frozenset[MentionVariant]]:
    """Return the current partition of the index."""
    mentions = sorted(one for note in notes for one in note.variants)
    together = defaultdict(set)
    for one, found in (await partition.led(index, mentions)).items():
        if found:
            together[partition.latest(found).id].add(one)
    return {frozenset(one) for one in together.values()}


def wanted(notes: Iterable[RelexNote]) -> set[frozenset[MentionVariant]]:
    identities = cluster(one for note in notes for one in note.variants)
    return {frozenset(one.variants) for one in identities if one.group in partition.INDEXED}


STAFF = (
    note("1", "p1", "Seen by Dr. [CLINICIAN|Adam Wilson]. [CLINICIAN|Wilson] signed."),
    note("2", "p2", "Dr. [CLINICIAN|Wilson] called, [PATIENT|Rosa Marin] left."),
    note("3", "p2", "[CLINICIAN|Beth Wilson], NP, saw Ms. [PATIENT|Marin] with her son [RELATIVE|Luis Marin]."),
    note("4", "p3", "[PATIENT|MARIN, ROSA] was seen by [CLINICIAN|A. Wilson]."),
)


async def test_a_lone_surname_becomes_what_it_becomes_within_the_full_name() -> None:
    tools = Tools(index(), KEY)
    full, signed = words(await relexicalize([STAFF[0]], tools), STAFF[0])
    (called, patient) = words(await relexicalize([STAFF[1]], tools), STAFF[1])
    assert full.split()[1] == signed == called
    assert "Wilson" not in full + called
    assert len(patient.split()) == 2


async def test_kin_share_the_surname_and_an_account_its_bearers_name() -> None:
    one = note("1", "p1", "[PATIENT|Adam Wilson], wife [RELATIVE|Beth Wilson], [EMAIL|adam.wilson@mail.example.net].")
    adam, beth, mail = words(await relexicalize([one], Tools(index(), KEY)), one)
    assert adam.split()[1] == beth.split()[1]
    assert mail.split("@")[0] == adam.lower().replace(" ", ".")


@pytest.mark.parametrize("order", list(itertools.permutations(range(4)))[::5])
async def test_any_order_of_arrival_ends_in_the_same_partition(order: tuple[int, ...]) -> None:
    store = index()
    tools = Tools(store, KEY)
    for at in order:
        await relexicalize([STAFF[at]], tools)
    assert await standing(store, STAFF) == wanted(STAFF)


async def test_within_a_batch_the_order_changes_no_string_and_no_identity() -> None:
    first = await relexicalize(STAFF, Tools(index(), KEY))
    mixed = list(STAFF)
    random.Random(7).shuffle(mixed)
    assert (await relexicalize(mixed, Tools(index(), KEY))).shown == first.shown


async def test_who_turns_out_to_be_another_is_named_with_the_records_to_make_anew() -> None:
    store = index()
    tools = Tools(store, KEY)
    adam, lone, beth = (
        note(f"{at}", f"p{at}", f"[CLINICIAN|{name}] wrote.")
        for at, name in enumerate(("Adam Wilson", "Wilson", "Beth Wilson"))
    )
    await relexicalize([adam], tools)
    await relexicalize([lone], tools)
    assert await standing(store, [adam, lone]) == wanted([adam, lone])
    report = (await relexicalize([beth], tools)).report
    assert report.outdated == ("1",)  # the lone Wilson could now be either person
    assert await standing(store, [adam, lone, beth]) == wanted([adam, lone, beth])
    again = await relexicalize([lone], tools)
    assert again.report.outdated == ()


async def test_what_was_given_stays_and_a_second_run_gives_nothing_new() -> None:
    store = index()
    first = await relexicalize(STAFF, Tools(store, KEY))
    again = await relexicalize(STAFF, Tools(store, KEY))
    assert again.shown == first.shown
    assert (again.report.new, again.report.moved, again.report.outdated) == (0, 0, ())


@pytest.mark.parametrize("seed", range(3))
async def test_workers_at_once_give_each_identity_one_surrogate(seed: int) -> None:
    store = index()
    draw = random.Random(seed)

    async def worker() -> dict[MentionVariant, ShownSurrogate]:
        shown: dict[MentionVariant, ShownSurrogate] = {}
        tools = Tools(await MemoryIndex(KEY, store=store.memory).open(), KEY)
        for one in draw.sample(STAFF, len(STAFF)):
            shown |= (await relexicalize([one], tools)).shown
        return shown

    await asyncio.gather(*(worker() for _ in range(4)))
    assert await standing(store, STAFF) == wanted(STAFF)
    ends = [(await relexicalize(STAFF, Tools(store, KEY))).shown for _ in range(2)]
    assert ends[0] == ends[1]


async def test_while_the_index_is_down_nothing_is_handed_out_and_later_it_is_the_same() -> None:
    store, other = index(), index()
    tools = Tools(store, KEY)
    before = await relexicalize([STAFF[0]], tools)
    store.memory.down = True
    with pytest.raises(IndexUnavailable):
        await relexicalize([STAFF[1]], tools)
    store.memory.down = False
    after = await relexicalize([STAFF[1]], tools)
    whole = await relexicalize([STAFF[0]], Tools(other, KEY))
    whole_after = await relexicalize([STAFF[1]], Tools(other, KEY))
    assert (texts(before.shown), texts(after.shown)) == (texts(whole.shown), texts(whole_after.shown))


async def test_a_draw_that_another_has_moves_on_and_is_counted() -> None:
    one = note("1", "p1", "[PATIENT|Adam Wilson] left.")
    (free,) = words(await relexicalize([one], Tools(index(), KEY)), one)
    store = index()
    await store.hold_all([SurrogatePart("clinic", "patient:p1", "surname", "somebody else", free.split()[1])])
    taken = await relexicalize([one], Tools(store, KEY))
    assert words(taken, one)[0].split()[1] != free.split()[1]
    assert taken.report.moved >= 1
    store = index()
    place = IdentityPlace("clinic", "patient:p1", "PERSON")
    await store.claim(SurrogateProposal(place, "PATIENT", ("another",), {"given": "x"}, free))
    taken = await relexicalize([one], Tools(store, KEY))
    assert words(taken, one)[0] != free
    assert taken.report.moved >= 1


async def test_no_surrogate_is_an_original_of_another_record() -> None:
    one = note("1", "p1", "[PATIENT|Adam Wilson] left.")
    (free,) = words(await relexicalize([one], Tools(index(), KEY)), one)
    tools = Tools(index(), KEY)
    await relexicalize([note("2", "p2", f"[PATIENT|{free}] came.")], tools)
    assert words(await relexicalize([one], tools), one) != [free]


async def test_random_draws_are_remembered_by_the_index() -> None:
    one = note("1", "p1", "[PATIENT|Adam Wilson], [AGE|41], on [DATE|03/14/2024], MRN [MEDICAL_RECORD_NUMBER|7781920].")
    two = note("2", "p1", "[PATIENT|Wilson], [AGE|41 years], on [DATE|March 14, 2024].")
    store = index()
    first = words(await relexicalize([one], Tools(store, KEY, random=True)), one)
    assert words(await relexicalize([one], Tools(store, KEY, random=True)), one) == first
    surname, age, _ = words(await relexicalize([two], Tools(store, KEY, random=True)), two)
    assert surname == first[0].split()[1]
    assert age.split()[0] == first[1]
    elsewhere = words(await relexicalize([one], Tools(index(), KEY, random=True)), one)
    assert elsewhere[3] != first[3]


async def test_what_a_person_merged_or_split_stays_so() -> None:
    store = index()
    tools = Tools(store, KEY)
    two = note("1", "p1", "[RELATIVE|Ann Marsh] and [RELATIVE|Nadia Quill] came.")
    shown = (await relexicalize([two], tools)).shown
    ann, nadia = (shown[one] for one in sorted(two.variants, key=lambda v: v.start))
    await store.merge([ann.identity, nadia.identity])
    united = (await relexicalize([two], tools)).shown
    assert len({told.identity for told in united.values()}) == 1
    place = IdentityPlace("clinic", "patient:p1", "PERSON")
    (last,) = (one for one in two.variants if one.words == "Nadia Quill")
    apart = SurrogateProposal(place, "RELATIVE", (key_of(last),), {"given": "Ida", "surname": "Moss"}, "Ida Moss")
    await store.split(next(iter(united.values())).identity, apart)
    assert (await relexicalize([two], tools)).shown[last].text == "Ida Moss"


async def test_a_lone_name_with_two_letters_wrong_is_found_by_likeness() -> None:
    embedder = HashingEmbedder()
    store = index(embedder.dimension)
    tools = Tools(store, KEY, embedder=embedder)
    one = note("1", "p1", "Dr. [CLINICIAN|Temitope Quartermaine] came.")
    two = note("2", "p2", "Dr. [CLINICIAN|Quatermane] called.")
    (full,) = words(await relexicalize([one], tools), one)
    outcome = await relexicalize([two], tools)
    assert outcome.report.fitting == 1
    assert full.endswith(words(outcome, two)[0])


async def test_the_state_that_langgraph_sees_holds_counts_and_codes() -> None:
    from incognote.relex.batch import RelexBatch

    tools = Tools(index(), KEY)
    batch = RelexBatch(STAFF, tools, tools.draw())
    seen = [state async for state in machine().astream(LoopState(), context=batch, stream_mode="values")]
    values = {value for state in seen for value in state.values()}
    assert all(isinstance(value, int) or value in ("", "generate", "cluster", "apply") for value in values)
    assert "Wilson" not in repr(batch)


async def test_an_index_without_originals_is_refused() -> None:
    with pytest.raises(SettingError, match="originals=off"):
        Tools(MemoryIndex(KEY, originals=False), KEY)


async def test_surrogates_of_a_patient_move_nowhere_else() -> None:
    one, two = (note("1", p, "[PATIENT|Adam Wilson], [TELEPHONE_NUMBER|(617) 432-1098].") for p in ("p1", "p2"))
    tools = Tools(index(), KEY)
    first, second = words(await relexicalize([one], tools), one), words(await relexicalize([two], tools), two)
    assert first != second

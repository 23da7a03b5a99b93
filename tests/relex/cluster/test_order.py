"""The partition depends only on the set of mentions."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from incognote.relex.cluster import cluster
from incognote.relex.cluster.reasons import REASONS
from incognote.relex.nouns import Hints, Identity, MentionVariant

Partition = frozenset[frozenset[MentionVariant]]
PERSONS = ["PATIENT", "RELATIVE", "CLINICIAN", "PERSON"]
NAMES = [
    *(
        "Adam Wilson",
        "Alice Wilson",
        "A. Wilson",
        "Wilson",
        "Dr. Wilson",
        "WILSON, ADAM J.",
        "Adam K. Wilson",
        "AW",
        "Adam",
    ),
    *(
        "Wilsen",
        "Li Wei",
        "Wei Li",
        "Li",
        "Anna Petrova",
        "Anna Sokolova-Petrova",
        "Anna Sokolova",
        "Sokolova",
        "Petrova",
        "Adam Wilson Jr.",
        "AKW",
    ),
]
UNRELATED = ["Zoë Quint", "Quint", "Z. Quint", "Fonn Quint III", "Fonn", "Zoë"]
OTHERS = {
    "HOSPITAL": [
        "Brookline Memorial Hospital",
        "BMH",
        "Brookline Memorial",
        "Bedford Memorial Hospital",
        "the Memorial",
    ],
    "TELEPHONE_NUMBER": ["617-555-0143", "555-0143", "508-555-0143", "+1 617 555 0143", "617-555-0143 x2"],
    "DATE": ["3/14/2023", "3/14", "3/14/2024", "14.3.2023", "02/08/2023", "March"],
    "ADDRESS": ["31 Fern St", "31 Fern Street, Dedham, MA", "31 Fern Street, Salem, MA", "31 Fern Street Apt 2"],
    "EMAIL": ["awilson@a.example", "AWilson@a.example"],
}


@st.composite
def variants(draw: st.DrawFn) -> MentionVariant:
    kind = draw(st.sampled_from([*PERSONS, *OTHERS]))
    words = draw(st.sampled_from(OTHERS.get(kind, NAMES)))
    patient = draw(st.sampled_from(["p1", "p2"]))
    return draw(mentions(kind, words, patient, f"{patient}-{draw(st.integers(1, 3))}"))


@st.composite
def mentions(draw: st.DrawFn, kind: str, words: str, patient: str, record: str, domain: str = "d") -> MentionVariant:
    """Return a mention. Its position allows neighboring mentions, two characters apart."""
    start = draw(st.integers(0, 9)) * 40
    kin, side = draw(
        st.sampled_from([("", ""), ("", ""), ("wife", "above"), ("son", "child"), ("grandson", "grandchild")])
    )
    guessed = draw(st.booleans())
    role = draw(st.sampled_from(["", "", "patient", "relative", "staff"])) if guessed else ""
    hints = Hints(
        title=draw(st.sampled_from(["", "", "dr", "mrs", "mr"])),
        degrees=draw(st.sampled_from([(), (), ("md",), ("np",)])),
        kin=kin,
        maiden=draw(st.sampled_from([False, False, False, True])),
        side={"patient": "self", "relative": side or "kin"}.get(role, side),
        alias=draw(st.sampled_from(["", "", " (", ' "'])),
        another=draw(st.sampled_from([False, False, False, True])),
        pronoun=draw(st.sampled_from(["", "", "female"])),
        guessed=guessed,
        role=role,
    )
    return MentionVariant(kind, words, domain, patient, record, "", start, start + 38, hints)


@st.composite
def unrelated(draw: st.DrawFn) -> MentionVariant:
    """Return a mention in another domain, of another patient's relative, or with other initials in another record."""
    how = draw(st.sampled_from(["domain", "patient", "names"]))
    if how == "domain":
        return draw(mentions(draw(st.sampled_from(PERSONS)), draw(st.sampled_from(NAMES)), "p1", "p1-1", "another"))
    if how == "patient":
        return draw(mentions("RELATIVE", draw(st.sampled_from(NAMES)), "p9", "p9-1"))
    words = draw(st.sampled_from(UNRELATED))
    return draw(mentions(draw(st.sampled_from(["RELATIVE", "CLINICIAN"])), words, "p1", "p1-9"))


def partition(identities: Sequence[Identity]) -> Partition:
    return frozenset(frozenset(one.variants) for one in identities)


@settings(max_examples=150)
@given(st.lists(variants(), max_size=14), st.randoms(use_true_random=False))
def test_any_order_gives_the_same_identities(seen: list[MentionVariant], random: Random) -> None:
    shuffled = list(seen)
    random.shuffle(shuffled)
    assert cluster(shuffled) == cluster(seen)


@settings(max_examples=150)
@given(st.lists(variants(), max_size=14), st.lists(st.integers(0, 3), min_size=14, max_size=14))
def test_any_batches_give_the_same_partition(seen: list[MentionVariant], batch: list[int]) -> None:
    known: list[Identity] = []
    for number in range(4):
        known = cluster([v for v, b in zip(seen, batch, strict=False) if b == number], known)
    assert partition(known) == partition(cluster(seen))


@settings(max_examples=150)
@given(st.lists(variants(), max_size=12), st.lists(unrelated(), max_size=6))
def test_unrelated_mentions_change_no_identity(seen: list[MentionVariant], others: list[MentionVariant]) -> None:
    together = partition(cluster([*seen, *others]))
    assert partition(cluster(seen)) <= together


@given(st.lists(variants(), max_size=14))
def test_every_mention_is_in_exactly_one_identity(seen: list[MentionVariant]) -> None:
    found = [v for one in cluster(seen) for v in one.variants]
    assert sorted(found) == sorted(set(seen))
    assert len({one.id for one in cluster(seen)}) == len(cluster(seen))


@given(st.lists(variants(), max_size=14))
def test_every_person_is_held_together_by_joins_for_known_reasons(seen: list[MentionVariant]) -> None:
    persons = [one for one in cluster(seen) if one.group == "PERSON"]
    assert [one for one in persons if not held_together(one)] == []
    assert {join.reason for one in persons for join in one.joins} <= REASONS.keys()


def held_together(person: Identity) -> bool:
    """Return True if one join fewer than mentions connects all of them."""
    home = {variant: {variant} for variant in person.variants}
    for join in person.joins:
        both = home[join.mention] | home[join.other]
        home |= dict.fromkeys(both, both)
    return len(person.joins) == len(home) - 1 and all(len(both) == len(home) for both in home.values())


@given(st.lists(variants(), max_size=10), st.lists(variants(), max_size=10))
def test_ids_given_before_are_kept_and_never_given_twice(
    first: list[MentionVariant], second: list[MentionVariant]
) -> None:
    before = cluster(first)
    after = cluster(second, before)
    assert len({one.id for one in after}) == len(after)
    old = {v: one.id for one in before for v in one.variants}
    for one in after:
        inherited = {old[v] for v in one.variants if v in old}
        if len(inherited) == 1 and sum(bool(inherited & {old.get(v) for v in other.variants}) for other in after) == 1:
            assert one.id in inherited


_EIGHTH = """
import hashlib, multiprocessing, pickle, sys
from incognote.relex.cluster import cluster

def answer(seen):
    found = cluster(seen)
    shown = repr([(one.id, [(v.record, v.start) for v in one.variants]) for one in found])
    return hashlib.sha256(shown.encode()).hexdigest()

if __name__ == "__main__":
    seen = pickle.load(open(sys.argv[1], "rb"))
    answer(seen[:20])  # the lexicon is read before the fork, once
    with multiprocessing.get_context("fork").Pool(4) as pool:
        print(*pool.map(answer, [seen[at * 60 :] + seen[: at * 60] for at in range(4)], chunksize=1))
"""


def test_eight_processes_at_once_give_the_same_identities(
    longitudinal: dict[MentionVariant, str], tmp_path: Path
) -> None:
    """Four processes for each of two hash seeds, each in its own order."""
    script, mentions = tmp_path / "answer.py", tmp_path / "mentions.pickle"
    script.write_text(_EIGHTH, encoding="utf-8")
    mentions.write_bytes(pickle.dumps(list(longitudinal)))
    running = [
        subprocess.Popen(
            [sys.executable, script, mentions],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
        )
        for seed in (1, 2)
    ]
    answers = [answer for process in running for answer in process.communicate(timeout=120)[0].split()]
    assert len(answers) == 8
    assert len(set(answers)) == 1

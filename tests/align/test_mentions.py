"""Placing mentions: each gets an outcome, the right occurrence, and whole words. None is placed under a mask."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.align import matching
from incognote.align.mentions import Placement, place
from incognote.nouns import Mention

DOSE = "The patient is 76 years old and takes 76 mg of aspirin daily."  # RedactOR, §A.4


def marked(type_: str, phrase: str) -> Mention:
    """Make a mention from a phrase such as "aged <<53>> was"."""
    before, _, rest = phrase.partition("<<")
    words, _, after = rest.partition(">>")
    return Mention(type_, before + words + after, len(before), len(before) + len(words))


def only(text: str, type_: str, phrase: str, **more: object) -> Placement:
    (one,) = place(text, [marked(type_, phrase)], **more)  # type: ignore[arg-type] # passed through unchanged
    return one


def words(text: str, placement: Placement) -> list[str]:
    return [text[start:end] for start, end in placement.stretches]


def stand(text: str, what: str) -> list[tuple[int, int]]:
    return [(at, at + len(what)) for at in range(len(text)) if text.startswith(what, at)]


# ---- choosing between two occurrences ----


@pytest.mark.parametrize(
    ("phrase", "how"),
    [
        ("<<76>> years old", "exact"),
        ("patient is <<76>>", "exact"),
        ("<<76>>  Years\nOLD", "folded"),
        ("patient is <<76>> yeers old", "near"),
        ("years old, the patient is <<76>>", "bare"),
        ("<<76>>", "bare"),
    ],
)
def test_the_age_is_76_and_the_dose_is_not(phrase: str, how: str) -> None:
    found = only(DOSE, "AGE", phrase)
    assert (found.stretches, found.how, found.certain) == (((15, 17),), how, True)


def test_a_hint_after_the_words_tells_as_much_as_one_before() -> None:
    note = "Room 12 is cold. Her son is 12 and her cat is 12."
    assert only(note, "AGE", "<<12>> and her").stretches == ((28, 30),)
    assert only(note, "ROOM", "Room <<12>>").stretches == ((5, 7),)


def test_a_hint_with_a_gap_still_votes_for_its_place() -> None:
    note = "Discharge 4 planned. The younger of the two boys who live at home is 4 as of last Tuesday. Took 4 tablets."
    found = only(note, "AGE", "younger boys home is <<4>> Tuesday")
    assert (words(note, found), found.stretches[0][0], found.certain) == (["4"], note.index("4 as of"), True)


def test_a_bare_age_that_is_only_a_dose_is_placed_and_not_certain() -> None:
    found = only("Takes 76 mg of aspirin.", "AGE", "<<76>>")
    assert (found.stretches, found.how, found.certain) == (((6, 8),), "everywhere", False)


def test_bare_numbers_without_a_telling_context_are_placed_everywhere_and_not_certain() -> None:
    note = "Seen: 14. Then: 14."
    found = only(note, "AGE", "<<14>>")
    assert (found.stretches, found.how, found.certain) == (tuple(stand(note, "14")), "everywhere", False)


def test_as_many_bare_numbers_as_places_take_them_all() -> None:
    note = "Seen: 14. Then: 14."
    placed = place(note, [Mention.bare("AGE", "14")] * 2)
    assert [(each.stretches, each.how, each.certain) for each in placed] == [
        (tuple(stand(note, "14")), "bare", True)
    ] * len(placed)
    assert placed


def test_evidence_from_elsewhere_chooses_among_bare_numbers() -> None:
    note = "Seen: 14. Then: 14."
    found = only(note, "AGE", "<<14>>", fits=lambda text, start, end, type_: (start, type_) == (16, "AGE"))
    assert (found.stretches, found.how, found.certain) == (((16, 18),), "bare", True)


def test_a_bare_number_is_not_the_one_another_type_was_hinted_on() -> None:
    note = "Bed: 14. Then: 14."
    _, age = place(note, [marked("ROOM", "Bed: <<14>>"), marked("AGE", "<<14>>")])
    assert (age.stretches, age.certain) == (((15, 17),), True)


def test_a_phrase_said_twice_in_the_text_is_placed_twice() -> None:
    note = "Dr. Lund came. Later Dr. Lund left. Lund denies."
    found = only(note, "CLINICIAN", "Dr. <<Lund>>")
    assert found.stretches == tuple(stand(note, "Lund")[:2])


def test_a_name_without_a_hint_is_placed_wherever_it_stands() -> None:
    note = "Okafor called. Mrs. OKAFOR's son (okafor@home) too."
    assert words(note, only(note, "PATIENT", "<<Okafor>>")) == ["Okafor", "OKAFOR", "okafor"]


def test_an_ordinary_word_is_a_name_only_in_its_own_case() -> None:
    note = "Rose said her creatinine rose. May I call Rose?"
    assert only(note, "PATIENT", "<<Rose>>").stretches == tuple(stand(note, "Rose"))
    nowhere = only("The creatinine rose.", "PATIENT", "<<Rose>>")
    assert (nowhere.stretches, nowhere.how, nowhere.certain) == ((), "nowhere", False)


def test_an_ordinary_word_in_small_letters_goes_by_its_company() -> None:
    note = "her son mark rang, wants you to mark the chart"
    found = only(note, "RELATIVE", "<<mark>>")
    assert (found.stretches, found.certain) == (((8, 12),), True)


def test_a_short_name_is_not_sought_in_another_case() -> None:
    assert only("Mg and li were low.", "PATIENT", "<<Li>>").how == "nowhere"


def test_a_name_is_not_the_catheter_named_after_it() -> None:
    note = "Mrs. Foley is 59. Foley catheter placed."
    assert words(note, only(note, "PATIENT", "<<Foley>>")) == ["Foley"]


def test_a_name_in_the_other_order_or_without_its_initial_is_found() -> None:
    note = "Patient: SMITH, JOHN. Seen."
    for phrase in ("<<John Smith>>", "<<John Q. Smith>>"):
        found = only(note, "PATIENT", phrase)
        assert (words(note, found), found.certain) == (["SMITH, JOHN"], True)


def test_the_same_words_in_another_order_are_nearer_than_words_like_them() -> None:
    note = "Name: DOE,JANE DOB:01/02/1960"
    assert words(note, only(note, "PATIENT", "<<Jane Doe>>")) == ["DOE,JANE"]


def test_a_number_in_other_groups_is_the_number() -> None:
    note = "Phone (555) 123-4567, SSN 900-55-0147, MRN 900550148."
    assert words(note, only(note, "TELEPHONE_NUMBER", "call <<555.123.4567>>")) == ["(555) 123-4567"]
    assert words(note, only(note, "SSN_OR_TAXPAYER", "<<900550147>>")) == ["900-55-0147"]


def test_a_name_the_model_completed_is_placed_by_its_pieces_and_not_certain() -> None:
    note = "Johnson was seen."
    found = only(note, "PATIENT", "<<Robert Johnson>>")
    assert (words(note, found), found.how, found.certain) == (["Johnson"], "everywhere", False)


# ---- approximate matches ----


@pytest.mark.parametrize(
    ("note", "phrase", "there"),
    [
        ("by Dr. Søren Müller-Lüdenscheidt", "by dr. <<soren muller-ludenscheidt>>", "Søren Müller-Lüdenscheidt"),
        ("named O’Dowd–Price", "named <<O'Dowd-Price>>", "O’Dowd–Price"),
        ("Saint Ludmila\r\n   Hospital, ward", "<<Saint Ludmila Hospital>>, ward", "Saint Ludmila\r\n   Hospital"),
        ("Mrs. Vasi\u00adliev came", "Mrs. <<Vasiliev>>", "Vasi\u00adliev"),
        ("\ufeffMrs. Vas\u200bilieva came", "Mrs. <<Vasilieva>>", "Vas\u200bilieva"),
        ("Mr. Jose\u0301 came", "Mr. <<José>>", "Jose\u0301"),
        ("Mr. José came", "Mr. <<Jose\u0301>>", "José"),
        ("ＳＭＩＴＨ came", "<<Smith>> came", "ＳＭＩＴＨ"),
        ("👩🏽‍⚕️ Ana Lima 👍 came", "👩🏽‍⚕️ <<Ana  Lima>> 👍", "Ana Lima"),
        ("המטופל יוסי כהן הגיע", "המטופל <<יוסי כהן>>", "יוסי כהן"),
        ("患者王小明今天来了", "患者<<王小明>>", "王小明"),
        ("환자 김철수는 왔다", "환자 <<김철수>>", "김철수"),
        ("Dr. Mary Smyth signed", "Dr. <<Mary Smith>> signd", "Mary Smyth"),
        ("call Bulawayo clinic", "<<Bulawaoy>>", "Bulawayo"),
        ("MRN 0071-8823 noted", "MRN <<0071-8832>>", "0071-8823"),
    ],
)  # fmt: skip
def test_what_does_not_tell_words_apart_does_not_hide_them(note: str, phrase: str, there: str) -> None:
    found = only(note, "PERSON", phrase)
    assert (words(note, found), found.certain) == ([there], True)


@pytest.mark.parametrize(
    ("note", "phrase", "there"),
    [
        ("a 65yo man", "<<65>>yo", "65"),
        ("with Anna today", "with <<Ann>>a today", "Anna"),
        ("at Long's house", "<<Long>>'s house", "Long"),
        ("at Long’s house", "<<Long>>", "Long"),
        ("seen by (Lund, MD)", "by <<(Lund,>> MD", "(Lund,"),
        ("seen by  Lund , MD", "by<<  Lund >>, MD", "Lund"),
        ("seen by J. R. Lund", "by <<J. R. Lund>>", "J. R. Lund"),
        ("on 3/4 he fell", "on  <</4>> he fell", "3/4"),
    ],
)
def test_stretches_end_at_edges_of_words(note: str, phrase: str, there: str) -> None:
    assert words(note, only(note, "PERSON", phrase)) == [there]


def test_a_number_inside_a_longer_one_is_not_the_number() -> None:
    note = "BP 153/91, temp 36.53, MRN 5312; he is 53."
    assert only(note, "AGE", "<<53>>").stretches == ((39, 41),)


# ---- masks ----


def test_the_second_pass_of_the_paper_finds_the_age_behind_the_masks() -> None:
    note = "[PERSON], a patient aged 53 was admitted to [ORGANIZATION] for chest pain."  # §A.4.1
    masks = stand(note, "[PERSON]") + stand(note, "[ORGANIZATION]")
    found = only(note, "AGE", "[PERSON], a patient aged <<53>>", masks=masks)
    assert (words(note, found), found.how) == (["53"], "exact")


@pytest.mark.parametrize(
    "phrase", ["<<[PERSON]>>", "<<Dr. [PERSON]>>", "<<Dr. [Person]>> prescribed", "<<[AGE] year old>>"]
)
def test_a_phrase_that_is_only_a_mask_is_an_echo(phrase: str) -> None:
    note = "Dr. [PERSON] prescribed. An [AGE] year old."
    found = only(note, "CLINICIAN", phrase, masks=stand(note, "[PERSON]") + stand(note, "[AGE]"))
    assert (found.stretches, found.how, found.certain) == ((), "echo", True)


def test_a_stretch_loses_the_part_under_a_mask() -> None:
    note = "Seen by [PERSON] Lund today."
    for phrase in ("by <<[PERSON] Lund>>", "<<[PERSON] Lund>>"):
        assert words(note, only(note, "CLINICIAN", phrase, masks=stand(note, "[PERSON]"))) == ["Lund"]


def test_a_name_in_brackets_is_no_mask() -> None:
    note = "Relative: [LUND]."
    assert words(note, only(note, "PERSON", "<<[LUND]>>")) == ["[LUND]"]


def test_the_words_of_a_mask_are_nobody() -> None:
    note = "The [PERSON] came."
    assert only(note, "RELATIVE", "<<Person>>", masks=stand(note, "[PERSON]")).how == "nowhere"


# ---- no mention is dropped ----


@pytest.mark.parametrize(
    "phrase", ["<<Zbigniew Kowalczyk>>", "Mr. <<Xu>>, the", "<<1999>>", "aged <<103>> on", "<<\u200b>>"]
)
def test_what_does_not_stand_in_the_text_is_nowhere_and_not_certain(phrase: str) -> None:
    found = only(DOSE, "PERSON", phrase)
    assert (found.stretches, found.how, found.certain) == ((), "nowhere", False)


def test_pieces_glued_to_others_are_answered_too() -> None:
    assert only("יוס1aa", "AGE", "<<יוס½aa>>").certain is False


def test_an_empty_text_places_nothing() -> None:
    assert only("", "PERSON", "Dr. <<Lund>>").how == "nowhere"
    assert place(DOSE, []) == []


def test_a_type_of_the_users_own_is_placed_like_any() -> None:
    note = "Sample 77 in tray 9; 77 ml left."
    assert only(note, "FREEZER_SLOT", "<<77>>").stretches == ((7, 9),)


# ---- any text ----

PIECES = st.sampled_from(
    [
        *"aAbé19.,:'’-/[]<\n\t ", "\r\n", "e\u0301", "\u0301", "ß", "ﬁ", "\u00ad", "\u200b", "\ufeff", "👩🏽‍⚕️", "😀",
        "יוס", "محمد", "١٢", "王", "Lund", "Lund ", "Dr. ", "76 ", " mg", " years old", "[PERSON]", "\u2028", "İ", "²",
        "½",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=30).map("".join)


@st.composite
def texts_and_mentions(draw: st.DrawFn) -> tuple[str, list[Mention]]:
    text = draw(TEXTS)
    mentions = []
    for _ in range(draw(st.integers(0, 4))):
        phrase = draw(TEXTS.filter(bool))
        if text and draw(st.booleans()):
            low = draw(st.integers(0, len(text) - 1))
            phrase = text[low : draw(st.integers(low + 1, len(text)))]
        start = draw(st.integers(0, len(phrase) - 1))
        mentions.append(Mention(draw(st.sampled_from(["AGE", "PERSON", "DATE", "MY_OWN"])), phrase, start,
                                draw(st.integers(start + 1, len(phrase)))))  # fmt: skip
    return text, mentions


@given(texts_and_mentions())
def test_every_mention_is_answered_inside_the_text_and_outside_the_masks(both: tuple[str, list[Mention]]) -> None:
    text, mentions = both
    masks = stand(text, "[PERSON]")
    placements = place(text, mentions, masks=masks)
    assert [p.mention for p in placements] == mentions
    for one in placements:
        edges = [offset for stretch in one.stretches for offset in stretch]
        assert edges == sorted(edges)
        assert all(0 <= start < end <= len(text) for start, end in one.stretches)
        assert not any(low < end and start < high for start, end in one.stretches for low, high in masks)
        assert one.stretches or one.how == "echo" or not one.certain
        assert (one.how == "nowhere") <= (not one.stretches)


@given(st.data())
def test_a_phrase_that_stands_in_the_text_is_placed_and_where_it_stands_once_there(data: st.DataObject) -> None:
    text = data.draw(TEXTS.filter(bool))
    low = data.draw(st.integers(0, len(text) - 1))
    high = data.draw(st.integers(low + 1, len(text)))
    start = data.draw(st.integers(low, high - 1))
    end = data.draw(st.integers(start + 1, high))
    (one,) = place(text, [Mention("MY_OWN", text[low:high], start - low, end - low)])
    said = text[start:end]
    if any(c.isalnum() for c in said) and "[PERSON]" not in said:
        assert one.stretches
        hinted = any(c.isalnum() for c in text[low:start] + text[end:high])
        if hinted and len(stand(text, text[low:high])) == 1 and one.how == "exact":
            assert any(a < end and start < b for a, b in one.stretches)


# ---- bounded work ----


@pytest.mark.parametrize("text", ["a " * 50_000, "ab" * 50_000, ("76 mg Lund, " * 9_000)[:100_000], "x" * 100_000])
def test_three_hundred_mentions_of_a_long_repetitive_text_are_answered_in_bounded_work(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = 0
    real = matching.partial_ratio_alignment

    def counted(*args: object, **more: object) -> object:
        nonlocal tried
        tried += len(str(args[1]))
        return real(*args, **more)  # type: ignore[arg-type] # passed through unchanged

    monkeypatch.setattr(matching, "partial_ratio_alignment", counted)
    mentions = [
        *(marked("PERSON", f"seen by <<Qu{n} Zorn{n}>> on") for n in range(100)),
        *(marked("AGE", f"a <<{n}>> mg") for n in range(100)),
        *(marked("PERSON", "a a <<a" + " a" * n + ">> a b a") for n in range(100)),
    ]
    placements = place(text, mentions)
    assert [p.mention for p in placements] == mentions
    assert tried <= len(mentions) * 2 * 12 * 400  # two searches, twelve places of a few hundred letters each


def test_more_places_than_are_looked_at_are_not_certain() -> None:
    found = only("Lund came. " * 1_100, "PERSON", "<<Lund>>")
    assert (len(found.stretches), found.certain) == (500, False)

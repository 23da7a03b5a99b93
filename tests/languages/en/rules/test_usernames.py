"""User names: after words such as `user`, and words that end in digits or begin with an initial."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote_en.rules import usernames


@pytest.mark.parametrize("text", [
    "user: ⟦mbouchard⟧", "Printed by ⟦mbouchard⟧ at 10", "Tech: ⟦rlindq⟧", "OPR ⟦ABK12⟧", "cashier ⟦rk/204⟧",
    "oper ⟦KT-OKAFOR⟧", "login=⟦j.okafor⟧", "entered ⟦okafor22⟧ today", "saved ⟦c.okafor⟧ now",
    "by ⟦j.okafor⟧.", "user ⟦okafor_22⟧",
])  # fmt: skip
def test_user_names_are_found(text: str, check: Callable[..., None]) -> None:
    check(text, "USERNAME", find=usernames.find)


@pytest.mark.parametrize("text", [
    "given by mouth", "seen by the nurse", "user email", "user manual", "by nurse12", "report2 was sent", "e.coli grew",
    "reg: insulin", "https://x.org/okafor22", "okafor22@x.org", "followed by okafor.",
])  # fmt: skip
def test_words_addresses_and_sentences_are_no_user_names(text: str, check: Callable[..., None]) -> None:
    check(text, find=usernames.find)

"""Options that several commands share."""

from __future__ import annotations

import inspect

from incognote.cli import options


def test_what_was_asked_does_not_show_the_subject() -> None:
    assert "Hollis" not in repr(options.EngineOptions(patient="Hollis Vane", patient_file="Hollis.txt"))


def test_a_command_takes_every_shared_option_where_it_names_them() -> None:
    seen: list[object] = []

    @options.takes_all
    def command(first: str, *, asked: options.EngineOptions, last: str = "") -> None:
        seen.extend((first, asked.policy, asked.domain, last))

    names = list(inspect.signature(command).parameters)
    assert (names[0], names[-1]) == ("first", "last")
    assert "policy" in names[1:-1]
    assert "asked" not in names
    given = dict.fromkeys(names)
    command(**{**given, "first": "a", "policy": "paper", "domain": "d", "last": "z"})
    assert seen == ["a", "paper", "d", "z"]


def test_a_command_takes_the_options_of_each_group_it_names() -> None:
    seen: list[object] = []

    @options.takes_all
    def command(*, tables: options.TableOptions, models: options.ModelOptions) -> None:
        seen.extend((tables.columns().text, models.settings(), models.options()))

    given: dict[str, object] = dict.fromkeys(inspect.signature(command).parameters)
    command(**{**given, "text_columns": ["note"], "model": "a/b", "vote": 3, "batch": True})
    assert seen == [["note"], {"model": "a/b", "votes": 3, "batch": True}, ["--vote", "--batch"]]

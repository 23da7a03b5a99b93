"""Locations: none lies in another, whatever ways lead there."""

from __future__ import annotations

from pathlib import Path

import pytest

from incognote.errors import SettingError, UsageError
from incognote.service.sinks.place import keep_apart, place


@pytest.mark.parametrize(("one", "other"), [("a", "a"), ("a", "a/b"), ("a/b/c", "a"), ("a/../a", "a"), ("l", "a")])
def test_locations_in_one_another_are_refused(tmp_path: Path, one: str, other: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "l").symlink_to(tmp_path / "a")
    with pytest.raises(UsageError, match="the sink and the lab"):
        keep_apart({"the sink": place(str(tmp_path / one)), "the lab": place(str(tmp_path / other)), "x": None})
    keep_apart({"the sink": place(str(tmp_path / "a")), "the lab": place(str(tmp_path / "ab"))})


@pytest.mark.parametrize(
    "url",
    ["s3://bucket/in/../lab", "s3://bucket//in", "s3://bucket/./in", "simplecache::s3://bucket/in", "s3:///in",
     "filecache::file:///tmp/x", "s3://"],
)  # fmt: skip
def test_a_location_that_is_another_to_one_store_and_the_same_to_the_next_is_refused(url: str) -> None:
    with pytest.raises(SettingError, match="a location in a store"):
        place(url)


def test_prefixes_of_one_bucket_are_told_apart() -> None:
    pytest.importorskip("s3fs", reason="the extra `s3` is not installed")
    with pytest.raises(UsageError):
        keep_apart({"a": place("s3://bucket/x"), "b": place("s3://bucket/x/y")})
    with pytest.raises(UsageError):
        keep_apart({"a": place("s3://bucket/in/"), "b": place("s3a://bucket/in")})
    keep_apart({"a": place("s3://bucket/x"), "b": place("s3://bucket/xy"), "c": place("/bucket/x")})
    keep_apart({"a": place("s3://bucket/in"), "b": place("s3://bucket/in-lab/")})

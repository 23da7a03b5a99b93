"""Locations: none may be inside another, whatever path leads there."""

from __future__ import annotations

from pathlib import Path

import pytest

from incognote.errors import SettingError, UsageError
from incognote.runs.location import Location, keep_apart, open_location


@pytest.mark.parametrize(("one", "other"), [("a", "a"), ("a", "a/b"), ("a/b/c", "a"), ("a/../a", "a"), ("l", "a")])
def test_locations_in_one_another_are_refused(tmp_path: Path, one: str, other: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "l").symlink_to(tmp_path / "a")
    def at(name: str) -> Location:
        return open_location(str(tmp_path / name))

    with pytest.raises(UsageError, match="the source and the destination"):
        keep_apart({"the source": at(one), "the destination": at(other), "x": None})
    keep_apart({"the source": at("a"), "the destination": at("ab")})


@pytest.mark.parametrize(
    "url",
    ["s3://bucket/in/../destination", "s3://bucket//in", "s3://bucket/./in", "simplecache::s3://bucket/in", "s3:///in",
     "filecache::file:///tmp/x", "s3://"],
)  # fmt: skip
def test_a_location_that_is_another_to_one_store_and_the_same_to_the_next_is_refused(url: str) -> None:
    with pytest.raises(SettingError, match="A storage URL"):
        open_location(url)


def test_prefixes_of_one_bucket_are_told_apart() -> None:
    pytest.importorskip("s3fs", reason="the extra `s3` is not installed")
    with pytest.raises(UsageError):
        keep_apart({"a": open_location("s3://bucket/x"), "b": open_location("s3://bucket/x/y")})
    with pytest.raises(UsageError):
        keep_apart({"a": open_location("s3://bucket/in/"), "b": open_location("s3a://bucket/in")})
    keep_apart(
        {"a": open_location("s3://bucket/x"), "b": open_location("s3://bucket/xy"), "c": open_location("/bucket/x")}
    )
    keep_apart({"a": open_location("s3://bucket/in"), "b": open_location("s3://bucket/in-destination/")})

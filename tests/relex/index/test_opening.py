"""An index is opened by its address, and invalid addresses are refused."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from incognote.errors import KeyMissing, SettingError
from incognote.keys import Keyring
from incognote.relex.index.opening import open_configured, open_index, password_of
from incognote.settings import Settings


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("index.db", "sqlite:///FILE or"),
        ("sqlite://index.db", "four slashes"),
        ("sqlite:///", "four slashes"),
        ("sqlite:///x.db?engine=lucene", "four slashes"),
        ("sqlite:///x.db?dimensions=3", "unknown option 'dimensions'"),
        ("sqlite:///x.db?originals=no", "originals must be on or off"),
        ("sqlite:///x.db?dimension=many", "dimension must be a number"),
        ("postgres://h/x", "opensearch://"),
        ("opensearch://h", "opensearch://"),
        ("opensearch://h:99999/x", "opensearch://"),
        ("opensearch://h/a/b", "opensearch://"),
        ("opensearch://h/Upper", "lowercase name"),
        ("opensearch://h/_x", "lowercase name"),
        ("opensearch://u:secret@h/x", "do not put the password"),
        ("opensearch://u@h/x", "INCOGNOTE_INDEX_PASSWORD"),
        ("opensearch://h/x?tls=off", "on this machine"),
        ("opensearch://h/x?engine=nmslib", "engine must be one of"),
        ("opensearch://h/x?timeout=0", "greater than 0"),
        ("opensearch://h/x?ca=/nowhere/ca.pem", "ca file"),
    ],
)
async def test_an_address_that_cannot_be_meant_is_refused(
    url: str, words: str, key: Keyring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingError, match=words) as caught:
        await open_index(url, key, create=True)
    assert "secret" not in str(caught.value)
    assert not os.listdir()


async def test_an_index_that_is_made_otherwise_than_the_address_says_is_refused(key: Keyring, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    await (await open_index(f"{url}?dimension=8&embedder=v1", key, create=True)).aclose()
    await (await open_index(url, key)).aclose()
    for option in ("dimension=9", "embedder=v2", "vectors=off", "originals=off"):
        with pytest.raises(SettingError, match="another"):
            await open_index(f"{url}?{option}", key)


async def test_a_key_that_dies_with_the_process_opens_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyMissing):
        await open_index(f"sqlite:///{tmp_path / 'x.db'}", Keyring.ephemeral(), create=True)
    assert not (tmp_path / "x.db").exists()


async def test_the_settings_name_the_index_and_its_password(
    key: Keyring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingError, match="INCOGNOTE_INDEX"):
        await open_configured(Settings.load(key="00" * 32))
    monkeypatch.setenv("INCOGNOTE_INDEX", f"sqlite:///{tmp_path / 'x.db'}")
    index = await open_configured(Settings.load(key="00" * 32), create=True)
    assert (await index.stats()).vendor == "sqlite"
    await index.aclose()
    (tmp_path / "word").write_text("from a file\n")
    assert password_of(Settings.load()) is None
    assert password_of(Settings.load(index_password_file=tmp_path / "word")) == "from a file"
    assert password_of(Settings.load(index_password="from a variable")) == "from a variable"
    with pytest.raises(SettingError, match="index_password_file"):
        password_of(Settings.load(index_password_file=tmp_path / "absent"))


def test_the_embedded_index_loads_no_client() -> None:
    code = (
        "import sys; import incognote.relex.index.vendors.sqlite, incognote.relex.index.opening;"
        "sys.exit(any(name in sys.modules for name in ('opensearchpy', 'aiohttp', 'grpc')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_a_password_shows_in_no_repr() -> None:
    from incognote.relex.index.vendors.opensearch import ClusterAddress

    cluster = ClusterAddress("h", "x", user="u", password="secret")
    assert "secret" not in repr(cluster)
    assert "secret" not in repr(replace(cluster, port=1))

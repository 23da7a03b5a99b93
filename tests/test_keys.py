"""One master key, with keys derived for each purpose."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from incognote import keys
from incognote.errors import KeyMissing, SettingError, WrongKey
from incognote.keys import Keyring

KEY = Keyring(b"k" * 32)


def test_each_purpose_and_scope_has_a_key_of_its_own() -> None:
    derived = {
        KEY.derive("hash"),
        KEY.derive("dates"),
        KEY.derive("hash", "a"),
        KEY.derive("hash", "a", "b"),
        KEY.derive("hash", "ab"),
    }
    assert len(derived) == 5


@pytest.mark.parametrize("scope", [(), ("",), ("domain",), ("domain", "patient \ud800 é")])
def test_a_derived_key_is_what_hkdf_says(scope: tuple[str, ...]) -> None:
    info = "\x1f".join(("incognote/1", "dates", *scope)).encode("utf-8", "surrogatepass")
    for master in (KEY.master, bytes(range(100))):
        expected = HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(master)
        assert Keyring(master).derive("dates", *scope) == expected


def test_a_keyring_keeps_no_scope_and_no_message() -> None:
    keys = Keyring(b"s" * 32)
    keys.mac("dates", "patient-4711", "ward-0815")
    kept = repr(vars(keys))
    assert "4711" not in kept
    assert "0815" not in kept
    assert all(isinstance(value, bytes | bool) for value in vars(keys).values())


def test_the_same_key_gives_the_same_hash_and_another_key_a_different_one() -> None:
    assert KEY.mac("hash", "123", "d") == Keyring(b"k" * 32).mac("hash", "123", "d")
    assert KEY.mac("hash", "123", "d") != Keyring(b"j" * 32).mac("hash", "123", "d")


def test_the_key_never_shows_in_a_repr() -> None:
    assert "kkkk" not in repr(KEY)
    assert KEY.master.hex() not in repr(KEY)


def test_a_wrong_key_is_refused_by_its_check_value() -> None:
    KEY.require(KEY.id, KEY.check)
    with pytest.raises(WrongKey):
        KEY.require(KEY.id, Keyring(b"j" * 32).check)


def test_what_is_sealed_opens_only_with_its_key_purpose_and_label() -> None:
    sealed = KEY.seal("quarantine", b"note", "item-1")
    assert b"note" not in sealed
    assert KEY.open("quarantine", sealed, "item-1") == b"note"
    for key, purpose, label in (
        (Keyring(b"j" * 32), "quarantine", "item-1"),
        (KEY, "index", "item-1"),
        (KEY, "quarantine", "item-2"),
    ):
        with pytest.raises(WrongKey):
            key.open(purpose, sealed, label)  # type: ignore[arg-type] -- parametrized over literals
    with pytest.raises(WrongKey):
        KEY.open("quarantine", sealed[:5])


@pytest.mark.parametrize(
    "written",
    [KEY.master.hex(), "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=", "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s\n"],
)
def test_a_key_is_read_from_hexadecimal_or_base64(written: str) -> None:
    assert Keyring.decode(written).id == KEY.id


@pytest.mark.parametrize("written", ["", "short", "a2tr", "ж" * 40, "!" * 64])
def test_a_malformed_key_is_refused_without_being_quoted(written: str) -> None:
    with pytest.raises(SettingError) as caught:
        Keyring.decode(written)
    assert not written or written not in str(caught.value)


def test_a_new_key_file_is_private_and_never_overwrites(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "master.key"
    made = Keyring.write_new(path)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert Keyring.read(path).id == made.id
    with pytest.raises(FileExistsError):
        Keyring.write_new(path)


def test_a_missing_key_file_names_the_setting() -> None:
    with pytest.raises(KeyMissing, match="key_file"):
        Keyring.read("/nowhere/at/all")


def test_an_ephemeral_key_says_so() -> None:
    assert not Keyring.ephemeral().persistent
    assert Keyring.ephemeral().id != Keyring.ephemeral().id


def printing(code: str) -> str:
    """Return a command that runs some Python code."""
    return shlex.join([sys.executable, "-I", "-c", code])


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """A pipe whose read end no earlier test used: the process caches what a descriptor returned."""
    keys._read_once.cache_clear()
    read, write = os.pipe()
    yield read, write
    for end in (read, write):
        with suppress(OSError):
            os.close(end)


def test_a_descriptor_is_read_once_and_closed_and_the_key_is_cached(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], KEY.master.hex().encode() + b"\n")
    os.close(pipe[1])
    assert Keyring.from_descriptor(pipe[0]).id == KEY.id
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(pipe[0])
    assert Keyring.from_descriptor(pipe[0]).id == KEY.id


def test_a_descriptor_that_is_not_open_is_empty_or_gives_too_much_is_refused(pipe: tuple[int, int]) -> None:
    os.close(pipe[1])
    with pytest.raises(KeyMissing, match=r"key_fd \(INCOGNOTE_KEY_FD\) is empty"):
        Keyring.from_descriptor(pipe[0])
    with pytest.raises(KeyMissing, match=r"key_fd .* cannot be read: Bad file descriptor"):
        Keyring.from_descriptor(pipe[0])
    read, write = os.pipe()
    os.write(write, b"a" * 5000)
    with pytest.raises(KeyMissing, match=r"key_fd .* more than 4096 bytes"):
        Keyring.from_descriptor(read)
    os.close(write)


def test_a_descriptor_that_nobody_closes_is_given_up(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "WAIT", 0.05)
    os.write(pipe[1], KEY.master.hex().encode())
    with pytest.raises(KeyMissing, match=r"key_fd .* did not finish"):
        Keyring.from_descriptor(pipe[0])
    os.close(pipe[1])  # ends the reader


def test_a_command_is_split_without_a_shell_and_run_once(tmp_path: Path) -> None:
    key, runs = tmp_path / "it's $(a) key", tmp_path / "runs"
    key.write_text(KEY.master.hex())
    code = f"open({str(runs)!r}, 'a').write('x'); print(open({str(key)!r}).read())"
    for _ in range(2):
        assert Keyring.from_command(printing(code)).id == KEY.id
    assert runs.read_text() == "x"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (printing("import sys; print('S3CRET'); sys.exit('S3CRET')"), "ended with exit status 1"),
        (printing("import os; os.kill(os.getpid(), 9)"), "ended with signal 9"),
        (printing("print('S3CRET' * 1000)"), "gave more than 4096 bytes"),
        (printing("pass"), "printed nothing"),
        (printing("print('S3CRET, not a key')"), "neither base64 nor hexadecimal"),
        (printing("import sys; sys.stdout.buffer.write(bytes([255] * 40))"), "neither base64 nor hexadecimal"),
        ("/nowhere/S3CRET", "cannot be started: No such file"),
        ("print 'S3CRET", "a quote is not closed"),
        ("  ", "is empty"),
    ],
)
def test_a_command_that_fails_is_named_by_its_setting_and_status_and_nothing_it_said_is_repeated(
    command: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises((KeyMissing, SettingError)) as caught:
        Keyring.from_command(command)
    assert said in str(caught.value)
    assert "key_command (INCOGNOTE_KEY_COMMAND)" in str(caught.value)
    assert "S3CRET" not in f"{caught.value!r}{capfd.readouterr()}"


@pytest.mark.parametrize(
    "code",
    [
        "import time; time.sleep(600)",
        "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])",
    ],
)
def test_a_command_that_does_not_end_is_ended_with_what_it_started(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "WAIT", 0.5)
    with pytest.raises(KeyMissing, match="did not finish"):
        Keyring.from_command(printing(code))

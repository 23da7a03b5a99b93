"""One master key, and a derived key per purpose (HKDF-SHA256, RFC 5869).

The key has an id and a check value. Both are safe to print, and every manifest contains them. A store that was made
under another key is refused before the first record.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
import shlex
import signal
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from incognote.errors import KeyMissing, SettingError, WrongKey

Purpose = Literal[
    "id", "check", "hash", "dates", "surrogates", "recording", "index", "quarantine", "names", "ledger", "review",
    "audit", "voices",
]  # fmt: skip
KEY_BYTES = 32
_NONCE_BYTES = 12
_FILE = "key_file (--key-file or INCOGNOTE_KEY_FILE)"
_FD = "key_fd (INCOGNOTE_KEY_FD)"
_COMMAND = "key_command (INCOGNOTE_KEY_COMMAND)"
_LONGEST_WRITTEN = 4096
"""The maximum length of a written key in bytes. A source that returns more does not hold a key."""
WAIT = 30.0
"""The time limit in seconds for a descriptor or a command to return the key."""


@dataclass(frozen=True)
class Keyring:
    """The master key and the keys derived from it.

    Args:
        master: at least 32 random bytes.
        persistent: False for a key that exists only in this process.
    """

    master: bytes = field(repr=False)
    persistent: bool = True

    def __post_init__(self) -> None:
        if len(self.master) < KEY_BYTES:
            raise SettingError(
                f"A master key must have at least {KEY_BYTES} bytes. To make one, run: incognote key new"
            )

    @classmethod
    def ephemeral(cls) -> Keyring:
        """Make a key for one process. Its hashes and shifts cannot be linked to another run."""
        return cls(secrets.token_bytes(KEY_BYTES), persistent=False)

    @classmethod
    def decode(cls, written: str, source: str = "the master key") -> Keyring:
        """Read a key from its written form: base64 (url-safe or not) or hexadecimal.

        Args:
            source: the setting that an error names.

        Raises:
            SettingError: the text is neither, or the key is too short.
        """
        word = "".join(written.split())
        try:
            return cls(bytes.fromhex(word))
        except ValueError:
            pass  # not hexadecimal; try base64
        try:
            return cls(
                base64.b64decode(word.replace("-", "+").replace("_", "/") + "=" * (-len(word) % 4), validate=True)
            )
        except ValueError:  # binascii.Error is a subclass; text that is not ASCII raises ValueError itself
            raise SettingError(
                f"{source} is neither base64 nor hexadecimal. To make a key, run: incognote key new"
            ) from None

    @classmethod
    def read(cls, path: str | Path) -> Keyring:
        """Read a key from a file that contains the written form."""
        try:
            return cls.decode(Path(path).expanduser().read_text(encoding="ascii"), _FILE)
        except (OSError, UnicodeDecodeError):
            raise KeyMissing(f"The key file cannot be read. Check {_FILE}.") from None

    @classmethod
    def from_descriptor(cls, descriptor: int) -> Keyring:
        """Read a key from an open file descriptor.

        The descriptor is read to its end and closed. The process remembers the key for later calls.

        Raises:
            KeyMissing: it is not open, is empty, holds more than a key, or does not end within 30 seconds.
            SettingError: its content is not a key.
        """
        return cls.decode(_read_once(descriptor), _FD)

    @classmethod
    def from_command(cls, command: str) -> Keyring:
        """Read a key from the output of a command.

        It runs once per process, without a shell and without standard input.

        Its standard error is discarded, since it could quote the secret.

        Raises:
            KeyMissing: it cannot be started, fails, prints nothing or more than a key, or takes over 30 seconds.
            SettingError: the command has an unclosed quote, or its output is not a key.
        """
        return cls.decode(_run_once(command), _COMMAND)

    @staticmethod
    def write_new(path: str | Path) -> Keyring:
        """Create a new key file with mode 0600. An existing file is never overwritten."""
        target = Path(path).expanduser()
        target.parent.mkdir(parents=True, exist_ok=True)
        master = secrets.token_bytes(KEY_BYTES)
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as out:
            out.write(base64.urlsafe_b64encode(master).decode() + "\n")
        return Keyring(master)

    def derive(self, purpose: Purpose, *scope: str) -> bytes:
        """Return 32 bytes for one purpose and, within it, for one scope (a domain, a patient)."""
        info = "\x1f".join(("incognote/1", purpose, *scope)).encode("utf-8", "surrogatepass")
        return hmac.digest(self._extracted, info + b"\x01", "sha256")  # RFC 5869, 2.3: one block of the hash's length

    def mac(self, purpose: Purpose, message: str, *scope: str) -> bytes:
        """Return the HMAC-SHA256 of a message under the derived key."""
        return hmac.digest(self.derive(purpose, *scope), message.encode("utf-8", "surrogatepass"), "sha256")

    def name(self, words: str) -> str:
        """Return 24 hexadecimal digits to show in place of a name that may be PHI (a file name, a record id)."""
        return self.mac("names", words).hex()[:24]

    @cached_property
    def _extracted(self) -> bytes:
        """RFC 5869, 2.2, without a salt.

        Only this value is cached. Keys of scopes are not, since a scope may be a patient.
        """
        return hmac.digest(bytes(hashlib.sha256().digest_size), self.master, "sha256")

    @cached_property
    def id(self) -> str:
        """The public id of the key: 12 hexadecimal digits."""
        return self.derive("id").hex()[:12]

    @cached_property
    def check(self) -> str:
        """A public value that only this key yields: 16 hexadecimal digits."""
        return self.derive("check").hex()[:16]

    def require(self, key_id: str, check: str) -> None:
        """Check, before the first record, that data was made with this key.

        Raises:
            WrongKey: the id or the check value differs.
        """
        if not (hmac.compare_digest(self.id, key_id) and hmac.compare_digest(self.check, check)):
            raise WrongKey(
                f"This was made under key {key_id}, but the current key is {self.id}. Use the earlier key "
                "(--key-file), or choose another folder."
            )

    def resealed(self, former: Keyring, purpose: Purpose, sealed: bytes, label: str = "") -> bytes:
        """Seal again with this key what a former key sealed.

        Raises:
            WrongKey: the former key did not seal it, or it is damaged.
        """
        return self.seal(purpose, former.open(purpose, sealed, label), label)

    def seal(self, purpose: Purpose, plain: bytes, label: str = "") -> bytes:
        """Encrypt with AES-256-GCM. A random nonce is prepended. `label` is authenticated but not stored."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + AESGCM(self.derive(purpose)).encrypt(nonce, plain, label.encode())

    def open(self, purpose: Purpose, sealed: bytes, label: str = "") -> bytes:
        """Decrypt what `seal` encrypted.

        Raises:
            WrongKey: another key, another label or damaged bytes.
        """
        try:
            return AESGCM(self.derive(purpose)).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], label.encode())
        except (InvalidTag, ValueError):
            raise WrongKey(
                "The current key cannot open this. It was made with another key, or it is damaged."
            ) from None


@dataclass(frozen=True)
class MacKey:
    """One derived key, detached from its master key.

    Some names are keyed hashes, such as a subject on the opt-out list or a record in the ledger. They cannot be
    recomputed when the master key changes, because the original names are not stored. So the store keeps the derived
    key that made them, sealed under the new master key, and makes later names with it too.
    """

    key: bytes = field(repr=False)

    def mac(self, message: str) -> bytes:
        """Return the HMAC-SHA256 of a message, like `Keyring.mac`."""
        return hmac.digest(self.key, message.encode("utf-8", "surrogatepass"), "sha256")

    def kept(self, keyring: Keyring, purpose: Purpose, *scope: str) -> str:
        """Return the key in the form that a store keeps: sealed, then base64."""
        return base64.b64encode(keyring.seal(purpose, self.key, mac_row(purpose, *scope))).decode()

    @classmethod
    def of(cls, rows: Mapping[str, str], keyring: Keyring, purpose: Purpose, *scope: str) -> MacKey:
        """Return the key from a store's rows, or else the key ring's own.

        Raises:
            WrongKey: another key sealed it, or it is damaged.
        """
        name = mac_row(purpose, *scope)
        if name not in rows:
            return cls(keyring.derive(purpose, *scope))
        try:
            sealed = base64.b64decode(rows[name], validate=True)
        except ValueError:
            sealed = b""
        return cls(keyring.open(purpose, sealed, name))


def mac_row(purpose: Purpose, *scope: str) -> str:
    """The name of the row in which a store keeps a MacKey. It has at most 32 characters."""
    return "mac " + "/".join((purpose, *scope))


@cache
def _read_once(descriptor: int) -> str:
    try:
        return _bounded(descriptor, _FD)
    finally:
        with suppress(OSError):
            os.close(descriptor)  # so that no process started later inherits it


@cache
def _run_once(command: str) -> str:
    try:
        words = shlex.split(command)
    except ValueError:
        raise SettingError(f"{_COMMAND}: a quote is not closed.") from None
    if not words:
        raise SettingError(f"{_COMMAND} is empty.")
    try:
        process = subprocess.Popen(  # noqa: S603 -- named by the operator, split without a shell
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
    except OSError as error:
        raise KeyMissing(f"{_COMMAND} cannot be started: {error.strerror}.") from None
    assert process.stdout is not None
    with process.stdout:
        try:
            written = _bounded(process.stdout.fileno(), _COMMAND, process)
            status = process.wait(WAIT)
        except subprocess.TimeoutExpired:
            raise KeyMissing(f"{_COMMAND} did not finish in {WAIT:.0f} seconds.") from None
        finally:
            _end(process)
    if status:
        how = f"exit status {status}" if status > 0 else f"signal {-status}"
        raise KeyMissing(f"{_COMMAND} ended with {how}. Run it by hand to see why.")
    if not written:
        raise KeyMissing(f"{_COMMAND} printed nothing.")
    return written


def _end(process: subprocess.Popen[bytes], *, group: bool = False) -> None:
    """Kill a command that is still running. With `group`, also kill the processes that it started."""
    if hasattr(os, "killpg") and (group or process.poll() is None):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.poll() is None:
        process.kill()
    process.wait()


def _bounded(descriptor: int, source: str, process: subprocess.Popen[bytes] | None = None) -> str:
    """Read a descriptor to its end. A thread reads, since there is no portable way to poll a pipe that stays open.

    Raises:
        KeyMissing: it cannot be read, returns too much, or does not end in time.
    """
    parts: list[bytes] = []
    faults: list[str] = []

    def read() -> None:
        left = _LONGEST_WRITTEN + 1
        try:
            while left and (some := os.read(descriptor, left)):
                parts.append(some)
                left -= len(some)
        except OSError as error:
            faults.append(error.strerror or "it cannot be read")

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(WAIT)
    if reader.is_alive():
        if process is not None:
            _end(process, group=True)
            reader.join(1)
        raise KeyMissing(f"{source} did not finish in {WAIT:.0f} seconds.")
    if faults:
        raise KeyMissing(f"{source} cannot be read: {faults[0]}.")
    written = b"".join(parts)
    if len(written) > _LONGEST_WRITTEN:
        raise KeyMissing(f"{source} gave more than {_LONGEST_WRITTEN} bytes, so it is not a key.")
    try:
        text = written.decode("ascii")
    except UnicodeDecodeError:
        raise SettingError(
            f"{source} is neither base64 nor hexadecimal. To make a key, run: incognote key new"
        ) from None
    if not text.strip() and process is None:
        raise KeyMissing(f"{source} is empty.")
    return text

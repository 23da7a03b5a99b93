"""One master key, a derived key per purpose (HKDF-SHA256, RFC 5869).

The key has an id and a check value, both safe to print: they stand in every manifest, and a store made under
another key is refused before the first record.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from incognote.errors import KeyMissing, SettingError, WrongKey

Purpose = Literal[
    "id", "check", "hash", "dates", "surrogates", "recording", "index", "quarantine", "names", "ledger", "review",
    "audit",
]  # fmt: skip
KEY_BYTES = 32
_NONCE_BYTES = 12


@dataclass(frozen=True)
class Keyring:
    """The master key and what is derived from it.

    Args:
        master: at least 32 random bytes.
        persistent: False for a key that dies with this process.
    """

    master: bytes = field(repr=False)
    persistent: bool = True

    def __post_init__(self) -> None:
        if len(self.master) < KEY_BYTES:
            raise SettingError(f"a master key has at least {KEY_BYTES} bytes; make one with `incognote key new`")

    @classmethod
    def ephemeral(cls) -> Keyring:
        """A key for one process: what it hashes or shifts cannot be linked to another run."""
        return cls(secrets.token_bytes(KEY_BYTES), persistent=False)

    @classmethod
    def decode(cls, written: str) -> Keyring:
        """From its written form: base64 (url-safe or not) or hexadecimal.

        Raises:
            SettingError: neither of these, or too short.
        """
        word = "".join(written.split())
        try:
            return cls(bytes.fromhex(word))
        except ValueError:
            pass  # not hexadecimal, then base64
        try:
            return cls(
                base64.b64decode(word.replace("-", "+").replace("_", "/") + "=" * (-len(word) % 4), validate=True)
            )
        except ValueError:  # binascii.Error is one; text that is not ASCII raises the plain one
            raise SettingError(
                "the master key is neither base64 nor hexadecimal; make one with `incognote key new`"
            ) from None

    @classmethod
    def read(cls, path: str | Path) -> Keyring:
        """From a file holding the written form."""
        try:
            return cls.decode(Path(path).expanduser().read_text(encoding="ascii"))
        except (OSError, UnicodeDecodeError):
            raise KeyMissing("the key file cannot be read; check `key_file` (INCOGNOTE_KEY_FILE)") from None

    @staticmethod
    def write_new(path: str | Path) -> Keyring:
        """Create a new key file, mode 0600, never over an existing one."""
        target = Path(path).expanduser()
        target.parent.mkdir(parents=True, exist_ok=True)
        master = secrets.token_bytes(KEY_BYTES)
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as out:
            out.write(base64.urlsafe_b64encode(master).decode() + "\n")
        return Keyring(master)

    def derive(self, purpose: Purpose, *scope: str) -> bytes:
        """32 bytes for one purpose, and within it for one scope (a domain, a patient)."""
        info = "\x1f".join(("incognote/1", purpose, *scope)).encode("utf-8", "surrogatepass")
        return hmac.digest(self._extracted, info + b"\x01", "sha256")  # RFC 5869, 2.3: one block of the hash's length

    def mac(self, purpose: Purpose, message: str, *scope: str) -> bytes:
        """HMAC-SHA256 of a message under the derived key."""
        return hmac.digest(self.derive(purpose, *scope), message.encode("utf-8", "surrogatepass"), "sha256")

    def name(self, words: str) -> str:
        """What is told in place of a name that may be PHI (a file's, a record's id): 24 hexadecimal digits."""
        return self.mac("names", words).hex()[:24]

    @cached_property
    def _extracted(self) -> bytes:
        """RFC 5869, 2.2, without a salt. Kept, and not the keys of scopes: a scope may be a patient."""
        return hmac.digest(bytes(hashlib.sha256().digest_size), self.master, "sha256")

    @cached_property
    def id(self) -> str:
        """A public name of the key: 12 hexadecimal digits."""
        return self.derive("id").hex()[:12]

    @cached_property
    def check(self) -> str:
        """A public value only this key yields: 16 hexadecimal digits."""
        return self.derive("check").hex()[:16]

    def require(self, key_id: str, check: str) -> None:
        """Refuse, before the first record, to work on what another key made.

        Raises:
            WrongKey: id or check value differ.
        """
        if not (hmac.compare_digest(self.id, key_id) and hmac.compare_digest(self.check, check)):
            raise WrongKey(
                f"this was made under key {key_id}, the key at hand is {self.id}: configure the former, or a new place"
            )

    def seal(self, purpose: Purpose, plain: bytes, label: str = "") -> bytes:
        """AES-256-GCM, a random nonce in front; `label` is authenticated, not stored."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + AESGCM(self.derive(purpose)).encrypt(nonce, plain, label.encode())

    def open(self, purpose: Purpose, sealed: bytes, label: str = "") -> bytes:
        """The inverse of `seal`.

        Raises:
            WrongKey: another key, another label or damaged bytes.
        """
        try:
            return AESGCM(self.derive(purpose)).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], label.encode())
        except (InvalidTag, ValueError):
            raise WrongKey(
                "this cannot be opened with the key at hand: another key made it, or it is damaged"
            ) from None

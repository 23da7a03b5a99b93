"""A recording: every answer that another run would not give alike, so that an output can be rebuilt offline.

Model replies are stored under `Request.address`, encoder spans and index answers under their kind and question.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from incognote.errors import ContextTooLong, KeyMissing, ModelRejected, ModelUnavailable, SettingError
from incognote.keys import Keyring
from incognote.llm.base import LanguageModel, ModelWrapper, Reply, Request, Usage
from incognote.llm.sealedstore import PlainStore, SealedStore, written
from incognote.nouns import subject_form

_PROBLEM = "problem"
_ESCAPE = re.compile(r"\\+u([0-9a-fA-F]{4})")


class Recording:
    """An encrypted SQLite file of model and index answers, addressed by content. Processes can share it.

    A stolen file reveals the number of answers and their lengths, nothing else.

    Args:
        path: the file.
        keyring: a persistent one; not needed for a plain recording.
        plain: a JSONL file in clear instead, for synthetic material only.
        create: make the file when it is not there; a replay passes False.

    Raises:
        KeyMissing: no persistent key.
        WrongKey: another key made the file.
        SettingError: the file is absent and must not be made, or is no recording.
    """

    def __init__(
        self, path: str | Path, keyring: Keyring | None = None, *, plain: bool = False, create: bool = True
    ) -> None:
        self.plain = plain
        self._store: PlainStore | SealedStore
        place = Path(path).expanduser()
        if plain:
            self._store = PlainStore(place, create=create)
        elif keyring is None:
            raise KeyMissing("A recording is encrypted. Give a keyring, or plain=True for synthetic material.")
        else:
            self._store = SealedStore(place, keyring, create=create)

    @property
    def sealed(self) -> SealedStore:
        """The encrypted store, for those who keep more in it than answers.

        Raises:
            SettingError: this recording is plain.
        """
        if isinstance(self._store, PlainStore):
            raise SettingError("This needs an encrypted recording, not a plain one.")
        return self._store

    def get(self, address: str) -> bytes | None:
        """The value under an address, or None.

        Raises:
            WrongKey: the row was damaged or exchanged.
        """
        return self._store.get(address)

    def put(self, address: str, value: bytes, kind: str = "reply") -> bytes:
        """Keep a value. The first writer wins -> the stored value.

        Args:
            address: any string that decides the value.
            value: bytes; JSON in a plain recording.
            kind: shown in a plain recording, else unused.

        Raises:
            IncognoteError: the disk is full or not writable.
        """
        if isinstance(self._store, PlainStore):
            return self._store.put(address, value, kind)
        return self._store.put(address, value)

    def put_all(self, values: Iterable[tuple[str, bytes]]) -> None:
        """Keep many replies in one transaction; they are on the disk when this returns."""
        self._store.put_all(values)

    def purge(self, words: Iterable[str], *, only_count: bool = False) -> int:
        """Delete every answer that holds one of some words, compared by `subject_form` -> how many.

        Args:
            only_count: delete nothing.

        Raises:
            SettingError: this recording is plain.
        """
        sought = [subject_form(word) for word in words]

        def holds(value: bytes) -> bool:
            text = subject_form(_unescaped(value))
            return any(word in text for word in sought)

        return self.sealed.purge(holds, only_count=only_count)

    def keep(self, kind: str, asked: str, value: Any) -> Any:
        """Keep a JSON value under a kind (`encoder`, `index`) and the question -> the stored value."""
        return json.loads(self.put(_place(kind, asked), written(value), kind))

    def kept(self, kind: str, asked: str) -> Any:
        """The JSON value under a kind and what was asked, or None."""
        value = self.get(_place(kind, asked))
        return None if value is None else json.loads(value)

    def reply(self, address: str) -> Reply | None:
        """The reply under a request's address, as it was paid for, or None.

        Raises:
            SettingError: the value is no reply (a plain file written by hand).
        """
        value = self.get(address)
        return None if value is None else _reply_of(value)

    def keep_reply(self, address: str, reply: Reply) -> Reply:
        """Keep a reply under a request's address; -> the stored one."""
        return _reply_of(self.put(address, reply_bytes(reply)))

    def keep_problem(self, address: str, problem: ModelRejected) -> None:
        """Note that the endpoint refused a request, since the run went on from that; only a replay reads it."""
        self.keep(_PROBLEM, address, problem.code)

    def problem(self, address: str) -> ModelRejected | None:
        """The refusal that was noted, or None."""
        code = self.kept(_PROBLEM, address)
        if code is None:
            return None
        if code == ContextTooLong.code:
            return ContextTooLong("in the recorded run, this request was longer than the model can read")
        return ModelRejected("in the recorded run, the endpoint refused this request")

    def __len__(self) -> int:
        return len(self._store)

    def close(self) -> None:
        """Give the file back."""
        self._store.close()


def reply_bytes(reply: Reply) -> bytes:
    """A reply as a recording keeps it: JSON with text, finish, usage, seconds and model."""
    return written(asdict(reply))


def _reply_of(value: bytes) -> Reply:
    try:
        row = json.loads(value)
        return Reply(row["text"], row["finish"], Usage(**row["usage"]), row["seconds"], row["model"])
    except (ValueError, KeyError, TypeError):
        raise SettingError("The recording holds something that is not a reply. Correct it, or record again.") from None


def unpaid(reply: Reply) -> Reply:
    """The reply as a hit: its tokens stay (they say how large it was), calls, money and seconds are none."""
    return replace(reply, usage=replace(reply.usage, calls=0, usd=0.0), seconds=0.0)


class Recorded(ModelWrapper):
    """A model whose replies are kept; what the recording has is not asked again.

    A refusal by the endpoint (ModelRejected, ContextTooLong) is noted too, since the run went on from it; only a replay
    reads that note, a live run asks again.

    Args:
        model: the inner model.
        recording: shared; its owner closes it.
    """

    def __init__(self, model: LanguageModel, recording: Recording) -> None:
        super().__init__(model)
        self.hits = 0
        self._recording = recording

    async def complete(self, request: Request) -> Reply:
        """Answer from the recording, else from the model.

        Raises:
            ModelProblem: the model's.
        """
        address = request.address(self.name)
        known = self._recording.reply(address)
        if known is not None:
            self.hits += 1
            return unpaid(known)
        try:
            reply = await self._model.complete(request)
        except ModelRejected as problem:
            self._recording.keep_problem(address, problem)
            raise
        stored = self._recording.keep_reply(address, reply)  # another may have been first: a replay knows only that one
        return replace(stored, usage=reply.usage, seconds=reply.seconds)


class Replayed:
    """A model of which only the recording is left. No socket is ever opened.

    Args:
        name: the name under which the recording was made.
        recording: shared; its owner closes it.
    """

    def __init__(self, name: str, recording: Recording) -> None:
        self.name = name
        self.hits = 0
        self._recording = recording

    async def complete(self, request: Request) -> Reply:
        """Answer from the recording.

        Raises:
            ModelRejected, ContextTooLong: as the endpoint did then.
            ModelUnavailable: the recording lacks it.
        """
        address = request.address(self.name)
        known = self._recording.reply(address)
        if known is not None:
            self.hits += 1
            return unpaid(known)
        problem = self._recording.problem(address)
        if problem is not None:
            raise problem
        raise ModelUnavailable(
            "The recording has no reply to this request. The input, prompt, model, or settings differ from the "
            "recorded run, or its call failed. Run once more with the model and this recording to add it"
        )

    async def aclose(self) -> None:
        """Nothing is held."""


def _unescaped(value: bytes) -> str:
    """A value with the characters that JSON, or JSON within JSON, writes as escapes."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), value.decode("utf-8", "replace"))


def _place(kind: str, asked: str) -> str:
    return hashlib.sha256(json.dumps(["kept", kind, asked]).encode()).hexdigest()

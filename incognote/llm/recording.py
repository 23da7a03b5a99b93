"""A recording stores every answer that may differ in another run, so that an output can be rebuilt offline.

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

from incognote.errors import ContextTooLong, KeyMissing, ModelRejected, ModelUnavailable, PromptCut, SettingError
from incognote.keys import Keyring
from incognote.llm.base import LanguageModel, ModelWrapper, Reply, Request, Usage
from incognote.llm.sealedstore import PlainStore, SealedStore, written
from incognote.nouns import subject_form

_PROBLEM = "problem"
_ESCAPE = re.compile(r"\\+u([0-9a-fA-F]{4})")


class Recording:
    """An encrypted SQLite file of model replies and index answers, addressed by content. Processes can share it.

    A stolen file reveals the number of answers and their lengths, nothing else.

    Args:
        path: the file.
        keyring: a persistent one; not needed for a plain recording.
        plain: use an unencrypted JSONL file, for synthetic material only.
        create: create the file if it does not exist. A replay passes False.

    Raises:
        KeyMissing: no persistent key.
        WrongKey: the file was made with another key.
        SettingError: the file does not exist and must not be created, or is not a recording.
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
        """The encrypted store, for additional data beside the answers.

        Raises:
            SettingError: this recording is plain.
        """
        if isinstance(self._store, PlainStore):
            raise SettingError("This needs an encrypted recording, not a plain one.")
        return self._store

    def get(self, address: str) -> bytes | None:
        """Return the value under an address, or None.

        Raises:
            WrongKey: the row was damaged or exchanged.
        """
        return self._store.get(address)

    def put(self, address: str, value: bytes, kind: str = "reply") -> bytes:
        """Store a value. The first writer wins. Return the stored value.

        Args:
            address: any string that decides the value.
            value: bytes; JSON in a plain recording.
            kind: shown in a plain recording, otherwise unused.

        Raises:
            IncognoteError: the disk is full or not writable.
        """
        if isinstance(self._store, PlainStore):
            return self._store.put(address, value, kind)
        return self._store.put(address, value)

    def put_all(self, values: Iterable[tuple[str, bytes]]) -> None:
        """Store many replies in one transaction. They are on the disk when this returns."""
        self._store.put_all(values)

    def purge(self, words: Iterable[str], *, only_count: bool = False) -> int:
        """Delete every answer that contains one of some words, compared by `subject_form`. Return how many.

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
        """Store a JSON value under a kind (`encoder`, `index`) and the question. Return the stored value."""
        return json.loads(self.put(_place(kind, asked), written(value), kind))

    def kept(self, kind: str, asked: str) -> Any:
        """Return the JSON value under a kind and a question, or None."""
        value = self.get(_place(kind, asked))
        return None if value is None else json.loads(value)

    def reply(self, address: str) -> Reply | None:
        """Return the reply under a request's address with its original usage, or None.

        Raises:
            SettingError: the value is not a reply (a plain file written by hand).
        """
        value = self.get(address)
        return None if value is None else _reply_of(value)

    def keep_reply(self, address: str, reply: Reply) -> Reply:
        """Store a reply under a request's address. Return the stored one."""
        return _reply_of(self.put(address, reply_bytes(reply)))

    def keep_problem(self, address: str, problem: ModelRejected) -> None:
        """Record that the endpoint refused a request, since the run continued after that. Only a replay reads it."""
        self.keep(_PROBLEM, address, problem.code)

    def problem(self, address: str) -> ModelRejected | None:
        """Return the recorded refusal, or None."""
        code = self.kept(_PROBLEM, address)
        if code is None:
            return None
        if code == PromptCut.code:
            return PromptCut("in the recorded run, the server cut this request")
        if code == ContextTooLong.code:
            return ContextTooLong("in the recorded run, this request was longer than the model can read")
        return ModelRejected("in the recorded run, the endpoint refused this request")

    def __len__(self) -> int:
        return len(self._store)

    def close(self) -> None:
        """Close the file."""
        self._store.close()


def reply_bytes(reply: Reply) -> bytes:
    """Return a reply in the recording's form: JSON with text, finish, usage, seconds and model."""
    return written(asdict(reply))


def _reply_of(value: bytes) -> Reply:
    try:
        row = json.loads(value)
        return Reply(row["text"], row["finish"], Usage(**row["usage"]), row["seconds"], row["model"])
    except (ValueError, KeyError, TypeError):
        raise SettingError("The recording has an entry that is not a reply. Correct it, or record again.") from None


def unpaid(reply: Reply) -> Reply:
    """Return the reply as a hit. Its tokens stay, since they show its size. Calls, cost and seconds are zero."""
    return replace(reply, usage=replace(reply.usage, calls=0, usd=0.0), seconds=0.0)


class Recorded(ModelWrapper):
    """A model whose replies are recorded. A request with a recorded reply is not sent again.

    A refusal by the endpoint (ModelRejected, ContextTooLong) is also recorded, since the run continued after it. Only a
    replay reads it; a live run asks again.

    Args:
        model: the inner model.
        recording: shared; its owner closes it.
    """

    def __init__(self, model: LanguageModel, recording: Recording) -> None:
        super().__init__(model)
        self.hits = 0
        self._recording = recording

    async def complete(self, request: Request) -> Reply:
        """Answer from the recording, or else from the model.

        Raises:
            ModelProblem: the model's error.
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
        stored = self._recording.keep_reply(address, reply)  # the first writer wins: a replay knows only its reply
        return replace(stored, usage=reply.usage, seconds=reply.seconds)


class Replayed:
    """A model that answers from the recording only. No socket is ever opened.

    Args:
        name: the name under which the recording was made.
        recording: shared; its owner closes it.
    """

    replays = True
    """It makes no calls, so nothing has to stop them."""

    def __init__(self, name: str, recording: Recording) -> None:
        self.name = name
        self.hits = 0
        self._recording = recording

    async def complete(self, request: Request) -> Reply:
        """Answer from the recording.

        Raises:
            ModelRejected, ContextTooLong: the endpoint's error in the recorded run.
            ModelUnavailable: the recording has no answer.
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
        """Do nothing, since nothing is held."""


def _unescaped(value: bytes) -> str:
    """Return a value with the escapes of JSON, or of JSON within JSON, replaced by their characters."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), value.decode("utf-8", "replace"))


def _place(kind: str, asked: str) -> str:
    return hashlib.sha256(json.dumps(["kept", kind, asked]).encode()).hexdigest()

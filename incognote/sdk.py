"""`Deidentifier`: the sync and async face over the graph."""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from incognote.agents.item import TOGETHER, Item, ItemBatch, ItemInput, KnownInput, as_item
from incognote.agents.runtime import Runtime, awaited
from incognote.errors import ModelProblem, SettingError, UsageError
from incognote.nouns import Result, Span, Text
from incognote.settings import Settings

if TYPE_CHECKING:
    from incognote.agents.engine import Engine
    from incognote.agents.processes import Processes
    from incognote.detectors import Detector
    from incognote.llm.base import LanguageModel

__all__ = ["Deidentifier", "Item"]


class Deidentifier:
    """De-identifies texts and records; offline, no key and no configuration needed.

    A str is a plain note, a mapping is a record (its schema found by `dataType`, or FHIR `resourceType`, or named by
    `data_type=`), bytes are of the format that `media_type=` names, and come back as bytes (`Result.data`). Sync and
    async methods give the same answers; the sync ones work inside a running loop (Jupyter).

        >>> Deidentifier().deidentify("Seen by Dr. Emily Carter on 03/16/2025.").text
        'Seen by Dr. [PERSON] on [DATE].'

    Args:
        policy: a shipped policy's name or a policy file's path; default `strict`.
        config: a TOML settings file.
        model: a language model as `vendor/name` (several with commas vote together), or an object that serves the
            protocol of `incognote.llm.base`, such as `incognote.testing.ScriptedLLM`, or several.
        detectors: names (rules, encoder, llm, those of installed packages) and objects that serve the protocol of
            `incognote.detectors`; default rules and encoder, and llm where a model is named.
        settings: any field of `incognote.settings.Settings`.

    Raises:
        SettingError, UnknownName, PolicyProblem, SchemaProblem, KeyMissing: what is configured cannot work (on first
            use).
    """

    def __init__(
        self,
        policy: str | Path | None = None,
        *,
        config: str | Path | None = None,
        model: str | LanguageModel | Sequence[LanguageModel] | None = None,
        detectors: Sequence[str | Detector] | None = None,
        **settings: Any,
    ) -> None:
        if detectors is not None:
            detectors = (detectors,) if isinstance(detectors, str) else tuple(detectors)
            settings["detectors"] = tuple(detector for detector in detectors if isinstance(detector, str))
        self._detectors = tuple(detector for detector in detectors or () if not isinstance(detector, str))
        named = model if model is None or isinstance(model, str) else None
        words = {"policy": str(policy) if policy is not None else None, "model": named}
        self._settings = Settings.load(config, **words, **settings)
        objects = () if model is None or isinstance(model, str) else model
        self._models: tuple[LanguageModel, ...] = tuple(objects) if isinstance(objects, Sequence) else (objects,)
        self._making = threading.Lock()
        self._engine: Engine | None = None
        self._processes: Processes | None = None

    @property
    def engine(self) -> Engine:
        """Policy, registry, detectors and key; made once, on first use, by whichever thread comes first."""
        with self._making:
            if self._engine is None:
                self._engine = self._make()
            return self._engine

    def _make(self) -> Engine:
        from incognote.agents.engine import Engine

        processes = self._settings.processes
        if self._detectors and processes:
            raise SettingError("processes: a detector that is an object lives in this process; name one instead")
        engine = Engine(self._settings, self._models, detectors=self._detectors)
        if processes:
            from incognote.agents.processes import Processes

            self._processes = Processes(engine, processes)
        if not engine.keyring.persistent and engine.policy.keyed:
            warnings.warn(
                "no key is configured: hashes and date shifts of this process cannot be repeated; "
                "set key_file (INCOGNOTE_KEY_FILE)",
                stacklevel=3,
            )
        return engine

    @property
    def hits(self) -> int:
        """Answers of models and of the index that came from the recording, in all processes."""
        return self.engine.hits + (self._processes.hits if self._processes is not None else 0)

    def ready(self) -> None:
        """Make what a first record would need, in the caller's thread: its error, its warning."""
        if self.engine.policy.surrogates:
            _ = self.engine.relexing

    def deidentify(
        self,
        text: ItemInput,
        *,
        id: str | None = None,
        patient: str | None = None,
        domain: str | None = None,
        data_type: str | None = None,
        known: KnownInput = None,
        media_type: str | None = None,
    ) -> Result:
        """De-identify one text or record.

        Args:
            text: a plain note (str), a record (mapping), bytes of any format, or an Item; a str with `data_type=` is a
                record's raw JSON, spliced so that everything outside the edits keeps its bytes.
            id: the caller's name for it, handed back in the Result.
            patient: the subject; date shifts are keyed by it.
            domain: who shares hashes and date shifts; default the setting.
            data_type: the schema of a record that carries no `dataType`.
            known: identifiers known beforehand, e.g. {"name": "Jane Doe", "mrn": "778-21"}; one left in the output
                means quarantine, a name of fewer than six letters inside a longer word `review`.
            media_type: of bytes, such as `application/json`; without one they are a record or a text, as they say.

        Returns:
            A Result whose `.text`/`.record` raise NotReleased unless the verdict is `release`. A record that cannot be
            processed is a Result with verdict `quarantine`, never an exception.
        """
        words = {"id": id, "patient": patient, "domain": domain, "data_type": data_type, "media_type": media_type}
        item = as_item(text, known=known, **words)
        return Runtime.shared().run(self._one(item))

    async def adeidentify(
        self,
        text: ItemInput,
        *,
        id: str | None = None,
        patient: str | None = None,
        domain: str | None = None,
        data_type: str | None = None,
        known: KnownInput = None,
        media_type: str | None = None,
    ) -> Result:
        """As `deidentify`, awaited from any loop."""
        words = {"id": id, "patient": patient, "domain": domain, "data_type": data_type, "media_type": media_type}
        item = as_item(text, known=known, **words)
        return await Runtime.shared().join(self._one(item))

    def batch(self, items: Iterable[ItemInput]) -> Iterator[Result]:
        """Results in the order of the items; a window of `width` of them is in work or in memory.

        Under a policy with surrogates, up to 1,000 records or 8 million characters go through the loop of
        relexicalization together, the rest when the items end: within such a batch the order decides nothing, as with
        `incognote relex`. With `processes` each record goes through it by itself.

        Raises:
            UsageError: of `as_item`, or whatever reading the items raises: after the results of those before.
        """
        runtime = Runtime.shared()
        waiting: deque[Future[list[Result]]] = deque()
        faults: list[Exception] = []
        size, most = self._window
        try:
            for window in _windows(items, size, faults):
                waiting.append(runtime.start(self._serve(window)))
                if len(waiting) >= most:
                    yield from awaited(waiting[0])
                    waiting.popleft()
            while waiting:
                yield from awaited(waiting[0])
                waiting.popleft()
        finally:  # the caller went away, or was interrupted
            for future in waiting:
                future.cancel()
        for fault in faults:
            raise fault

    async def abatch(self, items: Iterable[ItemInput] | AsyncIterable[ItemInput]) -> AsyncIterator[Result]:
        """As `batch`, over a plain or an async iterable."""
        runtime = Runtime.shared()
        waiting: deque[asyncio.Future[list[Result]]] = deque()
        faults: list[Exception] = []
        size, most = self._window
        try:
            async for window in _awindows(items, size, faults):
                waiting.append(asyncio.wrap_future(runtime.start(self._serve(window))))
                if len(waiting) >= most:
                    for result in await waiting[0]:
                        yield result
                    waiting.popleft()
            while waiting:
                for result in await waiting[0]:
                    yield result
                waiting.popleft()
        finally:
            for future in waiting:
                future.cancel()
        for fault in faults:
            raise fault

    @property
    def _window(self) -> tuple[int, int]:
        """How many records are served together, and how many such windows are in work at once."""
        if not self.engine.policy.surrogates or self._processes is not None:
            return 1, self.width
        return TOGETHER, 1

    def _serve(self, items: Sequence[Item]) -> Coroutine[Any, Any, list[Result]]:
        """The results of one window."""
        self.ready()
        if self._window[0] > 1:
            from incognote.agents.batches import relexicalize_batch

            return relexicalize_batch(items, self.engine)

        async def alone() -> list[Result]:
            return [await self._one(item) for item in items]

        return alone()

    @property
    def width(self) -> int:
        """Records in work at once: the setting, or enough to keep every process and every slot of a model busy."""
        settings, reader = self._settings, self.engine.reader
        return max(settings.concurrency, 4 * settings.processes, 2 * reader.slots if reader is not None else 0)

    def detect(self, texts: Sequence[str], *, types: str | None = None) -> list[list[Span]]:
        """What the policy would replace in each text: disjoint spans in order, without replacing anything.

        Args:
            types: "all" for every type of the catalogue, whatever the policy serves.

        Raises:
            ModelProblem: a language model did not read all of a text; `detect_each` keeps the others.
        """
        by_text: list[list[Span]] = []
        for spans in self.detect_each(texts, types=types):
            if isinstance(spans, ModelProblem):
                raise spans
            by_text.append(spans)
        return by_text

    def detect_each(self, texts: Sequence[str], *, types: str | None = None) -> list[list[Span] | ModelProblem]:
        """As `detect`, with the problem in the place of a text that a language model did not read whole."""
        from incognote.schemas.policy import everything

        if types not in (None, "all"):
            raise UsageError('types is None (what the policy replaces) or "all"')
        engine, sources = self.engine, [Text(t) for t in texts]
        if engine.reader is None and self._processes is None:
            policy = everything(engine.policy) if types else engine.policy
            settled = engine.detection.find(sources, policy)
            return [[s for s in each.spans if policy.replaces(s.type)] for each in settled]
        return Runtime.shared().run(self._read(sources, everything=bool(types)))

    def deidentify_frame(
        self, df: Any, *, text: str, patient: str | None = None, known: Sequence[str] = (), keep: Sequence[str] = ()
    ) -> Any:
        """A pandas frame with the column `text` de-identified and columns `verdict` and `reasons` added.

        Index and row count stay. The text of a row that is not released is None; a missing text (None, NaN, NA) stays
        as it is and counts as empty; one that is no str is quarantined. The columns of `patient` and `known` come back
        as keyed hashes, equal for equal values of one domain and key, so that rows still link; missing values and
        blanks stay. All other columns and the index are handed back as they came: drop what identifies anybody.

        Args:
            df: a pandas.DataFrame; it is not changed.
            text: the column of notes.
            patient: the column of subjects.
            known: columns whose values are sought in the row's text as known identifiers.
            keep: columns among `patient` and `known` that come back with their own values.

        Raises:
            UsageError: a column that is absent, named for two things, or called as one that is added.
        """
        from incognote.agents.frames import deidentify_frame

        return deidentify_frame(self.batch, self.engine, df, text=text, patient=patient, known=known, keep=keep)

    def _one(self, item: Item) -> Coroutine[Any, Any, Result]:
        from incognote.agents.graph import run

        self.ready()
        return run(item, self.engine) if self._processes is None else self._processes.run(item)

    async def _read(self, texts: Sequence[Text], *, everything: bool) -> list[list[Span] | ModelProblem]:
        """What the machine finds in texts, `width` of them at once."""
        from incognote.agents.graph import find

        gate, engine, processes = asyncio.Semaphore(self.width), self.engine, self._processes

        async def read(text: Text) -> list[Span] | ModelProblem:
            async with gate:
                spans = await (
                    find(text, engine, everything=everything)
                    if processes is None
                    else processes.find(text, everything=everything)
                )
            return spans if isinstance(spans, ModelProblem) else list(spans)

        return await asyncio.gather(*map(read, texts))

    def close(self) -> None:
        """Give back connections to models, the recording and processes; also at the end of a `with`."""
        if self._processes is not None:
            Runtime.shared().run(self._processes.aclose())
        if self._engine is not None:
            Runtime.shared().run(self._engine.aclose())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _windows(items: Iterable[ItemInput], size: int, faults: list[Exception]) -> Iterator[list[Item]]:
    """The items in batches of `size`; an error of the caller's, in reading one, ends them and goes into `faults`."""
    batch = ItemBatch(size)
    try:
        for each in items:
            if batch.add(as_item(each)):
                yield batch.take()
    except Exception as raised:
        faults.append(raised)
    if batch.items:
        yield batch.take()


async def _awindows(
    items: Iterable[ItemInput] | AsyncIterable[ItemInput], size: int, faults: list[Exception]
) -> AsyncIterator[list[Item]]:
    """As `_windows`, over a plain or an async iterable."""
    if not isinstance(items, AsyncIterable):
        for window in _windows(items, size, faults):
            yield window
        return
    batch = ItemBatch(size)
    try:
        async for each in items:
            if batch.add(as_item(each)):
                yield batch.take()
    except Exception as raised:
        faults.append(raised)
    if batch.items:
        yield batch.take()

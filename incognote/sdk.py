"""`Deidentifier`: the synchronous and asynchronous API."""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Coroutine, Iterable, Iterator, Sequence, Sized
from concurrent.futures import Future
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, Unpack

from incognote.agents.item import TOGETHER, Item, ItemBatch, ItemInput, KnownInput, as_item
from incognote.agents.runtime import Runtime, awaited
from incognote.agents.sharing import Line, abatches, batches, units
from incognote.display import ProgressBar
from incognote.errors import ModelProblem, SettingError, UsageError
from incognote.nouns import Result, Span, Text
from incognote.settings import SettingKeywords, Settings

if TYPE_CHECKING:
    from incognote.agents.engine import Engine
    from incognote.agents.processes import Processes
    from incognote.detectors import Detector
    from incognote.llm.base import LanguageModel

__all__ = ["Deidentifier", "Item"]

FrameT = TypeVar("FrameT")
"""A table of a kind that `deidentify_frame` takes."""


class Deidentifier:
    """De-identifies texts and records. It works offline, without a key or configuration.

    A str is a plain note. A mapping is a record, and `dataType`, FHIR `resourceType`, or `data_type=` gives its schema.
    Bytes have the format given by `media_type=`, and the result is also bytes (`Result.data`). A Path is a file with
    one document, whose name or content gives its format. Synchronous and asynchronous methods return the same results.
    The synchronous ones also work inside a running event loop (Jupyter).

        >>> Deidentifier().deidentify("Seen by Dr. Emily Carter on 03/16/2025.").text
        'Seen by Dr. [PERSON] on [DATE].'

    Args:
        policy: Name of a shipped policy, or the path of a policy file. Default: `strict`.
        config: Path of a TOML settings file.
        model: A language model as `vendor/name`. Several models, separated by commas, vote together. Also one or more
            objects that implement the protocol of `incognote.llm.base`, such as `incognote.testing.ScriptedLLM`.
        detectors: Names (rules, encoder, llm, and those of installed packages) and objects that implement the protocol
            of `incognote.detectors`. Default: rules and encoder, and llm if you name a model.
        settings: Any field of `incognote.settings.Settings`.

    Raises:
        UsageError, KeyProblem, PolicyProblem, SchemaProblem: The configuration is not valid. Some of these errors are
            raised on first use.
    """

    __signature__: ClassVar[Signature]

    def __init__(
        self,
        policy: str | Path | None = None,
        *,
        config: str | Path | None = None,
        model: str | LanguageModel | Sequence[LanguageModel] | None = None,
        detectors: Sequence[str | Detector] | None = None,
        **settings: Unpack[SettingKeywords],
    ) -> None:
        words: dict[str, Any] = {**settings, "policy": None if policy is None else str(policy)}
        if detectors is not None:
            detectors = (detectors,) if isinstance(detectors, str) else tuple(detectors)
            words["detectors"] = tuple(detector for detector in detectors if isinstance(detector, str))
        self._detectors = tuple(detector for detector in detectors or () if not isinstance(detector, str))
        words["model"] = model if isinstance(model, str) else None
        self._settings = Settings.load(config, **words)
        objects = () if model is None or isinstance(model, str) else model
        self._models: tuple[LanguageModel, ...] = tuple(objects) if isinstance(objects, Sequence) else (objects,)
        self._making = threading.Lock()
        self._engine: Engine | None = None
        self._processes: Processes | None = None

    @property
    def engine(self) -> Engine:
        """The policy, registry, detectors, and key. They are loaded once, on first use. Thread-safe."""
        with self._making:
            if self._engine is None:
                self._engine = self._make()
            return self._engine

    def _make(self) -> Engine:
        from incognote.agents.engine import Engine

        processes = self._settings.processes
        if self._detectors and processes:
            raise SettingError("processes: a detector object cannot be sent to other processes; pass its name")
        engine = Engine(self._settings, self._models, detectors=self._detectors)
        if processes:
            from incognote.agents.processes import Processes

            self._processes = Processes(engine, processes)
        if not engine.keyring.persistent and engine.policy.keyed:
            warnings.warn(
                "No key is configured, so another process cannot repeat the hashes and date shifts. Set key_file "
                "(INCOGNOTE_KEY_FILE).",
                stacklevel=3,
            )
        return engine

    @property
    def hits(self) -> int:
        """Number of model replies and index answers that came from the recording, in all processes."""
        return self.engine.hits + (self._processes.hits if self._processes is not None else 0)

    def ready(self) -> None:
        """Load everything that the first record needs, so that errors and warnings appear immediately."""
        if self.engine.policy.surrogates:
            _ = self.engine.relexing
        _ = self.engine.vault

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
            text: A plain note (str), a record (mapping), bytes of any format, a file (Path), or an Item. A str with
                `data_type=` is the raw JSON of a record. All bytes outside the edits are kept.
            id: Your ID for the record. The Result contains it.
            patient: The subject of the record. Date shifts depend on it.
            domain: Records in one domain share hashes and date shifts. Default: the setting.
            data_type: The schema of a record that has no `dataType`.
            known: Identifiers that you know in advance, such as {"name": "Jane Doe", "mrn": "778-21"}. If one is left
                in the output, the verdict is `quarantine`. For a name of fewer than six letters inside a longer word,
                it is `review`.
            media_type: The media type of bytes or of a file, such as `application/json`. Default: detected from the
                name of a file, or from the content.

        Returns:
            A Result. Its `.text` and `.record` raise NotReleased unless the verdict is `release`. A record that cannot
                be processed returns a Result with the verdict `quarantine` and does not raise an exception.
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
        """Like `deidentify`, for any event loop."""
        words = {"id": id, "patient": patient, "domain": domain, "data_type": data_type, "media_type": media_type}
        item = as_item(text, known=known, **words)
        return await Runtime.shared().join(self._one(item))

    def batch(self, items: Iterable[ItemInput], *, progress: bool | None = None) -> Iterator[Result]:
        """De-identify many texts or records. At most `width` of them are in memory at once.

        Under a policy with surrogates, about 1,000 records or 8 million characters are relexicalized together, as
        with `incognote relex`. Their order does not change the result. With `processes`, each record is relexicalized
        on its own. With a language model, short texts of records of one patient share requests.

        Args:
            items: notes, records, bytes, or Items. An iterator is read as you consume results.
            progress: True for a progress bar, False for none. By default, a bar appears on a terminal or in a notebook
                for 100 or more records.

        Yields:
            One Result for each item, in the order of the items.

        Raises:
            UsageError: an item is not a str, bytes, mapping, or Item. The results of earlier items come first. The same
                is true for errors that your iterator raises.
        """
        bar = ProgressBar(len(items) if isinstance(items, Sized) else None, progress)
        line, gathering = self._line()
        faults: list[Exception] = []
        try:
            for batch in batches(bar.read(items), gathering, faults):
                line.add(self._units(batch))
                while line.full:
                    yield from bar.done([line.take(awaited(line.first))])
            while len(line):
                yield from bar.done([line.take(awaited(line.first))])
        finally:  # also after an interrupt, and when the caller takes no more results
            bar.close()
            line.cancel()
        for fault in faults:
            raise fault

    async def abatch(self, items: Iterable[ItemInput] | AsyncIterable[ItemInput]) -> AsyncIterator[Result]:
        """Like `batch`, for a synchronous or an asynchronous iterable."""
        line, gathering = self._line()
        faults: list[Exception] = []
        try:
            async for batch in abatches(items, gathering, faults):
                line.add(await asyncio.to_thread(self._units, batch) if self.engine.shares else self._units(batch))
                while line.full:
                    yield line.take(await asyncio.wrap_future(line.first))
            while len(line):
                yield line.take(await asyncio.wrap_future(line.first))
        finally:
            line.cancel()
        for fault in faults:
            raise fault

    async def adeidentify_each(self, items: Sequence[Item]) -> list[Awaitable[Result]]:
        """Start to de-identify records. Return an awaitable of each Result.

        Short texts of records of one patient share requests, as in `batch`. Under a policy with surrogates, each record
        is relexicalized on its own.
        """
        results: dict[int, Awaitable[Result]] = {}

        async def one(of: Future[list[Result]], index: int) -> Result:
            return (await asyncio.wrap_future(of))[index]

        for unit in await asyncio.to_thread(units, items, self.engine):
            future = Runtime.shared().start(self._unit([item for _, item in unit]))
            results.update({at: asyncio.create_task(one(future, index)) for index, (at, _) in enumerate(unit)})
        return [results[at] for at in range(len(items))]

    @property
    def _together(self) -> bool:
        """Whether batches of records are relexicalized together."""
        return bool(self.engine.policy.surrogates) and self._processes is None

    def _line(self) -> tuple[Line, ItemBatch]:
        """The queue for a batch of items, and what gathers the items for it."""
        self.ready()
        runtime, together = Runtime.shared(), self._together
        gathering = ItemBatch(TOGETHER if together else 1, windows=self.engine.shares)
        if not together:
            return Line(lambda items: runtime.start(self._unit(items)), self.width), gathering
        from incognote.agents.batches import relexicalize_batch

        return Line(lambda items: runtime.start(relexicalize_batch(items, self.engine)), 1), gathering

    def _units(self, batch: Sequence[Item]) -> Sequence[Sequence[tuple[int, Item]]]:
        return [list(enumerate(batch))] if self._together else units(batch, self.engine)

    def _unit(self, items: Sequence[Item]) -> Coroutine[Any, Any, list[Result]]:
        """The results of records of one patient."""
        from incognote.agents.graph import run_unit

        return run_unit(items, self.engine) if self._processes is None else self._processes.run(items)

    @property
    def width(self) -> int:
        """Number of records processed at once: the setting, or enough to keep all processes and model slots busy."""
        settings, reader = self._settings, self.engine.reader
        return max(settings.concurrency, 4 * settings.processes, 2 * reader.slots if reader is not None else 0)

    def detect(self, texts: Sequence[str], *, types: str | None = None) -> list[list[Span]]:
        """Find the spans that the policy would replace in each text. The spans are disjoint and in order.

        Args:
            texts: Plain notes.
            types: "all" for every type in the catalog, including types that the policy keeps.

        Raises:
            ModelProblem: A language model did not read a text completely. Use `detect_each` to keep the other results.
        """
        by_text: list[list[Span]] = []
        for spans in self.detect_each(texts, types=types):
            if isinstance(spans, ModelProblem):
                raise spans
            by_text.append(spans)
        return by_text

    def detect_each(self, texts: Sequence[str], *, types: str | None = None) -> list[list[Span] | ModelProblem]:
        """Like `detect`, but returns the ModelProblem for a text that a language model did not read completely."""
        from incognote.schemas.policy import everything

        if types not in (None, "all"):
            raise UsageError('types must be None (the types that the policy replaces) or "all"')
        engine, sources = self.engine, [Text(t) for t in texts]
        if engine.reader is None and self._processes is None:
            policy = everything(engine.policy) if types else engine.policy
            settled = engine.detection.find(sources, policy)
            return [[s for s in each.spans if policy.replaces(s.type)] for each in settled]
        return Runtime.shared().run(self._read(sources, everything=bool(types)))

    def deidentify_frame(
        self,
        df: FrameT,
        *,
        text: Any,
        patient: Any = None,
        known: Sequence[Any] = (),
        keep: Sequence[Any] = (),
        progress: bool | None = None,
    ) -> FrameT:
        """De-identify a column of notes in a pandas, polars, or Hugging Face table.

        The result is a table of the same kind with the same rows. The column `text` is de-identified, and the columns
        `verdict` and `reasons` are added. The text of a row that was not released is missing (None). A missing text
        stays missing, and its verdict is `release`. A text that is not a str is quarantined.

        The columns `patient` and `known` are returned as keyed hashes, so that you can still link rows. In one domain
        and with one key, equal values have equal hashes. Missing and blank values are left unchanged. Other columns and
        the index do not change. Remove the ones that identify a person.

        Nothing is written to disk. A LazyFrame or IterableDataset stays lazy, and its notes are de-identified in parts.
        The other kinds are held in memory.

        Args:
            df: a pandas DataFrame, a polars DataFrame or LazyFrame, or a Hugging Face Dataset, DatasetDict or
                IterableDataset. It is not changed.
            text: the name of the column of notes.
            patient: the column that identifies each row's patient. Date shifts and surrogates are keyed by it.
            known: columns with identifiers, such as a name or an MRN. They are searched for in the row's text.
            keep: columns among `patient` and `known` that are not hashed.
            progress: as in `batch`. A lazy table does not show a bar.

        Raises:
            UsageError: a column is missing, has two roles, or has the name of a column that is added; or `df` is not
                one of these tables.
        """
        from incognote.agents.frames import FrameColumns, deidentify_frame

        columns = FrameColumns(self.batch, self.engine, text=text, patient=patient, known=known, keep=keep)
        frame: FrameT = deidentify_frame(df, columns, progress=progress)
        return frame

    def _one(self, item: Item) -> Coroutine[Any, Any, Result]:
        self.ready()
        unit = self._unit([item])

        async def alone() -> Result:
            return (await unit)[0]

        return alone()

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
        """Close model connections, the recording, and the processes. A `with` block calls this when it ends."""
        if self._processes is not None:
            Runtime.shared().run(self._processes.aclose())
        if self._engine is not None:
            Runtime.shared().run(self._engine.aclose())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _with_settings() -> Signature:
    """The parameters of `Deidentifier` with each setting by its name: for `help` and for completion in a notebook."""
    own = signature(Deidentifier.__init__).parameters.values()
    kinds = ((name, getattr(kind, "__forward_arg__", kind)) for name, kind in SettingKeywords.__annotations__.items())
    settings = (Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind) for name, kind in kinds)
    return Signature([*(each for each in own if each.name not in ("self", "settings")), *settings])


Deidentifier.__signature__ = _with_settings()

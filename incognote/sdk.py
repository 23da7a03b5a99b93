"""`Deidentifier`: the sync and async face over the graph."""

from __future__ import annotations

import asyncio
import json
import threading
import warnings
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from incognote.agents.item import Item
from incognote.agents.runtime import Runtime, awaited
from incognote.errors import ModelProblem, SettingError, UsageError
from incognote.nouns import Known, Result, Span, Text
from incognote.settings import Settings

if TYPE_CHECKING:
    from incognote.agents.engine import Engine
    from incognote.agents.processes import Processes
    from incognote.detectors.base import Detector
    from incognote.llm.base import LanguageModel

__all__ = ["Deidentifier", "Item"]

Given = str | Mapping[str, Any] | Item
_NO_JSON = "the record holds something JSON cannot: strings, finite numbers, booleans, None, lists and dicts only"
KnownGiven = Mapping[str, Any] | Sequence[Any] | str | None


class Deidentifier:
    """De-identifies texts and records; offline, no key and no configuration needed.

    A str is a plain note, a mapping is a record (its schema found by `dataType`, or FHIR `resourceType`, or named by
    `data_type=`). Sync and async methods give the same answers; the sync ones work inside a running loop (Jupyter).

        >>> Deidentifier().deidentify("Seen by Dr. Emily Carter on 03/16/2025.").text
        'Seen by Dr. [PERSON] on [DATE].'

    Args:
        policy: a shipped policy's name or a policy file's path; default `strict`.
        config: a TOML settings file.
        model: a language model as `vendor/name` (several with commas vote together), or an object that serves the
            protocol of `incognote.llm.base`, such as `incognote.testing.ScriptedLLM`, or several.
        detectors: names (rules, encoder, llm, those of installed packages) and objects that serve the protocol of
            `incognote.detectors.base`; default rules and encoder, and llm where a model is named.
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
            settings["detectors"] = tuple(one for one in detectors if isinstance(one, str))
        self._detectors = tuple(one for one in detectors or () if not isinstance(one, str))
        named = model if model is None or isinstance(model, str) else None
        words = {"policy": str(policy) if policy is not None else None, "model": named}
        self._settings = Settings.load(config, **words, **settings)
        objects = () if model is None or isinstance(model, str) else model
        self._models: tuple[LanguageModel, ...] = tuple(objects) if isinstance(objects, Sequence) else (objects,)
        self._making = threading.Lock()
        self._tools: Engine | None = None
        self._processes: Processes | None = None

    @property
    def tools(self) -> Engine:
        """Policy, registry, detectors and key; made once, on first use, by whichever thread comes first."""
        with self._making:
            if self._tools is None:
                self._tools = self._make()
            return self._tools

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
        return self.tools.hits + (self._processes.hits if self._processes is not None else 0)

    def ready(self) -> None:
        """Make what a first record would need, in the caller's thread: its error, its warning."""
        if self.tools.policy.surrogates:
            _ = self.tools.relexing

    def deidentify(
        self,
        text: Given,
        *,
        id: str | None = None,
        patient: str | None = None,
        domain: str | None = None,
        data_type: str | None = None,
        known: KnownGiven = None,
    ) -> Result:
        """De-identify one text or record.

        Args:
            text: a plain note (str), a record (mapping), or an Item; a str with `data_type=` is a record's raw JSON,
                spliced so that everything outside the edits keeps its bytes.
            id: the caller's name for it, handed back in the Result.
            patient: the subject; date shifts are keyed by it.
            domain: who shares hashes and date shifts; default the setting.
            data_type: the schema of a record that carries no `dataType`.
            known: identifiers known beforehand, e.g. {"name": "Jane Doe", "mrn": "778-21"}; one left in the output
                means quarantine, a name of fewer than six letters inside a longer word `review`.

        Returns:
            A Result whose `.text`/`.record` raise NotReleased unless the verdict is `release`. A record that cannot be
            processed is a Result with verdict `quarantine`, never an exception.
        """
        item = item_of(text, id=id, patient=patient, domain=domain, data_type=data_type, known=known)
        return Runtime.shared().run(self._one(item))

    async def adeidentify(
        self,
        text: Given,
        *,
        id: str | None = None,
        patient: str | None = None,
        domain: str | None = None,
        data_type: str | None = None,
        known: KnownGiven = None,
    ) -> Result:
        """As `deidentify`, awaited from any loop."""
        item = item_of(text, id=id, patient=patient, domain=domain, data_type=data_type, known=known)
        return await Runtime.shared().join(self._one(item))

    def batch(self, items: Iterable[Given]) -> Iterator[Result]:
        """Results in the order of the items; a window of `width` of them is in work or in memory."""
        runtime = Runtime.shared()
        waiting: deque[Future[Result]] = deque()
        source = iter(items)
        fault: Exception | None = None
        try:
            while fault is None:
                try:
                    item = item_of(next(source))
                except StopIteration:
                    break
                except Exception as raised:  # the caller's: what was read before is served first, then it goes its way
                    fault = raised
                    break
                waiting.append(runtime.start(self._one(item)))
                if len(waiting) >= self.width:
                    yield awaited(waiting[0])
                    waiting.popleft()
            while waiting:
                yield awaited(waiting[0])
                waiting.popleft()
        finally:  # the caller went away, or was interrupted
            for future in waiting:
                future.cancel()
        if fault is not None:
            raise fault

    async def abatch(self, items: Iterable[Given] | AsyncIterable[Given]) -> AsyncIterator[Result]:
        """As `batch`, over a plain or an async iterable."""
        runtime = Runtime.shared()
        waiting: deque[asyncio.Future[Result]] = deque()
        source = aiter(_each(items))
        fault: Exception | None = None
        try:
            while fault is None:
                try:
                    item = item_of(await anext(source))
                except StopAsyncIteration:
                    break
                except Exception as raised:  # as in `batch`
                    fault = raised
                    break
                waiting.append(asyncio.wrap_future(runtime.start(self._one(item))))
                if len(waiting) >= self.width:
                    yield await waiting[0]
                    waiting.popleft()
            while waiting:
                yield await waiting[0]
                waiting.popleft()
        finally:
            for future in waiting:
                future.cancel()
        if fault is not None:
            raise fault

    @property
    def width(self) -> int:
        """Records in work at once: the setting, or enough to keep every process and every slot of a model busy."""
        settings, reader = self._settings, self.tools.reader
        return max(settings.concurrency, 4 * settings.processes, 2 * reader.slots if reader is not None else 0)

    def detect(self, texts: Sequence[str], *, types: str | None = None) -> list[list[Span]]:
        """What the policy would replace in each text: disjoint spans in order, without replacing anything.

        Args:
            types: "all" for every type of the catalogue, whatever the policy serves.

        Raises:
            ModelProblem: a language model did not read all of a text; `detect_each` keeps the others.
        """
        found: list[list[Span]] = []
        for spans in self.detect_each(texts, types=types):
            if isinstance(spans, ModelProblem):
                raise spans
            found.append(spans)
        return found

    def detect_each(self, texts: Sequence[str], *, types: str | None = None) -> list[list[Span] | ModelProblem]:
        """As `detect`, with the problem in the place of a text that a language model did not read whole."""
        from incognote.schemas.policy import everything

        if types not in (None, "all"):
            raise UsageError('types is None (what the policy replaces) or "all"')
        tools, sources = self.tools, [Text(t) for t in texts]
        if tools.reader is None and self._processes is None:
            policy = everything(tools.policy) if types else tools.policy
            settled = tools.detection.find(sources, policy)
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
        import pandas as pd

        from incognote.operators.hash import pseudonym

        known = [known] if isinstance(known, str) else list(known)
        keep = [keep] if isinstance(keep, str) else list(keep)
        hashed = dict.fromkeys([*([patient] if patient is not None else []), *known])
        for column in (text, *hashed, *keep):
            if column not in df.columns:
                raise UsageError(f"the frame has no column {column!r}")
        if text in hashed:
            raise UsageError(f"the column {text!r} is named for two things: it is the text")
        taken = [c for c in ("verdict", "reasons") if c in df.columns]
        if taken:
            raise UsageError(f"the frame has a column {taken[0]!r} already: rename it")

        def missing(value: Any) -> bool:
            return bool(pd.api.types.is_scalar(value) and pd.isna(value))

        cells = {column: df[column].tolist() for column in (text, *hashed)}

        def item(i: int) -> Item:
            words = {str(name): _plain(cells[name][i]) for name in known if not missing(cells[name][i])}
            subject = None if patient is None or missing(cells[patient][i]) else _subject(cells[patient][i])
            if not isinstance(cells[text][i], str):
                return Item("", fault=f"the column {text!r} holds something that is no text")
            return Item(cells[text][i], patient=subject, known=_known(words))

        results = self.batch(item(i) for i, note in enumerate(cells[text]) if not missing(note))
        each = [None if missing(note) else next(results) for note in cells[text]]
        made = df.copy()
        texts = [
            note if r is None else r.text if r.verdict.released else None
            for note, r in zip(cells[text], each, strict=True)
        ]
        made[text] = pd.Series(texts, index=df.index, dtype=object)
        for column in hashed.keys() - keep:
            codes = [
                cell if missing(cell) or (said := _subject(cell)) is None
                else pseudonym(said, self.tools.keyring, self.tools.domain)
                for cell in cells[column]
            ]
            made[column] = pd.Series(codes, index=df.index, dtype=object)
        made["verdict"] = [r.verdict.outcome if r else "release" for r in each]
        made["reasons"] = ["; ".join(str(x) for x in r.verdict.reasons) if r else "" for r in each]
        return made

    def _one(self, item: Item) -> Coroutine[Any, Any, Result]:
        from incognote.agents.graph import run

        self.ready()
        return run(item, self.tools) if self._processes is None else self._processes.run(item)

    async def _read(self, texts: Sequence[Text], *, everything: bool) -> list[list[Span] | ModelProblem]:
        """What the machine finds in texts, `width` of them at once."""
        from incognote.agents.graph import find

        gate, engine, processes = asyncio.Semaphore(self.width), self.tools, self._processes

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
        if self._tools is not None:
            Runtime.shared().run(self._tools.aclose())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_WORDS = ("id", "patient", "domain", "data_type")


def item_of(given: Given, *, known: KnownGiven = None, **words: Any) -> Item:
    """An Item from what a caller hands over.

    Raises:
        UsageError: neither str, mapping nor Item; an Item together with other words; or a word, of an Item too, that is
            no str.
    """
    words = {name: _written(name, value) for name, value in words.items()}
    if isinstance(given, Item):
        if known is not None or any(v is not None for v in words.values()):
            raise UsageError("an Item carries its own id, patient, domain, data_type and known")
        own: dict[str, Any] = {name: _written(name, getattr(given, name)) for name in _WORDS}
        told: Any = given.known
        sound = isinstance(told, tuple) and all(isinstance(one, Known) for one in told)
        return replace(given, known=told if sound else _known(told), **own)
    if isinstance(given, str):
        return Item(given, known=_known(known), is_record=words.get("data_type") is not None, **words)
    if isinstance(given, Mapping):
        try:
            raw = json.dumps(given, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            return Item("", known=_known(known), is_record=True, fault=_NO_JSON, **words)
        return Item(raw, known=_known(known), is_record=True, **words)
    raise UsageError(f"a note is a str, a record a mapping; not {type(given).__name__}")


def _written(name: str, value: Any) -> str | None:
    """One of an item's words; a whole number that names a subject or a record is its digits."""
    if value is None or isinstance(value, str):
        return value
    if name in ("id", "patient") and isinstance(value, Integral) and not isinstance(value, bool):
        return str(int(value))
    raise UsageError(f"{name}= takes a str; not {type(value).__name__}")


def _subject(value: Any) -> str | None:
    """A subject as text: 7.0, which pandas makes of an integer beside a gap, is 7; blanks name nobody."""
    written = str(_plain(value))
    return written if written.strip() else None


def _plain(value: Any) -> Any:
    """A cell's value; pandas makes a float of an integer beside a gap, and 7.0 is found in no text."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _known(given: KnownGiven) -> tuple[Known, ...]:
    if not given:
        return ()
    from incognote.detectors.known import known_from

    return known_from(given)


async def _each(items: Iterable[Given] | AsyncIterable[Given]) -> AsyncIterator[Given]:
    if isinstance(items, AsyncIterable):
        async for given in items:
            yield given
    else:
        for given in items:
            yield given

"""Annotate documents with K annotators, whose votes stay a distribution over BIO labels per word (CIPHER, eq. 1).

Without a language model, soft labels combine gold with the findings of our own detectors.

A line of the output is the document's line with `soft`: for each word on which annotators differ, `start`, `end` and
`votes`, a share per label. `spans` are the majority's, or gold if there is gold.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from incognote.align.merge import merge
from incognote.detectors.rules import RulesDetector
from incognote.errors import BudgetExhausted, MalformedRecord, ModelUnavailable
from incognote.evaluation.experiments.plan import UsageEstimate, reading
from incognote.evaluation.formats.document import LabeledSpan
from incognote.extraction.asking import AskingTerms, Budget, ChunkAsker
from incognote.extraction.chunks import chunks
from incognote.extraction.extractor import Extractor, TextChunk
from incognote.files.atomic import AtomicFile, exclusive
from incognote.llm.base import LanguageModel, Reply, Request
from incognote.llm.prices import Price
from incognote.nouns import Text
from incognote.prompts.loader import load
from incognote.schemas.policy import Policy
from incognote_training.corpus.document import Document, read_line
from incognote_training.tokens import OUTSIDE, bio, spans, tokenize

Shares = Mapping[str, float]
Spans = Sequence[tuple[int, int, str]]
UNMARKED = frozenset("RACE ETHNICITY MARITAL_STATUS PARENTHOOD DEPARTMENT".split())
"""Types that some detectors find and our annotation guide does not mark."""


def distribution(tokens: Sequence[tuple[int, int]], votes: Sequence[Spans]) -> list[dict[str, float]]:
    """Per token, the share of annotators that give each label: p(l) = 1/K Σ 1[v = l] (CIPHER, eq. 1)."""
    labels = [bio(tokens, one) for one in votes]
    return [
        {label: count / len(votes) for label, count in Counter(column).items()} for column in zip(*labels, strict=True)
    ]


def softened(text: str, gold: Spans, others: Sequence[Spans], weight: float) -> list[dict[str, float]]:
    """Mix gold, with weight (1 - weight), and the others' distribution, with `weight`, per token.

    Args:
        weight: of all the others together, from 0 to below 0.5, so that gold stays the likeliest.
    """
    tokens = tokenize(text)
    sure, unsure = distribution(tokens, [gold]), distribution(tokens, others)
    return [
        {label: (1 - weight) * one.get(label, 0.0) + weight * two.get(label, 0.0) for label in {**one, **two}}
        for one, two in zip(sure, unsure, strict=True)
    ]


def likeliest(tokens: Sequence[tuple[int, int]], shares: Sequence[Shares]) -> list[tuple[int, int, str]]:
    """The spans of the likeliest labels. Between equal shares, a label wins over `O`, then the higher name wins."""
    return spans(tokens, [max(one, key=lambda label: (one[label], label != OUTSIDE, label)) for one in shares])


def line(document: Document, shares: Sequence[Shares]) -> str:
    """The document with its soft labels as a line of a file. Words on which all agree are left out."""
    row = json.loads(document.line())
    row["soft"] = [
        {"start": start, "end": end, "votes": {label: round(share, 4) for label, share in sorted(one.items())}}
        for (start, end), one in zip(tokenize(document.text), shares, strict=True)
        if len(one) > 1
    ]
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"


def with_rules(documents: Iterable[Document], weight: float) -> Iterator[str]:
    """Lines with soft labels from gold and the rules detector. No model is asked."""
    detector = RulesDetector()
    for document in documents:
        (found,) = detector.detect([Text(document.text)])
        other = [(s.start, s.end, s.type) for s in merge(found) if s.type not in UNMARKED]
        yield line(document, softened(document.text, document.spans, [other], weight))


@dataclass(frozen=True, slots=True)
class Annotators:
    """K annotators from one model, each with its own sample of the model's distribution.

    Args:
        model: already guarded and recorded (`llm.opening`, `llm.recording`).
        k: the number of annotators.
        temperature: above 0; at 0 all K would give the same answer.
    """

    model: LanguageModel
    prompt: str
    policy: Policy
    k: int = 8
    temperature: float = 0.7
    budget: Budget = field(default_factory=Budget)

    async def votes(self, text: str) -> list[list[tuple[int, int, str]]]:
        """The spans of each annotator that answered for the whole text. Fewer than K if some did not.

        Raises:
            ModelProblem: the model did not answer.
            ModelUnavailable: also if the budget is spent.
        """
        made = []
        for number in range(self.k):
            found = await self._vote(text, number)
            if found is not None:
                made.append(found)
        return made

    async def _vote(self, text: str, number: int) -> list[tuple[int, int, str]] | None:
        sampled = _Sampled(self.model, number)
        prompt = load(self.prompt)
        terms = AskingTerms((sampled,), prompt, prompt.types(self.policy), temperature=self.temperature)
        extractor = Extractor(ChunkAsker(terms, self.budget), passes=1)
        found = []
        for chunk in chunks(text):
            (one,) = await extractor.extract([TextChunk(Text(text), chunk)])
            if one.unanswered[BudgetExhausted.code]:
                raise ModelUnavailable("the budget is spent. Run again with a larger one; nothing is paid for twice")
            if one.unanswered:
                return None
            found += one.spans
        return [(s.start, s.end, s.type) for s in merge(found) if s.type not in UNMARKED]


class _Sampled:
    """A model that marks each request with the annotator's number, so that a recording keeps their replies apart."""

    def __init__(self, model: LanguageModel, number: int) -> None:
        self.name = model.name
        self.model, self.number = model, number

    async def complete(self, request: Request) -> Reply:
        return await self.model.complete(replace(request, sample=self.number))

    async def aclose(self) -> None:
        """Do nothing. The inner model is shared, and its owner closes it."""


def cost(documents: Iterable[Document], prompt: str, policy: Policy, k: int, price: Price | None) -> UsageEstimate:
    """Estimate the usage of K annotators before any model is asked. `usd` is None if no price is known."""
    pieces = [chunk for document in documents for chunk in chunks(document.text)]
    return reading(pieces, k, prompt, policy, price)


async def annotate(
    documents: Sequence[Document], out: Path, annotators: Annotators, *, concurrency: int = 4,
    watch: Callable[[int], None] | None = None,
) -> Counter[str]:  # fmt: skip
    """Annotate documents into a file. After a kill, the same call continues.

    Lines are first written to `OUT.part`, as they become ready. At the end, the complete file in the documents' order
    replaces it. A document is left out if fewer than half of the annotators answered for it.

    Returns:
        The numbers of documents, and of those `left out`.

    Raises:
        ModelProblem: the model did not answer; answers so far are kept.
        IncognoteError: another run is writing there.
    """
    import asyncio

    part = out.with_name(out.name + ".part")
    slots = asyncio.Semaphore(concurrency)
    with exclusive(out.parent, f".{out.name}.lock"):
        done = _kept(part)
        finished: list[str] = []
        with part.open("a", encoding="utf-8") as file:

            async def one(document: Document) -> None:
                async with slots:
                    if document.id not in done:
                        done[document.id] = _voted(document, await annotators.votes(document.text), annotators.k)
                        file.write(json.dumps({"id": document.id, "line": done[document.id]}) + "\n")
                        file.flush()
                    finished.append(document.id)
                    if watch is not None:
                        watch(len(finished))

            tasks = [asyncio.ensure_future(one(document)) for document in documents]
            try:
                await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
        lines = [done[document.id] for document in documents]
        with AtomicFile(out) as whole:
            whole.write("".join(lines).encode())
        part.unlink()
    return Counter({"documents": len(lines), "left out": sum(not one for one in lines)})


def _voted(document: Document, votes: Sequence[Spans], k: int) -> str:
    if 2 * len(votes) < k or not votes:
        return ""
    tokens = tokenize(document.text)
    shares = distribution(tokens, votes)
    found = tuple(LabeledSpan(*span) for span in likeliest(tokens, shares))
    return line(replace(document, spans=found), shares)


def _kept(part: Path) -> dict[str, str]:
    """The annotations of an earlier run. A truncated last line is dropped and annotated again."""
    kept: dict[str, str] = {}
    if part.exists():
        whole = [row for row in part.read_text(encoding="utf-8").splitlines(keepends=True) if row.endswith("\n")]
        for row in whole:
            told = json.loads(row)
            kept[told["id"]] = told["line"]
        part.write_text("".join(whole), encoding="utf-8")
    return kept


def read(path: str | Path) -> Iterator[Document]:
    """Read the documents of a corpus file.

    Raises:
        MalformedRecord: it cannot be read, or a line is not a document. The message names the line.
    """
    try:
        with Path(path).open(encoding="utf-8") as rows:
            for number, row in enumerate(rows, 1):
                try:
                    yield read_line(row)
                except MalformedRecord as error:
                    raise MalformedRecord(f"line {number}: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise MalformedRecord(f"the corpus cannot be read ({type(error).__name__}). Name a JSONL file") from None

"""What a run did, in counts and codes: records read, released, held, not read. The counts must balance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from incognote.errors import AccountingError, UnsupportedFormat
from incognote.nouns import Outcome, Reason, Verdict

OUTCOMES: tuple[Outcome, ...] = ("release", "review", "quarantine")
_OF_ONE_RECORD = (
    "route", "chunks", "requests", "shared", "passes_made", "usage", "placed", "silent", "left_out", "unanswered",
)  # fmt: skip
_NOT_KEPT = ("not_read", "left_out", "examples", "labels")
_COUNTED = ("texts", "placed", "left_out", "unanswered")  # counters of `Readings`
_LABELS = ("incognote", "policy", "versions", "key")


@dataclass
class Readings:
    """What language models did in a run, in counts and codes, from the manifests of its results.

    Tokens and money are not included. The run's budget holds them, with those of calls whose record failed later.

    Attributes:
        records: records that a model could have been asked about.
        texts: texts per route: nothing to find, the embedded detectors alone, a model on doubtful chunks or on all.
        chunks: the number of chunks that models read.
        passes: the total number of passes over them.
        placed: mentions by how they were placed.
        silent: texts in which models named nothing, although a finding of other detectors was certain.
        silent_released: those of them in released records.
        left_out: records by the features that a model's endpoint rejects.
        unanswered: chunks without an answer, by code.
        facts: what all manifests of the run share: models, prompt, chunking, votes.
    """

    records: int = 0
    texts: Counter[str] = field(default_factory=Counter)
    chunks: int = 0
    passes: int = 0
    placed: Counter[str] = field(default_factory=Counter)
    silent: int = 0
    silent_released: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    unanswered: Counter[str] = field(default_factory=Counter)
    facts: dict[str, Any] = field(default_factory=dict)

    def add(self, reading: Mapping[str, Any], texts: int, *, released: bool = False) -> None:
        """Count one record.

        Args:
            reading: `models` of its manifest.
            texts: how many texts it has.
        """
        self.records += 1
        self.texts[reading["route"]] += texts
        self.chunks += reading["chunks"]
        self.passes += reading["passes_made"]
        self.placed.update(reading["placed"])
        self.silent += reading["silent"]
        self.silent_released += reading["silent"] if released else 0
        self.left_out.update(reading["left_out"])
        self.unanswered.update(reading["unanswered"])
        if not self.facts:
            self.facts = {name: value for name, value in reading.items() if name not in _OF_ONE_RECORD}


@dataclass
class Tally:
    """What a run did, in counts and codes. Nothing in it is PHI except `not_read` and `left_out`.

    Attributes:
        read: records taken from the source.
        returned: records that met an outage. They stay in the source for a later try.
        refused: records of patients who opted out. They are in no output.
        unserved: records that are held because of an outage, by its code. A later try may pass.
        not_read: inputs whose bytes could not be read: their paths as the user typed them, and why. For the user alone,
            since the paths may be PHI.
        left_out: hidden files of archives: their paths, as in `not_read`.
        formats: contents that incognote cannot read, by the format's name.
        outcomes: records per outcome.
        reasons: records per outcome and reason code. A record with two reasons counts under both.
        examples: the first reason of each outcome and code.
        replaced: replacements per entity type, in released records.
        labeled: findings that got a label instead of a surrogate, per reason code, in released records.
        unsought: known values that were not searched for, per entity type: the maximum of any record.
        mended: identifiers that only the audit found, then masked.
        widened: lines that were masked as a whole.
        labels: what all manifests of the run share: versions, policy, key id.
        schemas: the content hash of every schema used, by data type.
        models: what language models did; all zero if none was named.
    """

    read: int = 0
    returned: int = 0
    refused: int = 0
    unserved: Counter[str] = field(default_factory=Counter)
    not_read: list[tuple[str, str]] = field(default_factory=list, repr=False)
    left_out: list[str] = field(default_factory=list, repr=False)
    formats: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: dict[tuple[str, str], Reason] = field(default_factory=dict)
    replaced: Counter[str] = field(default_factory=Counter)
    labeled: Counter[str] = field(default_factory=Counter)
    unsought: Counter[str] = field(default_factory=Counter)
    mended: int = 0
    widened: int = 0
    labels: dict[str, Any] = field(default_factory=dict)
    schemas: dict[str, str] = field(default_factory=dict)
    models: Readings = field(default_factory=Readings)

    @property
    def held(self) -> int:
        """The number of records that were not released."""
        return self.outcomes["review"] + self.outcomes["quarantine"]

    @property
    def review_share(self) -> float:
        """The share of records in review, 0 to 1; 0 if there are no records."""
        return self.outcomes["review"] / self.read if self.read else 0.0

    def add(self, verdict: Verdict, manifest: Mapping[str, Any]) -> None:
        """Count one settled record."""
        self.outcomes[verdict.outcome] += 1
        self.reasons.update({(verdict.outcome, reason.code) for reason in verdict.reasons})
        for reason in verdict.reasons:
            self.examples.setdefault((verdict.outcome, reason.code), reason)
            if reason.code == UnsupportedFormat.code:
                self.formats[reason.detail.partition(",")[0]] += 1
        counts = manifest.get("counts", {})
        self.mended += counts.get("mended", 0)
        self.widened += counts.get("widened", 0)
        self.unsought |= Counter(counts.get("unsought", {}))
        if verdict.released:
            self.replaced.update(counts.get("by_type", {}))
            self.labeled.update(counts.get("labeled", {}))
        if not self.labels:
            self.labels = {label: manifest[label] for label in _LABELS if label in manifest}
        schema = manifest.get("schema")
        if schema:
            self.schemas[schema["data_type"]] = schema["version"]
        if manifest.get("models"):
            self.models.add(manifest["models"], counts.get("texts", 0), released=verdict.released)

    def as_dict(self) -> dict[str, Any]:
        """Return the tally for JSON: counts without paths, examples and labels."""
        told = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in _NOT_KEPT}
        return {**told, "reasons": [[*key, n] for key, n in self.reasons.items()], "models": vars(self.models)}

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Tally:
        """Restore a tally from `as_dict`."""
        models: dict[str, Any] = {**told["models"], **{name: Counter(told["models"][name]) for name in _COUNTED}}
        counters = ("unserved", "formats", "outcomes", "replaced", "labeled", "unsought")
        counted = {name: Counter(told[name]) for name in counters}
        reasons = Counter({(outcome, code): n for outcome, code, n in told["reasons"]})
        return cls(**{**told, **counted, "reasons": reasons, "models": Readings(**models)})

    def merge(self, other: Tally) -> None:
        """Add what another run did with other records."""
        for mine, its in ((self, other), (self.models, other.models)):
            for each in fields(mine):
                value, more = getattr(mine, each.name), getattr(its, each.name)
                if isinstance(value, Counter):
                    combined = value | more if each.name == "unsought" else value + more
                    setattr(mine, each.name, combined)
                elif isinstance(value, int | list):
                    setattr(mine, each.name, value + more)
                elif isinstance(value, dict):
                    setattr(mine, each.name, {**more, **value})

    def balance(self) -> None:
        """Check that no record was lost.

        Raises:
            AccountingError: records read ≠ released + in review + quarantined + returned + refused.
        """
        settled = sum(self.outcomes[outcome] for outcome in OUTCOMES) + self.returned + self.refused
        if settled != self.read:
            raise AccountingError(f"{self.read} records were read, but {settled} were released, held or returned")

"""Every error this package raises on purpose, drawn before it is written.

    IncognoteError
    ├── UsageError              the caller can act: a wrong argument, setting or name
    │   ├── SettingError        a setting is missing, malformed or contradicts another
    │   ├── UnknownName         a policy, data type, operator or pack that does not exist
    │   ├── MissingExtra        an optional dependency is not installed
    │   ├── MissingLanguage     no installed package brings a language that is needed
    │   ├── ImpossibleSpan      offsets that do not fit their text
    │   └── AlreadyDecided      somebody decided on this record before
    ├── KeyProblem              the operator can act
    │   ├── KeyMissing          a persistent key is required and none is configured
    │   └── WrongKey            the key is not the one that made the data
    ├── PolicyProblem           the privacy officer can act: a policy contradicts itself or its label
    ├── SchemaProblem           the privacy officer can act
    │   ├── BadSchema           a schema file is malformed: two flags, absent flags, unknown type
    │   └── UnapprovedSchema    nobody approved this schema, or it changed since
    ├── RecordProblem           the record goes to quarantine; its sender can act
    │   ├── MalformedRecord     not JSON, not UTF-8, binary, a duplicate key, nested too deep
    │   ├── UnsupportedFormat   a PDF, RTF, HTML, HL7 v2 message or other format that has no reader here
    │   ├── UnknownDataType     no schema serves the record's data type
    │   └── SchemaViolation     an unknown field, a missing one, a value of the wrong type
    ├── ModelProblem            a language model did not serve; the operator can act, and no record is to blame
    │   ├── ModelUnavailable    no answer, 429, 5xx or a time-out, after the retries: worth a later try
    │   ├── ModelRejected       the endpoint refused the request: key, model name, parameters
    │   ├── ContextTooLong      the request is longer than the model reads: a smaller chunk may pass
    │   ├── Unread              part of a text got no answer that can be used
    │   │   └── BudgetExhausted the budget of the run was spent before it was asked about
    │   └── EgressRefused       an address the settings do not name, or a model nobody recorded an agreement for
    ├── IndexProblem            the surrogate index did not serve; the operator can act, and no record is to blame
    │   ├── IndexUnavailable    no answer, 429, 5xx or a time-out, after the retries: records stay for a later try
    │   ├── IndexRejected       the index refused the request: user, rights, version, a place that is not ours
    │   └── IndexBusy           it is being imported into or rekeyed; that must end first
    ├── StoreProblem            a place of records did not serve; the operator can act, and no record is to blame
    │   ├── Unwritable          an output or a held record could not be written: disk full, no right
    │   ├── SourceUnavailable     the place records are read from does not answer
    │   ├── LedgerUnavailable   the ledger's database does not answer
    │   ├── LedgerRejected      the database is of another program, version or user
    │   └── LeaseLost           this worker was taken for dead, and others have its records
    ├── ReviewCeiling           a run stopped: too large a share of its records waits for a person
    ├── SentinelsMissed         too little of what is planted in sentinel notes was found: the run stops
    ├── AccountingError         a bug of ours, caught before anything left: spans found ≠ replaced + kept + flagged
    └── NotReleased             the verdict is not `release`; a person decides

`retryable` of a class decides what becomes of the records that met it, for every driver: whether they stay as they are
for a later try, or get a verdict. No message ever holds a value of a record: field paths, type names and remedies only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar


class IncognoteError(Exception):
    """The root of the tree.

    `retryable`: something outside did not serve, and the same records may pass later as they are. A driver returns
    them untouched, waits and tries again; it never gives them a verdict for it.
    `code`: the stable word by which verdicts and counts name it; "" where the name of the class serves.
    """

    retryable: ClassVar[bool] = False
    code: str = ""


class UsageError(IncognoteError):
    """The call cannot be served as it was made; its maker can mend it."""


class SettingError(UsageError):
    """A setting is missing, malformed or contradicts another. The message names the setting and its sources."""


class UnknownName(UsageError):
    """Something was asked for by a name that nothing bears. The message lists the names there are."""

    def __init__(self, kind: str, name: str, known: object = ()) -> None:
        names = (
            ", ".join(sorted(str(n) for n in known)) if isinstance(known, (list, tuple, set, frozenset, dict)) else ""
        )
        super().__init__(f"there is no {kind} named {name!r}" + (f"; there are: {names}" if names else ""))
        self.kind, self.name = kind, name


class MissingExtra(UsageError):
    """An optional part is used whose packages are not installed."""

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the extra '{extra}': pip install 'incognote[{extra}]'")
        self.extra = extra


class MissingLanguage(UsageError):
    """A language is needed and no installed package brings it."""

    def __init__(self, code: str) -> None:
        package = f"incognote-{code}"
        super().__init__(f"the language '{code}' is not installed: install the package {package} beside incognote")


class ImpossibleSpan(UsageError):
    """Offsets outside the text, an empty stretch, or words that are not what stands there."""


class AlreadyDecided(UsageError):
    """A record in review has been settled; nothing was changed."""


class KeyProblem(IncognoteError):
    """Something is wrong with the master key."""


class KeyMissing(KeyProblem):
    """A persistent key is needed and none is configured."""


class WrongKey(KeyProblem):
    """The key at hand is not the one that made the data; nothing was processed."""


class PolicyProblem(IncognoteError):
    """A policy contradicts itself or the legal label it claims."""


class SchemaProblem(IncognoteError):
    """A record schema cannot be used."""


class BadSchema(SchemaProblem):
    """A schema file is malformed. The message lists field paths and what each lacks."""


class UnapprovedSchema(SchemaProblem):
    """Nobody approved this schema, or its file changed after approval."""


class RecordProblem(IncognoteError):
    """One record cannot be processed; it goes to quarantine, whole, and can be retried.

    `code` is a stable word for counting, `field` the path of the offending field ("" for the whole record).
    """

    code = "record"

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class MalformedRecord(RecordProblem):
    """The bytes are not the format they claim."""

    code = "malformed"


class UnsupportedFormat(RecordProblem):
    """A content that is, as a whole, of a format without a reader. The message names the format."""

    code = "unsupported-format"

    @classmethod
    def of(cls, what: str, field: str = "") -> UnsupportedFormat:
        """The error for a format by its name, and the path of the field that holds it."""
        return cls(f"{what}, a format without a reader", field=field)


class UnknownDataType(RecordProblem):
    """No approved schema serves the record's data type."""

    code = "unknown-data-type"


class SchemaViolation(RecordProblem):
    """A field the schema does not name, a value of the wrong type, or a required field that is absent."""

    code = "schema-violation"


class ModelProblem(IncognoteError):
    """A language model did not serve. The message holds a status and a remedy, never what was sent or answered.

    `code` is a stable word for counting.
    """

    code = "model"


class ModelUnavailable(ModelProblem):
    """The endpoint did not answer in time, or answered 429 or 5xx, as often as it was tried.

    `retry_after` is how long it asked to be left alone, in seconds; None where it did not say.
    """

    code = "model-unavailable"
    retryable = True

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelRejected(ModelProblem):
    """The endpoint refused the request; trying again as it is will not help."""

    code = "model-rejected"


class ContextTooLong(ModelRejected):
    """The request is longer than the model can read."""

    code = "model-context"


class Unread(ModelProblem):
    """Part of a text got no answer that can be used: what is in it is unknown. `code` says why, as in verdicts."""

    def __init__(self, code: str, why: str = "") -> None:
        super().__init__(f"{code}: {why or 'part of the text was not read; try again, or name another model'}")
        self.code, self._why = code, why

    @classmethod
    def of(cls, code: str, why: str = "") -> Unread:
        """The error for a code, of the class that bears it."""
        return BudgetExhausted(why) if code == BudgetExhausted.code else Unread(code, why)

    def __reduce__(self) -> tuple[Callable[[str, str], Unread], tuple[str, str]]:
        return Unread.of, (self.code, self._why)  # by its message, as exceptions are pickled, the code would be lost


class BudgetExhausted(Unread):
    """The budget of the run was spent before this was asked about; a run with a larger budget may read it."""

    code = "budget-exhausted"
    retryable = True

    def __init__(self, why: str = "") -> None:
        super().__init__(BudgetExhausted.code, why)


class EgressRefused(ModelProblem):
    """A note was about to go where the settings or the recorded agreements do not let it; nothing was sent."""

    code = "egress-refused"


class IndexProblem(IncognoteError):
    """The surrogate index did not serve. The message holds a status and a remedy, never what was asked or answered.

    The record is kept for a later try, also where the index refused: without it a second surrogate would be drawn.
    `code` is a stable word for counting.
    """

    code = "index"
    retryable = True


class IndexUnavailable(IndexProblem):
    """The index did not answer in time, or answered 429 or 5xx, as often as it was tried."""

    code = "index-unavailable"


class IndexRejected(IndexProblem):
    """The index refused the request; trying again as it is will not help."""

    code = "index-rejected"


class IndexBusy(IndexProblem):
    """The index is being imported into or rekeyed, or was left in the middle of that."""

    code = "index-busy"


class StoreProblem(IncognoteError):
    """A place that records come from or go to did not serve. The message holds a reason and a remedy, never a name.

    Whoever meets it gives its records back: they are tried again when the place serves.
    `code` is a stable word for counting.
    """

    code = "store"
    retryable = True


class Unwritable(StoreProblem):
    """Nothing can be written there now; nothing is left half-written."""

    code = "unwritable"


class SourceUnavailable(StoreProblem):
    """The place that records are read from did not answer, or refused."""

    code = "sink-unavailable"


class LedgerUnavailable(StoreProblem):
    """The ledger's database did not answer; what was asked may or may not stand, and is asked again as it was."""

    code = "ledger-unavailable"


class LedgerRejected(StoreProblem):
    """The ledger's database refused; trying again as it is will not help."""

    code = "ledger-rejected"
    retryable = False


class LeaseLost(StoreProblem):
    """The worker was silent for longer than its lease: its records are others' now, and nothing of it was settled."""

    code = "lease-lost"


class ReviewCeiling(IncognoteError):
    """Too many records wait for a person: something is wrong with policy, packs or the records themselves."""


class SentinelsMissed(IncognoteError):
    """Too few of the identifiers planted in sentinel notes were found: what a run does is not what it should do."""


class AccountingError(IncognoteError):
    """Spans found ≠ replaced + kept + flagged: a bug of ours, caught before anything left."""


class NotReleased(IncognoteError):
    """The verdict is not `release`: nothing is handed out unless the caller insists."""


def retryable_code(codes: Iterable[str]) -> str | None:
    """Of the reason codes of a verdict, one (the first by name) whose error is retryable; None where there is none."""
    retryable = {kind.code for kind in _below(IncognoteError) if kind.retryable and kind.code}
    return min(retryable & set(codes), default=None)


def _below(kind: type[IncognoteError]) -> Iterator[type[IncognoteError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _below(each)

"""The errors of incognote.

    IncognoteError
    ├── UsageError              you can fix it: a wrong argument, setting, or name
    │   ├── SettingError        a setting is missing, malformed, or contradicts another
    │   ├── UnknownName         a policy, data type, operator, or pack that does not exist
    │   ├── MissingExtra        an optional dependency is not installed
    │   ├── MissingLanguage     the package of a language is not installed
    │   ├── ImpossibleSpan      offsets that do not match their text
    │   └── AlreadyDecided      this record was already decided
    ├── KeyProblem              the operator can act
    │   ├── KeyMissing          a persistent key is required and none is configured
    │   └── WrongKey            the data was made with a different key
    ├── PolicyProblem           the privacy officer can act: a policy contradicts itself or its label
    ├── SchemaProblem           the privacy officer can act
    │   ├── BadSchema           a schema file is malformed: two flags, absent flags, unknown type
    │   └── UnapprovedSchema    the schema is not approved, or it changed after approval
    ├── RecordProblem           the record goes to quarantine; its sender can act
    │   ├── MalformedRecord     not JSON, not UTF-8, binary, a duplicate key, nested too deeply
    │   ├── UnsupportedFormat   a PDF, RTF, HTML, HL7 v2 message, or another format without a reader
    │   ├── UnknownDataType     no schema exists for the record's data type
    │   └── SchemaViolation     an unknown field, a missing one, a value of the wrong type
    ├── ModelProblem            a language model failed; the operator can act, and the record is not the cause
    │   ├── ModelUnavailable    no answer, 429, 5xx, or a timeout after all retries: try again later
    │   ├── ModelRejected       the endpoint refused the request: key, model name, parameters
    │   ├── ContextTooLong      the request is longer than the context window: try smaller chunks
    │   │   └── PromptCut       the server read only a part of the request, without an error
    │   ├── ModelStopped        the model failed again and again, so the run does not call it any more
    │   ├── Unread              no usable answer for part of a text
    │   │   └── BudgetExhausted the run's budget is used up
    │   └── EgressRefused       an address that is not in the settings, or a model without a recorded agreement
    ├── IndexProblem            the surrogate index failed; the operator can act, and the record is not the cause
    │   ├── IndexUnavailable    no answer, 429, 5xx, or a timeout after all retries: records are tried again later
    │   ├── IndexRejected       the index refused the request: user, permissions, version, or another program's index
    │   └── IndexBusy           an import or a key rotation must finish first
    ├── StoreProblem            storage or ledger failed; the operator can act, and the record is not the cause
    │   ├── Unwritable          an output or a held record could not be written: disk full, no permission
    │   ├── SourceUnavailable   the source of the records does not answer
    │   ├── LedgerUnavailable   the ledger's database does not answer
    │   ├── LedgerRejected      the database belongs to another program, version, or user
    │   └── LeaseLost           this worker sent no heartbeat, so other workers took over its records
    ├── ReviewCeiling           a run stopped because too many of its records are in review
    ├── SentinelsMissed         a run stopped because too few of the identifiers in sentinel notes were found
    ├── AccountingError         a bug in incognote, caught before release: spans found ≠ replaced + kept + flagged
    └── NotReleased             the verdict is not `release`

The `retryable` attribute of a class decides what a run does with a record that causes the error. The run either keeps
the record for a later attempt or gives it a verdict. A message never contains a value from a record. It contains field
paths, type names, and the next step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar


class IncognoteError(Exception):
    """Base class of all errors of incognote.

    Attributes:
        retryable: An external service failed, and the same records may succeed later. A run returns them unchanged,
            waits, and tries again. It does not give them a verdict.
        code: The reason code in verdicts and counts. "" if the class name is the code.
    """

    retryable: ClassVar[bool] = False
    code: str = ""


class UsageError(IncognoteError):
    """The call is wrong, and the caller can correct it."""


class SettingError(UsageError):
    """A setting is missing, not valid, or contradicts another. The message names the setting and its sources."""


class UnknownName(UsageError):
    """Nothing has this name. The message lists the names that exist."""

    def __init__(self, kind: str, name: str, known: object = ()) -> None:
        from difflib import get_close_matches

        names = sorted(map(str, known)) if isinstance(known, (list, tuple, set, frozenset, dict)) else []
        similar = get_close_matches(name, names, 1)
        hint = f" Did you mean {similar[0]!r}?" if similar else ""
        listed = f" Choose one of: {', '.join(names)}." if names else ""
        super().__init__(f"There is no {kind} named {name!r}.{hint}{listed}")
        self.kind, self.name = kind, name


class MissingExtra(UsageError):
    """An optional dependency is not installed. The message shows the command to install it."""

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the extra '{extra}': pip install 'incognote[{extra}]'")
        self.extra = extra


class MissingLanguage(UsageError):
    """The package of a language is not installed. The message names the package."""

    def __init__(self, code: str) -> None:
        package = f"incognote-{code}"
        super().__init__(f"the language '{code}' is not installed: install the package {package} beside incognote")


class ImpossibleSpan(UsageError):
    """Offsets are outside the text, the span is empty, or its words differ from the text."""


class AlreadyDecided(UsageError):
    """The record in review was already decided. Nothing was changed."""


class KeyProblem(IncognoteError):
    """The master key is missing or wrong."""


class KeyMissing(KeyProblem):
    """A persistent key is required and none is configured."""


class WrongKey(KeyProblem):
    """The data was made with a different key. Nothing was processed."""


class PolicyProblem(IncognoteError):
    """A policy contradicts itself or the legal label that it claims."""


class SchemaProblem(IncognoteError):
    """A record schema cannot be used."""


class BadSchema(SchemaProblem):
    """A schema file is not valid. The message lists the field paths and what is wrong with each."""


class UnapprovedSchema(SchemaProblem):
    """The schema is not approved, or its file changed after approval."""


class RecordProblem(IncognoteError):
    """A record cannot be processed. The whole record goes to quarantine and can be retried.

    Attributes:
        field: The path of the field that is wrong. "" for the whole record.
    """

    code = "record"

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class MalformedRecord(RecordProblem):
    """The content is not valid in its format."""

    code = "malformed"


class UnsupportedFormat(RecordProblem):
    """The content has a format without a reader. The message names the format."""

    code = "unsupported-format"

    @classmethod
    def of(cls, what: str, field: str = "") -> UnsupportedFormat:
        """The error for the name of a format and the path of its field."""
        return cls(f"{what}, a format without a reader", field=field)


class UnknownDataType(RecordProblem):
    """No approved schema exists for the record's data type."""

    code = "unknown-data-type"


class SchemaViolation(RecordProblem):
    """A field is not in the schema, a value has the wrong type, or a required field is missing."""

    code = "schema-violation"


class ModelProblem(IncognoteError):
    """A language model failed. The message contains a status and the next step, but never a request or a reply.

    Attributes:
        unclear: The endpoint rejected the request in words that are not recognized, so it may have been too long.
    """

    code = "model"
    unclear = False


class ModelUnavailable(ModelProblem):
    """The endpoint did not answer in time, or answered 429 or 5xx, in every attempt.

    Attributes:
        retry_after: Seconds to wait, as the endpoint said. None if it did not say.
    """

    code = "model-unavailable"
    retryable = True

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelRejected(ModelProblem):
    """The endpoint refused the request. The same request will fail again."""

    code = "model-rejected"


class ContextTooLong(ModelRejected):
    """The request is longer than the model's context window."""

    code = "model-context"


class PromptCut(ContextTooLong):
    """The server has read only a part of the request, and did not say so.

    Attributes:
        usage: The usage of its reply (`llm.base.Usage`), which counts toward the budget. None if it is not known.
    """

    code = "model-prompt-cut"
    usage: object = None


class ModelStopped(ModelProblem):
    """The model failed in the same way again and again, so the run has ended. Its other records can be retried."""

    code = "model-stopped"
    retryable = True


class Unread(ModelProblem):
    """There was no usable answer for part of a text, so that part may contain anything. `code` is the reason code."""

    def __init__(self, code: str, why: str = "") -> None:
        super().__init__(f"{code}: {why or 'part of the text was not read; try again, or name another model'}")
        self.code, self._why = code, why

    @classmethod
    def of(cls, code: str, why: str = "") -> Unread:
        """The error for a reason code."""
        return BudgetExhausted(why) if code == BudgetExhausted.code else Unread(code, why)

    def __reduce__(self) -> tuple[Callable[[str, str], Unread], tuple[str, str]]:
        return Unread.of, (self.code, self._why)  # pickling by message, the default, would lose the code


class BudgetExhausted(Unread):
    """The run's budget was used up before this text was read. A run with a larger budget may be able to read it."""

    code = "budget-exhausted"
    retryable = True

    def __init__(self, why: str = "") -> None:
        super().__init__(BudgetExhausted.code, why)


class EgressRefused(ModelProblem):
    """The settings or the recorded agreements do not allow this address. Nothing was sent."""

    code = "egress-refused"


class IndexProblem(IncognoteError):
    """The surrogate index failed. The message contains a status and the next step, but never a request or an answer.

    The record is kept for a later attempt, even if the index refused the request. Otherwise, one identity could get two
    surrogates.
    """

    code = "index"
    retryable = True


class IndexUnavailable(IndexProblem):
    """The index did not answer in time, or answered 429 or 5xx, in every attempt."""

    code = "index-unavailable"


class IndexRejected(IndexProblem):
    """The index refused the request. The same request will fail again."""

    code = "index-rejected"


class IndexBusy(IndexProblem):
    """The index is being imported or its key is being rotated, or one of these commands stopped early."""

    code = "index-busy"


class StoreProblem(IncognoteError):
    """A source or destination of records failed. The message has a reason and the next step, but never a file name.

    The run returns its records, and they are tried again when the source or destination works.
    """

    code = "store"
    retryable = True


class Unwritable(StoreProblem):
    """The destination cannot be written. No file is left incomplete."""

    code = "unwritable"


class SourceUnavailable(StoreProblem):
    """The source of the records did not answer, or it refused the request."""

    code = "sink-unavailable"


class LedgerUnavailable(StoreProblem):
    """The ledger's database did not answer. The last change may or may not be stored, and it is sent again."""

    code = "ledger-unavailable"


class LedgerRejected(StoreProblem):
    """The ledger's database refused the request. The same request will fail again."""

    code = "ledger-rejected"
    retryable = False


class LeaseLost(StoreProblem):
    """The worker sent no heartbeat for longer than its lease. Other workers took over its records."""

    code = "lease-lost"


class ReviewCeiling(IncognoteError):
    """Too many records are in review. Check the policy, the packs and the records."""


class SentinelsMissed(IncognoteError):
    """Too few identifiers planted in sentinel notes were found. The run does not work as it should."""


class AccountingError(IncognoteError):
    """Spans found ≠ replaced + kept + flagged: a bug in incognote, caught before release."""


class NotReleased(IncognoteError):
    """The verdict is not `release`. Nothing is returned unless the caller overrides this."""


def retryable_code(codes: Iterable[str]) -> str | None:
    """Return the first reason code of a verdict, by name, whose error is retryable; None if there is none."""
    retryable = {kind.code for kind in _below(IncognoteError) if kind.retryable and kind.code}
    return min(retryable & set(codes), default=None)


def _below(kind: type[IncognoteError]) -> Iterator[type[IncognoteError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _below(each)

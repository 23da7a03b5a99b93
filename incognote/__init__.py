"""incognote de-identifies clinical records: offline by default, fail-closed, measured."""

from incognote.errors import IncognoteError, NotReleased, UsageError
from incognote.nouns import Known, Reason, Replacement, Result, ResultList, Span, Text, Verdict
from incognote.sdk import Deidentifier, Item

__all__ = [
    "Deidentifier",
    "IncognoteError",
    "Item",
    "Known",
    "NotReleased",
    "Reason",
    "Replacement",
    "Result",
    "ResultList",
    "Span",
    "Text",
    "UsageError",
    "Verdict",
]

"""The bad day: what was released and must not have been is found, recalled and told of without a word of PHI."""

from incognote.service.recall.finding import made_by, of_patient, with_words
from incognote.service.recall.forgetting import ForgetReceipt, Forgetter, unknown
from incognote.service.recall.recalling import Incident, recall, report_text

__all__ = [
    "ForgetReceipt",
    "Forgetter",
    "Incident",
    "made_by",
    "of_patient",
    "recall",
    "report_text",
    "unknown",
    "with_words",
]

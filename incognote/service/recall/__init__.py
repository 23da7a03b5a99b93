"""Recall and forget: find outputs that should not have been released, mark them, and report without PHI."""

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

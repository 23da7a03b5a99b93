"""Moved to `incognote.reasons`."""

from incognote.reasons import ReasonText, reason_texts

__all__ = ["ReasonText", "reason_texts"]

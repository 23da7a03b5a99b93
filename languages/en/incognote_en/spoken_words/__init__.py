"""Transcripts: words as a recognizer heard them, in the written form that rules and encoder know."""

from incognote_en.spoken_words.announced import identifiers
from incognote_en.spoken_words.written import written

__all__ = ["identifiers", "written"]

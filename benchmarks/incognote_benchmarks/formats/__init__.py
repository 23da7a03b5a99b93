"""Formats in which other systems leave their results, by the entry point group `incognote.corpus_formats`."""

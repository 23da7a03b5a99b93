"""Formats of other systems' results, found by the entry point group `incognote.corpus_formats`."""

"""Extraction of mentions and spans from a text by a language model: chunks, passes, votes, routes and budgets."""

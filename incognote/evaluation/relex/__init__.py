"""Metrics of relexicalization: how consistently identities and surrogates are kept across notes."""

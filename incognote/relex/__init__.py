"""Relexicalization: realistic surrogates that stay the same across notes."""

"""Versioned prompts, one file per agent and version, and the contracts of their replies."""

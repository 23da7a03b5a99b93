"""Recordings of synthetic speech with known times of identifiers: scripts, voices, conditions, and measures."""

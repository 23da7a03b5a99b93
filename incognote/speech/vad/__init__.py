"""Voice activity detectors (VAD)."""

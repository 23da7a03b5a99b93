"""Speech recognizers (ASR)."""

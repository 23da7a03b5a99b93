"""Formats: read Documents from the bytes of a source, and write the edited documents back. One file per format."""

"""Bytes in, Documents, bytes out: what stands in a source, and what is written in its place. One file per format."""

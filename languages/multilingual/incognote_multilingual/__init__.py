"""The encoder of Arabic, German, Spanish, and French. It holds data only (docs/encoder.md)."""

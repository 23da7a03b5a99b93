"""The worker: it claims records of a source, de-identifies them, and writes the released ones to the destination."""

"""Evidence for a release: draw released documents for blind double review, and say what the reviews prove."""

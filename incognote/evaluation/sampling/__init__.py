"""Evidence for a release: draw released documents for blind double review, and report what the reviews prove."""

"""Score muted recordings: identifiers that are muted, other speech that is kept, recordings that are wholly clean."""

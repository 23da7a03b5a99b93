"""The one door to what was replaced by what: identities, the keys of their variants, vectors to find them by."""

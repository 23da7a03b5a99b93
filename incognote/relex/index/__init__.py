"""The only access to what was replaced by what: identities, the keys of their variants, and vectors to search them."""

"""The only access to who was replaced by what: identities, the keys of their variants, and vectors to search them."""

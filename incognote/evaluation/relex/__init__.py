"""How well identities and surrogates hold together across notes."""

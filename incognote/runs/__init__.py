"""The one driver: from a source through the machine to a destination, with the ledger beside it."""

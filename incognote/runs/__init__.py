"""One pass of records from a source through the state machine to a destination, with the ledger beside it."""

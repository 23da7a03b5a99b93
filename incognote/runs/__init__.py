"""One pass of records from a source through the state machine to a destination. The ledger keeps track of it."""

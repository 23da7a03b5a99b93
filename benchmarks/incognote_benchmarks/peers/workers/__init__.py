"""Programs that other interpreters run, with one adapter per peer. Only `ours` imports incognote."""

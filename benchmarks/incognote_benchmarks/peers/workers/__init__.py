"""Programs that other interpreters run, one adapter per peer. None of them imports incognote, but `ours`."""

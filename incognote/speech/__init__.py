"""Words, gaps, and voices of a recording, with their times."""

"""One module per place where an index may lie."""

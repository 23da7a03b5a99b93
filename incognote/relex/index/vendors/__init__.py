"""One module per store that can hold an index."""

"""Pages by blind authors: HTML with gold attributes, drawn by a browser, scanned, faxed, and scored."""

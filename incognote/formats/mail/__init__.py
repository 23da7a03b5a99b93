"""The parts of the e-mail reader: header fields, transfer encodings, and the tree of MIME parts."""

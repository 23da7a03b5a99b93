"""Train the embedded embedder: a teacher's sentence vectors, distilled to one vector per WordPiece.

    python -m incognote_training.embedder --teacher FOLDER --notes FILE... --out FOLDER

The same seed, files, teacher, and versions of torch give the same bytes on the same kind of processor.
"""

"""How the embedded embedder was made: a teacher's sentence vectors, taught to one vector per WordPiece.

    python -m incognote_training.embedder --teacher FOLDER --notes FILE... --out FOLDER

The same seed, files, teacher and versions of torch make the same bytes on the same kind of processor.
"""

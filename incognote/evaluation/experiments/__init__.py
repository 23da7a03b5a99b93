"""Systems side by side on the same texts, repeatable, resumable and paid for once.

spec        what is compared: one YAML file
cell        one combination of it, and the key under which its predictions lie
digest      hashes of files, folders and of the code that decides
results     the predictions of finished cells, each one JSONL file written whole
meter       what models took: a ledger that survives a kill, and the budget over it
once        no request twice at the same time
estimate    what it would cost
plan        what is still to be done
run         carries it out
seal        the log of every opening of a test split
tallies     counts per document of cells over the same gold
compare     cells against each other, paired
gate        whether a candidate loses more than is allowed
"""

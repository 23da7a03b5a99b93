"""Systems side by side on the same texts, repeatable, resumable and paid for once.

spec        what is compared: one YAML file
cell        one combination of it, the key under which its predictions lie, hashes of files and of the code that decides
results     the predictions of finished cells, each one JSONL file written whole
meter       what models took: a ledger that survives a kill, the budget over it, and no request twice at the same time
plan        what is still to be done, and what it would cost
run         carries it out
seal        the log of every opening of a test split
tallies     counts per document of cells over the same gold
compare     cells against each other, paired; whether a candidate loses more than is allowed
"""

"""Compare systems on the same texts. Experiments can be repeated and resumed, and each call is paid for once.

spec        what is compared: one YAML file
cell        one combination of it, the key of its predictions, and hashes of files and of the code that matters
results     the predictions of finished cells, each one JSONL file written completely
meter       the usage of models: a ledger that survives a kill, its budget, and no duplicate requests at the same time
plan        what is still to be done, and its estimated cost
run         runs the plan
seal        the log of every opening of a test split
tallies     counts per document of cells over the same gold
compare     paired comparisons of cells, and whether a candidate loses more than is allowed
"""

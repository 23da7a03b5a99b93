"""What is measured of a system: each module one family of metrics, each function pure over labels and text.

    scheme          which names are compared and which are scored
    tally           counts per document, and the bootstrap over them
    stream          the same for documents that pass by once, kept by none
    spans           exact, partial and overlapping spans, typed and type-blind
    tokens          the same by token
    redactor        the strict protocol of the RedactOR paper and its all-or-nothing recall
    confusion       which type was taken for which, what was missed, what was made up
    agreement       Cohen's kappa of two annotators
    paired          two systems on the same texts: McNemar, Bonferroni, the paired bootstrap
    calibration     whether a score of 0.8 is right eight times in ten
    utility         what of a note's meaning redaction leaves

Characters are counted by `incognote.evaluation.counts`.
"""

"""Make the embedded detector: a corpus with gold spans, its selection and annotation, the student, and its training."""

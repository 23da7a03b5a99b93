"""incognote on Spark: one script for a laptop and a cluster."""

"""Spark on this machine: a standalone cluster, and what it costs beside plain processes."""

"""Adapters to what computes vectors. Each is imported when an embedder of its kind is opened, and never before."""

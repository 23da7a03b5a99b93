"""Adapters for the libraries that compute vectors. Each is imported only when an embedder of its kind is opened."""

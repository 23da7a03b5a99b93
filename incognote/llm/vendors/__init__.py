"""Adapters to the vendors' SDKs. Each is imported only when a model of its kind is opened."""

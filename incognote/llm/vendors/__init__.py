"""Adapters to the vendors' SDKs. Each is imported when a model of its kind is opened, and never before."""

"""Benchmarks of incognote and other systems: detection, reading, routing, peers."""

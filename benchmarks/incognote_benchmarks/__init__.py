"""What we measure ourselves and others with: detection, reading, routing, peers."""

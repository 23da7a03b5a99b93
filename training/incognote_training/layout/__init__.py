"""The layout detector's training: pages drawn at random, the networks, the loop, and the export."""

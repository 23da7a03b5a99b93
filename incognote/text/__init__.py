"""What a text is before anything is sought in it: one reading of it, its language, its container."""

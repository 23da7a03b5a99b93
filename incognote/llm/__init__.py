"""Language models: requests in, replies out, whoever answers."""

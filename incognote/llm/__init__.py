"""Language models: requests in, replies out, one interface for all vendors."""

"""The worker: claims what is in a sink, de-identifies it, and puts what is released into the lab."""

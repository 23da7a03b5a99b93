"""The worker: claims what is in a source, de-identifies it, and puts what is released into the destination."""

"""Where records come from and go to: folders and object stores, through fsspec."""

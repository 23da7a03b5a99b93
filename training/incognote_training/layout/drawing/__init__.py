"""Random clinical pages as HTML, with the boxes of their regions marked by `data-region`."""

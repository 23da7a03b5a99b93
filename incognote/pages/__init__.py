"""Reading pages from pixels: words, regions, codes, and ink."""

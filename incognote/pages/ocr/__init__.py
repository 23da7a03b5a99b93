"""OCR engines, and the passes of one over a page."""

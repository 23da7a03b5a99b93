"""Score boxes on pages: what is removed, what is kept, classes of regions, and actions on DICOM elements."""

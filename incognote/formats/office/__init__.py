"""What DOCX and XLSX files have in common: a ZIP file of XML parts with relations, properties, drawings, and charts."""

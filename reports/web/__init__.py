"""A document as one HTML file that opens from disk: elements, MathML, inline figures, style and search."""

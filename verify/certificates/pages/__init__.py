"""A certificate as a document."""

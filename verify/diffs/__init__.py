"""What changed between two records of one kind, what of it is for the worse, and what cannot be compared."""

"""What a statement, a case, evidence and a verdict are."""

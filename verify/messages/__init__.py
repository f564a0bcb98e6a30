"""What can be wrong, whose fault it is, and verdicts in words: each in one line."""

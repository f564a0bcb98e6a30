"""A comparison in words: on the terminal, on paper, and beside what a paper prints."""

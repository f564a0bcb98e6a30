"""Inputs that nobody would write on purpose, for every command; and what a command may do with them."""

"""Intervals, tests and budgets: statistics that know nothing of privacy."""

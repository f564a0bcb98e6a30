"""Sweeps: one claim over a grid of parameters, cell by cell, on one machine or many; what is done is never redone."""

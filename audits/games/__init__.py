"""Adaptive games on finite laws, decided exactly."""

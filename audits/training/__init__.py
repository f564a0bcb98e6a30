"""Audits of a trained pipeline: canaries in the gradients, the final model, and one run alone."""

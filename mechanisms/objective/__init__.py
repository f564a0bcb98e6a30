"""Objective perturbation: losses, solver, density and ex-post loss."""

#: The modules that hold a mechanism, in the order in which they are offered.
MECHANISMS = ("objective_perturbation", "ball_perturbation", "output_perturbation")

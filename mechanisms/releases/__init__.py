"""Releases at a published parameter (gradient, Hessian, eigenvalue), the publishable privacy
reports, and several releases together."""

#: The modules that hold a mechanism, in the order in which they are offered.
MECHANISMS = ("hessian_release", "gradient_release", "eigenvalue_release", "composition")

"""Releases at a published parameter (gradient, Hessian, eigenvalue), the publishable privacy
reports, and several releases together."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

#: The modules that hold a mechanism, in the order in which they are offered.
MECHANISMS = ("hessian_release", "gradient_release", "eigenvalue_release", "composition")

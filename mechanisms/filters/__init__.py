"""Privacy budgets of single records that are spent while one looks, and the mechanisms that keep to them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

#: The modules that hold a mechanism, in the order in which they are offered.
MECHANISMS = ("filtered_training",)

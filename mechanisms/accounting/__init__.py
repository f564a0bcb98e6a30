"""Privacy losses of many steps together: laws on a grid in whole numbers, between two proved ends."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

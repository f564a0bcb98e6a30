"""Events of known probability that hold a rare tail of the privacy loss."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

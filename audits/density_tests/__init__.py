"""Whether a mechanism's draws follow the law that it states: its density, its loss, its profile."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

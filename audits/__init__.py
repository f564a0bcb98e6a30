"""Turns draws, or an exact law, into an estimate with an interval of stated failure probability."""

import lazy_loader

# The public names are listed in __init__.pyi; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

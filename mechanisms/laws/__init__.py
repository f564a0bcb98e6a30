"""Exact laws of the privacy loss, and definitions of privacy on finite spaces; nothing here draws."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

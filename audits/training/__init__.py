"""Audits of a trained pipeline: canaries in the gradients, the final model, and one run alone."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

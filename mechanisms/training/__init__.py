"""Models trained by noisy gradients: private training step by step, and what each record can lose by it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

#: The modules that hold a mechanism, in the order in which they are offered.
MECHANISMS: tuple[str, ...] = ("dp_sgd",)

"""Audits of mechanisms whose draws are dear: one pair is chosen, then bets until it refutes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

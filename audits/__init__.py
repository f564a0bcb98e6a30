"""Turns draws, or an exact law, into an estimate with an interval of stated failure probability."""

import lazy_loader

from mechanisms.moved_names import with_moved_names

# The public names are listed in __init__.pyi; each is imported when it is first used.
_own, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
#: The packages whose names stood here before.
_PARTS = (
    "black_box",
    "density_tests",
    "games",
    "rare",
    "search",
    "sequential",
    "stats",
    "training",
    "white_box",
)
__getattr__ = with_moved_names(__name__, _own, _PARTS)

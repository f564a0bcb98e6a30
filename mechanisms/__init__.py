"""Data, neighbouring pairs and the reference mechanisms: draws, exact laws, privacy losses, stated guarantees."""

import lazy_loader

from .moved_names import with_moved_names

# The public names are listed in __init__.pyi; each is imported when it is first used.
_own, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
#: The packages whose names stood here before.
_PARTS = (
    "accounting",
    "envelopes",
    "filters",
    "laws",
    "linear",
    "releases",
    "training",
)
__getattr__ = with_moved_names(__name__, _own, _PARTS)

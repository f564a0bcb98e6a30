"""Every published statement, decided: the registry, the run, the record, the command line."""

import lazy_loader

# The public names are listed in __init__.pyi; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Lays out text, numbers and figures as PDF, HTML, Markdown, JUnit; knows nothing of privacy, computes no statistic."""

import lazy_loader

# The public names are listed in __init__.pyi; each is imported when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Mechanisms for linear and ridge regression."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

#: The modules that hold a mechanism, in the order in which they are offered.
MECHANISMS = (
    "posterior_sampling",
    "gaussian_output",
    "sufficient_statistics",
    "adassp",
    "adaops_wang2018",
    "adaops_wang2019",
    "noisy_sgd",
    "subsample_aggregate",
)

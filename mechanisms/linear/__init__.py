"""Mechanisms for linear and ridge regression."""

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

"""Where to look for the worst pair of data sets."""

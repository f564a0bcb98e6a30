"""Events of known probability that hold a rare tail of the privacy loss."""

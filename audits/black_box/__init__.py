"""What draws alone can refute of a privacy claim."""

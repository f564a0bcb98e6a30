"""Records in a public domain, pairs of neighbouring data sets, and data sets to try things on."""

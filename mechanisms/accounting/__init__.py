"""Privacy losses of many steps together: laws on a grid in whole numbers, between two proved ends."""

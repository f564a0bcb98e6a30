"""Which mechanism at which price: error against epsilon, and what each record loses, on one's own data."""

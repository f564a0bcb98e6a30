"""Privacy budgets of single records that are spent while one looks, and the mechanisms that keep to them."""

MECHANISMS: tuple[str, ...] = ()

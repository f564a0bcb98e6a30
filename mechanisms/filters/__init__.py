"""Privacy budgets of single records that are spent while one looks, and the mechanisms that keep to them."""

#: The modules that hold a mechanism, in the order in which they are offered.
MECHANISMS = ("filtered_training",)

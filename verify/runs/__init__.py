"""`run`, `replay`, `report`, `errata`, `list` and `show`: the published statements decided, and their pages."""

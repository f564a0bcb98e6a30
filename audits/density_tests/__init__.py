"""Whether a mechanism's draws follow the law that it states: its density, its loss, its profile."""

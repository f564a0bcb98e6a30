"""Private releases and published reports: drawn once, counted, sealed."""

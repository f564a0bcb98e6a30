"""Numbers with proved errors, and the numerical tools that laws and mechanisms share."""

"""Audits of a mechanism whose loss, law or density is known."""

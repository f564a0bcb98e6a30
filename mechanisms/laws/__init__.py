"""Exact laws of the privacy loss, and definitions of privacy on finite spaces; nothing here draws."""
